"""`recollect timeline`: how much was said when, and what a day held."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import recollect
from tests.faces.conftest import CommandLine


@pytest.fixture
def told(run: CommandLine) -> CommandLine:
    said = [
        ("Ana and I walked to Sintra.", datetime(2024, 1, 31, 23, 50, tzinfo=UTC), "walk"),
        ("And back, with Ana asleep in the tram.", datetime(2024, 2, 1, 0, 10, tzinfo=UTC), "walk"),
        ("Ana asked for the recipe.", datetime(2024, 2, 1, 9, 0, tzinfo=UTC), "recipe"),
    ]
    with recollect.open(background=False) as memory:
        for text, moment, talk in said:
            memory.store_message(text, conversation_id=talk, title=talk, timestamp=moment)
    return run


def test_months_are_listed_with_what_was_said_in_them(told: CommandLine) -> None:
    ran = told("timeline")
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()] == [
        ["2024-01", "1", "message"],
        ["2024-02", "2", "messages"],
    ]


def test_a_time_is_shown_day_by_day_with_what_opens_its_conversations(told: CommandLine) -> None:
    ran = told("timeline", "2024-01", "to", "2024-02")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if line.startswith("2024")] == [
        "2024-02-01  2 messages in 2 conversations",
        "2024-01-31  1 message in 1 conversation",
    ]
    row = next(line for line in ran.out.splitlines() if "recipe" in line)
    assert "Ana asked for the recipe." in told("show", row.split()[0]).out


def test_a_time_in_which_nothing_was_said_is_exit_code_1(told: CommandLine) -> None:
    ran = told("timeline", "2019")
    begins = "your memory begins in January 2024. Closest: 31 January 2024."
    assert (ran.code, ran.out) == (1, f"Nothing from 2019; {begins}\n")
    assert "; your memory ends in February 2024. Closest: 1 February 2024." in told("timeline", "last week").out
    assert told("timeline", "2019", "--json").document == {"days": []}
    assert told("timeline", "the", "day", "of", "the", "walrus").code == 2


def test_an_empty_memory_is_said_to_be_empty(run: CommandLine) -> None:
    recollect.open(background=False).close()
    ran = run("timeline")
    assert (ran.code, ran.out) == (1, "Nothing found: your memory is empty (in default).\n")
    assert "recollect import PATH" in ran.err


def test_json_counts_days_and_tells_the_months_of_topics(told: CommandLine) -> None:
    document = told("timeline", "--json").document
    assert document["days"] == [{"day": "2024-01-31", "messages": 1}, {"day": "2024-02-01", "messages": 2}]
    assert document["undated"] == 0
    (day,) = told("timeline", "2024-02", "--json").document["days"]
    assert [(row["title"], row["messages"]) for row in day["rows"]] == [("walk", 1), ("recipe", 1)]
