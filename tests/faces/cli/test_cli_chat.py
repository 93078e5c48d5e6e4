"""`recollect chat`: holds a conversation across restarts, with a model server on loopback and without a model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from tests.faces.conftest import CommandLine
from tests.faces.terminal import COMMAND, typed_into
from tests.models.language.wire_server import Says, WireServer, says, wire_server

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def with_model(
    request: pytest.FixtureRequest, home: Path, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> WireServer:
    """The server is the model that is set."""
    spec = {"anthropic": f"anthropic:claude-test@{server.root}", "openai": f"openai:test@{server.root}/v1"}
    monkeypatch.setenv("RECOLLECT_MODEL", spec[str(request.param)])
    return server


def process(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments], input=typed, capture_output=True, text=True, env=os.environ, timeout=120, check=False
    )


def whole(text: str) -> Says:
    return says({"whole": text, "references": [{"said": "it", "meant": "Project Titan"}]})


def test_a_conversation_is_held_across_restarts(with_model: WireServer, home: Path) -> None:
    with_model.script += [
        Says("Project Titan moves billing to Kubernetes."),
        whole("How does Project Titan scale?"),
        Says("By adding pods."),
        whole("Who leads Project Titan?"),
        Says("The memory does not say who leads it."),
    ]
    first = process("chat", "Tell me about Project Titan.")
    assert (first.returncode, first.stdout) == (0, "Project Titan moves billing to Kubernetes.\n")
    second = process("chat", "How does it scale?")
    assert (second.returncode, second.stdout) == (0, "By adding pods.\n")
    assert "understood as: How does Project Titan scale?" in second.stderr
    third = process("chat", "--in", "Tell me about Project Titan.", "Who leads it?")
    assert third.returncode == 0
    asked = with_model.bodies[-1]
    said = json.dumps(asked)
    assert "Project Titan moves billing to Kubernetes." in said
    assert "How does it scale?" in said
    assert "By adding pods." in said
    assert "USER QUERY:\\nWho leads Project Titan?" in said
    with recollect.open(home / "recollect" / "memory.db", background=False) as memory:
        (row,) = memory.conversations()
        assert row.messages == 6
        turns = memory.conversation(row.conversation.id).turns
        assert [bool(turn.resolved_query) for turn in turns] == [False, True, True]
        assert memory.upkeep.check() == []


def test_lines_are_turns_and_a_fault_ends_one_of_them(with_model: WireServer, run: CommandLine) -> None:
    with_model.script += [Says("Oregano."), Says("no", stop="refusal"), Says("Thyme.")]
    ran = run(
        "chat",
        stdin="Which herb suits sardines?\n\nWhich herb suits grilled dynamite sardines?\nWhich herb suits lamb?\n",
    )
    assert ran.code == 0
    local = "The language model failed, and the memory holds nothing near this.\n"
    assert ran.out in (f"Oregano.\nno\n{local}Thyme.\n", f"Oregano.\n{local}Thyme.\n")
    assert "declined" in ran.err


def test_new_begins_another_conversation(with_model: WireServer, run: CommandLine, home: Path) -> None:
    with_model.script += [Says("One."), Says("Two."), Says("Three."), Says("Four.")]
    run("chat", "First question of all")
    run("chat", "--new", "--title", "Herbs", "Second question of all on lamb")
    run("chat", "Third question of all on sardines")
    assert run("chat", stdin="/new\nFourth question of all on herbs\n/sources\n/quit\nnever asked\n").code == 0
    with recollect.open(home / "recollect" / "memory.db", background=False) as memory:
        rows = {row.conversation.title: row.messages for row in memory.conversations()}
    assert rows == {"First question of all": 2, "Herbs": 4, "Fourth question of all on herbs": 2}


def test_json_holds_the_answer_and_its_sources(with_model: WireServer, run: CommandLine) -> None:
    run("remember", "The gate code of the harbour is 4711.")
    with_model.script.append(Says("It is 4711 [1].", usage=(120, 9)))
    document = run("chat", "What is the gate code of the harbour?", "--json").document
    assert document["answer"] == "It is 4711 [1]."
    assert document["tokens"] == {"input": 120, "output": 9, "calls": 1}
    assert [(source["number"], source["used"]) for source in document["sources"]] == [(1, True)]


def test_an_error_of_the_model_is_told(with_model: WireServer, run: CommandLine) -> None:
    with_model.script.append(Says(status=401))
    ran = run("chat", "Which herb suits sardines?")
    assert ran.code == 0
    assert ran.out.startswith("The language model failed")
    assert "401" in ran.err


def test_tools_are_shown_beside_the_answer(with_model: WireServer, run: CommandLine) -> None:
    with_model.script += [Says(calls=(("vector_search", '{"query": "gate"}'),)), Says("Not there.")]
    ran = run("chat", "What is the gate code of the harbour?")
    assert ran.out == "Not there.\n"
    assert 'vector_search {"query": "gate"}' in ran.err


def test_without_a_model_it_says_so_and_gives_the_passages(run: CommandLine) -> None:
    run("remember", "The gate code of the harbour is 4711.")
    ran = run("chat", "What is the gate code of the harbour?")
    assert ran.code == 0
    assert ran.out.startswith("No language model is set")
    assert "4711" in ran.out
    again = run("chat", "And of the lighthouse?")
    assert "understood as: What is the gate code of the lighthouse?" in again.err


def test_the_model_that_is_named_is_asked_whatever_key_is_there(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch, server: WireServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    server.script.append(Says("Hello."))
    ran = run("chat", "--model", f"openai:test@{server.root}/v1", "--json", "Hello there, harbour")
    assert (ran.code, ran.document["answer"], len(server.bodies)) == (0, "Hello.", 1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--new", "--in", "Herbs", "hello"), "exclude"),
        (("--in", "nowhere at all", "hello"), "nowhere at all"),
        (("--json",), "one question"),
        (("--model", "gpt-6", "hello"), "is not a language model"),
    ],
)
def test_what_cannot_be_done_is_said(run: CommandLine, arguments: tuple[str, ...], told: str) -> None:
    ran = run("chat", *arguments)
    assert ran.code in (1, 2)
    assert told in ran.err + ran.out


def test_on_a_terminal_one_types_line_by_line(with_model: WireServer, home: Path) -> None:
    with_model.script += [Says("Oregano."), Says("Thyme.")]
    environment: dict[str, Any] = {**os.environ, "TERM": "dumb"}
    typed = "Which herb suits sardines?\nWhich herb suits a leg of lamb?\n/quit\n"
    code, shown = typed_into(["chat"], environment, typed)
    assert code == 0
    assert "A new conversation." in shown
    assert "Oregano." in shown
    assert "Thyme." in shown


def test_a_question_without_an_answer_comes_behind_what_it_asks_for(run: CommandLine) -> None:
    question = "what is Luna allergic to?"
    run("remember", "The vet says Luna is allergic to chicken.", "--title", "The vet")
    run("chat", "--new", question)
    run("chat", "--new", question)
    found = json.loads(run("search", question, "--json").out)["results"]
    assert [hit["conversation"]["title"] for hit in found] == ["The vet", question, question]
    run("chat", "and Luna?")
    run("chat", question)  # in one conversation with the question before
    found = json.loads(run("search", question, "--json").out)["results"]
    assert found[0]["conversation"]["title"] == "The vet"
    said = "The vet says Luna is allergic to chicken."
    assert json.loads(run("search", said, "--json").out)["results"][0]["conversation"]["title"] == "The vet"
