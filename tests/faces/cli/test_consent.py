"""Nothing leaves the machine before the user chose it, and a model that fails costs nothing but its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.answer.chat import loop
from recollect.models.language.choose import destination, suggested
from tests.faces.conftest import CommandLine
from tests.models.language.wire_server import Says, WireServer, wire_server

FACT = "The gate code of the harbour is 4711."
QUESTION = "What is the gate code of the harbour?"
ASKING = ("ask", "research", "chat")


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    """Stands where Anthropic and OpenAI are."""
    with wire_server() as running:
        monkeypatch.setattr("recollect.models.language.anthropic.DEFAULT_BASE_URL", running.root)
        monkeypatch.setattr("recollect.models.language.openai.DEFAULT_BASE_URL", f"{running.root}/v1")
        monkeypatch.setattr(loop, "_pause", lambda problem, attempt: problem.retry_after or 0.0)
        yield running


@pytest.fixture
def asked(run: CommandLine, home: Path) -> CommandLine:
    """The command line of a memory that holds the answer."""
    run("remember", FACT)
    return run


@pytest.mark.parametrize("command", ASKING)
@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"])
def test_a_key_that_is_merely_there_sends_nothing(
    command: str, variable: str, asked: CommandLine, vendor: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "key")
    ran = asked(command, QUESTION)
    assert (ran.code, vendor.bodies) == (0, [])
    assert "4711" in ran.out
    assert f"{variable} is not used unasked. To have a model answer: recollect config model " in ran.err


def test_the_hint_works_when_it_is_typed(
    asked: CommandLine, vendor: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    typed = re.search(r"recollect (config model \S+)", asked("ask", QUESTION).err)
    assert typed is not None
    assert asked(*typed[1].split()).code == 0
    vendor.otherwise = lambda _: Says("It is 4711 [1].")
    ran = asked("ask", QUESTION, "--mode", "instant")
    assert ran.out.startswith("It is 4711 [1].")
    told = "Sending this question and the messages found to Anthropic (claude-haiku-5-5). To stay local: --model none"
    assert told in ran.err
    sent = len(vendor.bodies)
    local = asked("ask", QUESTION, "--model", "none")
    assert (len(vendor.bodies), "not used unasked" in local.err) == (sent, False)


@pytest.mark.parametrize("command", ASKING)
def test_a_model_for_the_background_is_none_for_questions(
    command: str, asked: CommandLine, vendor: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_BACKGROUND_MODEL", f"openai:test@{vendor.root}/v1")
    for more in ((), ("--model", "none")):
        assert "4711" in asked(command, QUESTION, *more).out
    assert vendor.bodies == []


FAULTS = {
    "unreachable": None,
    "bad key": Says(status=401, kind="authentication_error"),
    "rate limit": Says(status=429, kind="rate_limit_error", headers={"Retry-After": "3600"}),
    "garbage": Says(fault="garbage"),
    "a web page": Says(fault="page"),
    "breaks off": Says("It is the num", fault="cut"),
    "declines": Says("I won't.", stop="refusal"),
}


@pytest.mark.parametrize("command", ASKING)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_is_replaced_by_the_local_answer(
    command: str, fault: str, asked: CommandLine, vendor: WireServer
) -> None:
    says, local = FAULTS[fault], asked(command, QUESTION, "--model", "none")
    vendor.otherwise = lambda _: says or Says()
    if says is None:
        vendor.close()
    ran = asked(command, QUESTION, "--model", f"openai:test@{vendor.root}/v1")
    assert (ran.code, "4711" in ran.out) == (local.code, True)
    assert re.search(r"quotes your conversations\.|you get an extract\.", ran.err)
    asked_json = asked(command, QUESTION, "--json", "--model", f"openai:test@{vendor.root}/v1").document
    assert asked_json["model"] is None
    assert asked_json.get("note") or asked_json["notes"]


def test_a_model_that_was_chosen_and_has_no_key_is_replaced_too(asked: CommandLine) -> None:
    ran = asked("ask", QUESTION, "--model", "anthropic:claude-test")
    assert (ran.code, "4711" in ran.out) == (0, True)
    assert "anthropic:claude-test needs an API key. Set ANTHROPIC_API_KEY." in ran.err


def test_what_is_said_to_be_sent_names_the_place_it_goes_to() -> None:
    assert destination("anthropic:claude-haiku-5-5", {}) == "Anthropic (claude-haiku-5-5)"
    assert destination("openai:m", {}) == "OpenAI (m)"
    assert destination("openai:m", {"OPENAI_BASE_URL": "https://key@gateway.example/v1"}) == "gateway.example (m)"
    assert destination("openai:qwen3:8b@http://localhost:11434/v1", {}) == "localhost:11434 (qwen3:8b)"


def test_no_model_is_suggested_for_a_server_whose_models_are_unknown() -> None:
    assert suggested({}) == ("", "")
    assert suggested({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://localhost"}) == ("", "")
    assert suggested({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"})[1] == "ANTHROPIC_API_KEY"


@pytest.mark.parametrize("command", [(), ("search", "boat"), ("stats", "--json"), ("hooks", "run")])
def test_an_address_that_is_merely_there_keeps_nothing_elsewhere_and_every_command_says_so(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    run("remember", "The boat is called Tern.")
    monkeypatch.setenv("NEO4J_URI", "neo4j://127.0.0.1:1")
    ran = run(*command)
    assert ran.code == 0
    assert ran.err.count("NEO4J_URI is set") == 1
    assert "recollect config store neo4j" in " ".join(ran.err.split())
