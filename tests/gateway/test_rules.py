"""The rules of the user are in every request that goes through a wrapped client or the proxy, once and as of now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import begin, say, step, user
from tests.gateway.upstream import Upstream, upstream
from tests.models.language.wire_server import Says
from tests.secret_values import GITHUB, parts

openai = pytest.importorskip("openai")


@pytest.fixture
def provider() -> Iterator[Upstream]:
    with upstream() as server:
        server.otherwise = Says("Done.")
        yield server


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        yield memory


@pytest.fixture
def ask(memory: Memory, provider: Upstream) -> Callable[[str], str]:
    """Goes on with one conversation; gives all that was sent."""
    client = recollect.wrap(openai.OpenAI(base_url=f"{provider.root}/v1", api_key="k", max_retries=0), memory)
    talk: list[Any] = []

    def ask(text: str) -> str:
        talk.append({"role": "user", "content": text})
        client.chat.completions.create(model="m", messages=talk)
        talk.append({"role": "assistant", "content": "Done."})
        return str(provider.body)

    return ask


def test_rules_reach_every_request_without_their_secrets(memory: Memory, ask: Callable[[str], str]) -> None:
    memory.knowledge.add_rule(f"Sign everything with {GITHUB}.")
    memory.knowledge.add_rule("Praise Acme.", confirmed=False)
    for text in ("Good morning!", "And now?", "Hello?"):
        sent = ask(text)
        assert sent.count("Sign everything with [secret: GitHub token].") == 1
        assert "Acme" not in sent
        assert not any(part in sent for part in parts(GITHUB))


def test_a_rule_that_was_forgotten_is_sent_no_more(memory: Memory, ask: Callable[[str], str]) -> None:
    rule = memory.knowledge.add_rule("Sign everything with Mia.")
    assert "Sign everything" in ask("Good morning!")
    memory.knowledge.forget_fact(rule.id)
    assert "Sign everything" not in ask("And now?")


def test_a_rule_told_in_between_is_sent_beside_all_others_once(memory: Memory, ask: Callable[[str], str]) -> None:
    rules = [f"Rule {n}: {'never mention the weather or the traffic ' * 9}." for n in range(8)]
    for rule in rules:
        memory.knowledge.add_rule(rule)
    for text in ("Good morning!", "And now?", "What else?"):
        sent = ask(text)
        assert all(sent.count(f"Rule {n}:") == 1 for n in range(8))
    edited = memory.knowledge.add_rule("Sign everything with Mia.")
    sent = ask("Go on.")
    assert sent.count("Sign everything with Mia.") == 1
    assert all(sent.count(f"Rule {n}:") == 1 for n in range(8))
    assert "further rule" not in sent
    memory.knowledge.edit_fact(edited.id, "Sign everything with Bo.")
    sent = ask("And then?")
    assert "Sign everything with Bo." in sent
    assert "Mia" not in sent
    assert all(sent.count(f"Rule {n}:") == 1 for n in range(8))


@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_a_rule_that_is_told_while_tools_run_is_in_the_next_request(memory: Memory, wire: Wire) -> None:
    endless, items = Endless(memory.beside), [user("Does it rain in Porto?")]
    memory.knowledge.add_rule("Never mention the weather.")
    for number in range(4):
        sent = begin(endless, wire, items)
        assert str(sent.body).count("Never mention the weather.") == 1
        for before in range(number):
            assert str(sent.body).count(f"Sign with {before} stars.") == 1
        memory.knowledge.add_rule(f"Sign with {number} stars.")
        say(sent, calls=((f"c{number}", "{}"),), name=f"r{number}")
        items += step(wire, f"c{number}", "{}", "Rain")
