"""Times in which nothing was said: told with where the memory begins or ends and what is closest, on every face."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.memory import Memory
from recollect.search.results.nothing import between, nothing_from
from recollect.text.dates import DateSpan

TODAY = date(2026, 11, 26)
SAID = (date(2024, 3, 5), date(2024, 3, 9), date(2024, 6, 1))
DAYS = st.dates(date(2023, 1, 1), date(2025, 12, 31))


def told(*span: date) -> str | None:
    found = nothing_from(SAID, [DateSpan(span[0], span[-1])], TODAY)
    return None if found is None else str(found)


def test_it_says_where_the_memory_begins_or_ends_and_what_is_closest() -> None:
    assert told(date(2021, 3, 18)) == (
        "Nothing from 18 March 2021; your memory begins in March 2024. Closest: 5 March 2024."
    )
    assert told(date(2024, 3, 7)) == "Nothing from 7 March 2024. Closest: 5 March 2024 and 9 March 2024."
    assert (
        told(date(2024, 4, 1), date(2024, 4, 30)) == "Nothing from April 2024. Closest: 9 March 2024 and 1 June 2024."
    )
    assert told(date(2024, 12, 2), date(2024, 12, 8)) == (
        "Nothing from 2 to 8 December 2024; your memory ends in June 2024. Closest: 1 June 2024."
    )
    assert told(date(2021, 1, 1), date(2021, 12, 31)) == (
        "Nothing from 2021; your memory begins in March 2024. Closest: 5 March 2024."
    )


def test_it_says_nothing_of_a_time_that_is_to_come_nor_of_an_empty_memory() -> None:
    assert told(date(2027, 1, 1)) is None
    assert nothing_from((), [DateSpan(TODAY, TODAY)], TODAY) is None


@given(st.sets(DAYS, min_size=1), DAYS, st.integers(0, 40))
def test_it_says_so_only_where_nothing_was_said_and_names_the_nearest_days(
    said: set[date], start: date, length: int
) -> None:
    span = DateSpan(start, start + timedelta(days=length))
    found = nothing_from(said, [span], TODAY)
    inside = [day for day in said if span.start <= day <= span.end]
    assert (found is None) == bool(inside)
    if found is not None:
        assert set(found.closest) <= said
        nearest = min(said, key=lambda day: min(abs(day - span.start), abs(day - span.end)))
        gap = min(abs(nearest - span.start), abs(nearest - span.end))
        assert gap in [min(abs(day - span.start), abs(day - span.end)) for day in found.closest]


def test_days_lie_between_moments() -> None:
    first = datetime(2024, 3, 1, tzinfo=UTC)
    moments = [int(one.timestamp() * 1_000_000) for one in (first, datetime(2024, 4, 1, tzinfo=UTC))]
    assert between(*moments) == DateSpan(date(2024, 3, 1), date(2024, 3, 31))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        for day, text in (
            (5, "We walked along the river with Ana."),
            (9, "Ana baked bread with rye and caraway."),
            (9, "The reading on 12 April 2022 was in Coimbra."),
        ):
            memory.store_message(text, timestamp=datetime(2024, 3, day, 9, tzinfo=UTC))
        yield memory


SILENT = "Nothing from 18 March 2021; your memory begins in March 2024. Closest: 5 March 2024."


def test_a_question_about_such_a_time_is_answered_by_it_and_by_what_is_closest(memory: Memory) -> None:
    answer = memory.ask("What did I do on 18 March 2021?")
    assert not answer.known
    assert answer.text.startswith(f"{SILENT}\n")
    assert [citation.quote for citation in answer.citations] == ["We walked along the river with Ana."]
    assert SILENT not in answer.notes  # once is enough


def test_what_speaks_of_the_time_answers_and_the_time_is_noted(memory: Memory) -> None:
    answer = memory.ask("Where was the reading on 12 April 2022?")
    assert "Coimbra" in answer.text
    assert any(note.startswith("Nothing from 12 April 2022;") for note in answer.notes)


def test_what_else_is_asked_for_may_have_been_said_at_another_time(memory: Memory) -> None:
    answer = memory.ask("Which bread did Ana bake with rye on 18 March 2021?")
    assert "caraway" in answer.text
    assert SILENT in answer.notes


def test_a_search_says_it_in_a_note(memory: Memory) -> None:
    found = memory.search("what did Ana do on 18 March 2021")
    assert str(found.nothing_from) == SILENT
    assert SILENT in found.notes
    assert SILENT in found.to_json()["notes"]
    within = memory.search("Ana", since="2021-03-18", until="2021-03-18")
    assert (list(within), within.notes) == ([], (SILENT,))
    assert memory.search("Ana").nothing_from is None
    assert memory.search("what did Ana do on 5 March 2024").nothing_from is None
    assert memory.search("what did Ana do in 2021").nothing_from is None  # of a year much else is told


def test_what_was_deleted_is_not_closest(memory: Memory) -> None:
    found = memory.search("river with Ana").hits[0].best.message
    memory.delete(found.id)
    answer = memory.ask("What did I do on 18 March 2021?")
    assert "river" not in answer.text


def test_a_tool_says_it(memory: Memory) -> None:
    box = memory.toolbox()
    assert SILENT in box.call("get_period_messages", {"period": "2021-03-18"}).text
