"""Attacks on where a request goes on: loops of every shape, of several clients at once, killed anywhere, restarted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import _ANSWERS, _blocks, _called, _output, assistant, everything, talks, user

pytestmark = pytest.mark.long

WIRES = [COMPLETIONS, MESSAGES, RESPONSES]
SCOPES = {
    "namespace": {"x-recollect-namespace": "acme"},
    "apart": {"authorization": "sk-1"},
    "named": {"authorization": "sk-1", "x-recollect-conversation": "main"},
    "user": {"x-openwebui-user-id": "mia"},
}


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Client:
    """One client: `shape` is how many calls each step of a turn makes, by turns; `beside` are words with the calls."""

    wire: Wire
    headers: dict[str, str]
    shape: list[list[int]]
    name: str = ""
    beside: str = ""
    how: str = "whole"  # the history; "held" by the provider; "newest": only what is new
    ids: str = "{name}c{turn}.{step}.{call}"
    items: list[Any] = field(default_factory=list)
    fresh: list[Any] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    before: str = ""
    number: int = 0

    def steps(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Requests with the answers that the model gives to them."""
        for turn, steps in enumerate(self.shape):
            question = f"{self.name}What of {turn}?"
            self.said.append(question)
            self._add([user(question)])
            for step, calls in enumerate(steps):
                told = f"{self.beside} {turn}.{step}" if self.beside else ""
                made = tuple(
                    (
                        self.ids.format(name=self.name, turn=turn, step=step, call=call),
                        json.dumps({"of": [turn, step, call, self.name]}),
                    )
                    for call in range(calls)
                )
                yield self._request(), self._answer(told, made)
                if told:
                    self.said.append(told)
                results = [f"{self.name}Result {turn}.{step}.{call}" for call in range(calls)]
                self.results += results
                self._add(*self._step(told, made, results))
            answer = f"{self.name}Answer {turn}."
            yield self._request(), self._answer(answer, ())
            self.said.append(answer)
            self._add([assistant(answer)], [])

    def _add(self, sent: list[Any], fresh: list[Any] | None = None) -> None:
        self.items += sent
        self.fresh += sent if fresh is None else fresh

    def _request(self) -> dict[str, Any]:
        items = self.items if self.how == "whole" else self.fresh
        body: dict[str, Any] = {"model": "m", self.wire.items: list(items)}
        if self.how == "held":
            if self.wire is RESPONSES and self.before:
                body["previous_response_id"] = self.before
            if self.wire is MESSAGES:
                body["thread"] = (
                    {"type": "continue", "previous_message_id": self.before} if self.before else {"type": "create"}
                )
        return body

    def _answer(self, text: str, made: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        self.fresh = []
        self.number += 1
        self.before = f"{self.name}r{self.number}"
        found: dict[str, Any] = _ANSWERS[self.wire.path](text, made, self.before)
        return found

    def _step(self, told: str, made: tuple[tuple[str, str], ...], results: list[str]) -> tuple[list[Any], list[Any]]:
        pairs = list(zip(made, results, strict=True))
        if self.wire is COMPLETIONS:
            back: list[Any] = [{"role": "tool", "tool_call_id": own, "content": text} for (own, _), text in pairs]
            return [{"role": "assistant", "content": told or None, **_called(made)}, *back], back
        if self.wire is MESSAGES:
            back = [user([{"type": "tool_result", "tool_use_id": own, "content": text} for (own, _), text in pairs])]  # type: ignore[arg-type]
            return [{"role": "assistant", "content": _blocks(told, made)}, *back], back
        back = [{"type": "function_call_output", "call_id": own, "output": text} for (own, _), text in pairs]
        return [*_output(told, made), *back], back


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        yield memory


def ask(endless: Endless, client: Client, body: dict[str, Any], answer: dict[str, Any], **more: str) -> None:
    exchange = endless.begin(client.wire, body, {**client.headers, **more})
    assert not exchange.degraded
    exchange.hear_whole(answer)
    exchange.keep()
    assert exchange.headers["X-Recollect-Stored"] == "yes"


def stored(memory: Memory) -> list[Memory]:
    return [memory.beside(name) for name in memory.upkeep.namespaces()]


def of(memory: Memory) -> tuple[list[list[str]], list[str]]:
    """All talks of all namespaces, and all that is stored."""
    found = stored(memory)
    return [talk for one in found for talk in talks(one)], [text for one in found for text in everything(one)]


def whole(memory: Memory, *clients: Client, branches: bool = False) -> None:
    """What each client said is stored once, in order, with each result."""
    found, every = of(memory)
    talk = [[text for text in one if "Result" not in text] for one in found]
    assert sorted(talk) == sorted(client.said for client in clients)
    for client in clients:
        kept = [text for text in every if text in set(client.results)]
        assert sorted(kept) == sorted(client.results)
    if not branches:
        assert sorted(every) == sorted(text for client in clients for text in (*client.said, *client.results))


SHAPES = {
    "plain": [[], [], []],
    "one": [[1]],
    "loop": [[1, 1, 1], [], [1]],
    "parallel": [[3], [2, 2]],
    "mixed": [[], [1, 3], [], [2]],
}


@pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
@pytest.mark.parametrize("beside", ["", "Let me see"], ids=["silent", "speaking"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_a_loop(memory: Memory, wire: Wire, scope: str, shape: str, beside: str, restarts: bool) -> None:
    client, endless = Client(wire, SCOPES[scope], SHAPES[shape], beside=beside), Endless(memory.beside)
    for body, answer in client.steps():
        ask(Endless(memory.beside) if restarts else endless, client, body, answer)
    whole(memory, client)


@pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
@pytest.mark.parametrize("beside", ["", "Let me see"], ids=["silent", "speaking"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("wire", [MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_a_loop_that_is_held(memory: Memory, wire: Wire, scope: str, shape: str, beside: str, restarts: bool) -> None:
    client = Client(wire, SCOPES[scope], SHAPES[shape], beside=beside, how="held")
    endless = Endless(memory.beside)
    for body, answer in client.steps():
        ask(Endless(memory.beside) if restarts else endless, client, body, answer)
    whole(memory, client)


@pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_a_named_client_that_sends_only_what_is_new(memory: Memory, wire: Wire, shape: str, restarts: bool) -> None:
    client, endless = Client(wire, SCOPES["named"], SHAPES[shape], how="newest"), Endless(memory.beside)
    for body, answer in client.steps():
        ask(Endless(memory.beside) if restarts else endless, client, body, answer)
    whole(memory, client)


def goes_on(memory: Memory, client: Client) -> None:
    """All that a client said is there in order. Who asks again and says not that he does may be two: of what was stored
    when the server was killed a beginning may be left.
    """
    found, every = of(memory)
    talk = [[text for text in one if "Result" not in text] for one in found]
    assert talk.count(client.said) == 1
    assert all(one == client.said[: len(one)] for one in talk)
    assert set(client.results) <= set(every)


_WRITES = ("store_messages", "add_aliases", "store_tool_calls", "update_messages")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("retried", [False, True], ids=["again", "retry"])
@pytest.mark.parametrize("how", ["whole", "held", "newest"])
@pytest.mark.parametrize("scope", ["namespace", "apart", "named"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_a_server_that_is_killed_at_any_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Wire, scope: str, how: str, retried: bool, after: bool
) -> None:
    if (how == "held" and wire is COMPLETIONS) or (how == "newest" and (scope != "named" or not retried)):
        pytest.skip("no client does so")
    for at in range(60):
        writes = 0

        def hooked(original: Any, at: int = at) -> Any:
            def write(*given: Any, **named: Any) -> Any:
                nonlocal writes
                writes += 1
                if writes - 1 == at and not after:
                    raise Killed
                done = original(*given, **named)
                if writes - 1 == at:
                    raise Killed
                return done

            return write

        with (
            recollect.open(tmp_path / f"{at}.db", background=False, durable=False) as memory,
            monkeypatch.context() as patch,
        ):
            for name in _WRITES:
                patch.setattr(Memory, name, hooked(getattr(Memory, name)))
            client = Client(wire, SCOPES[scope], [[2], [], [1]], beside="Let me see" if at % 2 else "", how=how)
            endless = Endless(memory.beside)
            for body, answer in client.steps():
                try:
                    ask(endless, client, body, answer)
                except Killed:
                    endless = Endless(memory.beside)
                    ask(endless, client, body, answer, **({"x-stainless-retry-count": "1"} if retried else {}))
            try:
                if retried:
                    whole(memory, client)
                else:
                    goes_on(memory, client)
            except AssertionError as error:
                raise AssertionError(f"killed at write {at}: {error}") from error
        if writes <= at:
            return


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_many_clients_in_any_order(memory: Memory, wire: Wire, seed: int) -> None:
    """Clients of one namespace whose first words are alike, each with calls whose ids are counted anew, or its own."""
    pick = random.Random(seed)
    shared = seed % 2
    clients = [
        Client(
            wire,
            SCOPES["apart"] if seed % 3 == 0 else SCOPES["namespace"],
            [[pick.randint(1, 2) for _ in range(pick.randint(0, 3))] for _ in range(pick.randint(1, 3))],
            name=f"{number} ",
            ids="call_{step}_{call}" if shared else "{name}c{turn}.{step}.{call}",
        )
        for number in range(4)
    ]
    endless, running = Endless(memory.beside), [client.steps() for client in clients]
    left = list(range(len(clients)))
    while left:
        number = pick.choice(left)
        found = next(running[number], None)
        if found is None:
            left.remove(number)
            continue
        if pick.random() < 0.2:
            endless = Endless(memory.beside)
        ask(endless, clients[number], *found)
    whole(memory, *clients)


@pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
@pytest.mark.parametrize("whose", ["keys", "namespaces", "users"])
@pytest.mark.parametrize("how", ["whole", "held"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_clients_that_say_the_same_to_the_letter(
    memory: Memory, wire: Wire, how: str, whose: str, restarts: bool
) -> None:
    """With the same names, ids and answers: each has its own, whoever comes when."""
    scopes = {
        "keys": [{"authorization": f"sk-{n}", "x-recollect-conversation": "main"} for n in range(3)],
        "namespaces": [{"x-recollect-namespace": f"n{n}", "x-recollect-conversation": "main"} for n in range(3)],
        "users": [{"x-openwebui-user-id": f"u{n}", "x-recollect-conversation": "main"} for n in range(3)],
    }[whose]
    clients = [
        Client(wire, headers, [[1, 2], [1]], how=how if wire is not COMPLETIONS else "whole") for headers in scopes
    ]
    endless = Endless(memory.beside)
    for found in zip(*(client.steps() for client in clients), strict=True):
        for client, (body, answer) in zip(clients, found, strict=True):
            exchange = (Endless(memory.beside) if restarts else endless).begin(wire, body, client.headers)
            assert exchange.tokens == 0
            exchange.hear_whole(answer)
            exchange.keep()
    found = [[text for text in talk if "Result" not in text] for talk in of(memory)[0]]
    assert found == [clients[0].said] * 3
    assert len([text for text in of(memory)[1] if "Result" in text]) == 3 * len(clients[0].results)
