"""`recollect ask`: the answer, what it rests on, and the way to the very message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from tests.answer.ask.asides import of_questions
from tests.faces.conftest import CommandLine
from tests.models.language.wire_server import Says, WireServer, wire_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    monkeypatch.setattr("recollect.answer.ask.PATIENCE", 60.0)  # a busy machine changes no answer
    with wire_server() as running:
        running.aside = of_questions
        yield running


@pytest.fixture
def told(home: Path) -> None:
    with recollect.open(home / "recollect" / "memory.db", background=False) as memory:
        memory.store_message("Redis lost jobs at failover, so we drop it.", conversation_id="a", title="Queue incident")
        memory.store_message("We take Postgres instead of Redis.", conversation_id="b", title="Queue decision")


def test_a_model_s_answer_is_printed_with_its_sources_and_what_it_took(
    run: CommandLine, told: None, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_MODEL", f"anthropic:claude-test@{server.root}")
    server.script.append(Says("It lost jobs at failover [2], on the moon [9].", usage=(2140, 96)))
    ran = run("ask", "why did we drop Redis?")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0].startswith("It lost jobs at failover [1], on the moon")
    assert lines[1].lstrip().startswith("[1] Queue ")
    assert lines[1].endswith('"')
    assert "1 source - anthropic:claude-test" in lines[2]
    assert "2,440 + 156 tokens" in lines[2]
    assert "pointed to nothing" in ran.err


def test_without_a_model_the_answer_is_an_extract_and_show_opens_what_it_cites(run: CommandLine, told: None) -> None:
    ran = run("ask", "why did we drop Redis?", "--model", "none")
    assert ran.code == 0
    assert "Redis lost jobs at failover" in ran.out
    assert "extract, no model used" in ran.out
    number = next(line for line in ran.out.splitlines() if "Queue incident" in line).split("]")[0].strip(" [")
    assert "Redis lost jobs at failover" in run("show", number).out


def test_what_the_conversations_do_not_say_is_exit_code_1(run: CommandLine, told: None) -> None:
    ran = run("ask", "which orchid did Feodora prune?", "--model", "none")
    assert ran.code == 1
    assert ran.out.startswith("Your conversations do not say.")
    document = run("ask", "which orchid did Feodora prune?", "--model", "none", "--json").document
    assert document["known"] is False


def test_what_is_wrong_is_said(run: CommandLine, told: None) -> None:
    assert "There is no question" in run("ask", "-", stdin=" ").err
    assert run("ask", "why?", "--intent", "gossip").code == 2
    assert run("ask", "why?", "--since", "someday").code == 2


def test_an_empty_memory_is_said_to_be_empty_as_by_a_search(run: CommandLine) -> None:
    recollect.open(background=False).close()
    searched = run("search", "bread")
    for asked in (run("ask", "which bread?", "--model", "none"), run("research", "which bread?", "--model", "none")):
        assert (asked.code, asked.out) == (1, searched.out)
        assert asked.err.endswith(searched.err)
    assert run("ask", "which bread?", "--model", "none", "--json").document["known"] is False
