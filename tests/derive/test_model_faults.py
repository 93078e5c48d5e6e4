"""Every fault of a model at every step of a worker, over the real wire: nothing is lost, doubled or paid for twice."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollect.derive.tasks.base import Retry
from recollect.derive.tasks.worker import Consolidated
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.models.language.prompts import NAMES, prompt
from recollect.record import Namespace, Node
from recollect.store import Space, Store, Where
from tests.derive.workshop import worker, write
from tests.models.language.conftest import model_of
from tests.models.language.wire_server import Says, WireServer, retry_date, says, wire_server
from tests.store.builders import Clock, talk

pytestmark = pytest.mark.slow

WORDS = "Luna must not have chicken"
BROKEN = Says("I would rather talk about something else.")

#: By what becomes of the task that meets it.
PASSING = {
    "time-out": Says(fault="silence"),
    "429": Says(status=429, kind="rate_limit_error"),
    "429, in seconds": Says(status=429, kind="rate_limit_error", headers={"Retry-After": "40"}),
    "429, at a date": Says(status=429, kind="rate_limit_error", headers={"Retry-After": "date"}),
    "500": Says(status=500, kind="api_error"),
    "503 of 10 MB": Says(status=503, fault="huge_error"),
    "529": Says(status=529, kind="overloaded_error"),
    "401": Says(status=401, kind="authentication_error"),
    "connection broken": Says(fault="cut_at_once"),
    "cut stream": Says("{" + "x" * 200, fault="cut"),
    "stream without an end": Says("{" + "x" * 200, fault="no_end"),
    "error in the stream": Says("{" + "x" * 200, fault="in_stream"),
    "events that are no JSON": Says(fault="garbage"),
    "a page": Says(fault="page"),
    "empty": Says(""),
    "10 MB": Says(fault="huge"),
}
REPAIRED = {
    "prose": BROKEN,
    "broken JSON": Says('{"summary": "' + WORDS),
    "fenced and broken": Says('```json\n{"summary": \n```'),
    "wrong schema": says({"verdict": WORDS}),
    "cut off": Says('{"summary": "' + WORDS, stop="limit"),
}
FOR_GOOD = {
    "refusal": Says("", stop="refusal"),
    "400": Says(status=400, kind="invalid_request_error"),
}
EACH = [*PASSING, *REPAIRED, *FOR_GOOD]


class Ward:
    """A namespace with conversations, and a server that answers well but for what is to go wrong."""

    def __init__(
        self, store: Store, clock: Clock, server: WireServer, provider: str, name: str, *, silence: float = 5.0
    ) -> None:
        self.space, self.clock = store.space(Namespace(name)), clock
        model = model_of(provider, server, silence=silence, longest=20)
        self._worker = worker(store, clock, model, concurrency=1, retry=Retry(attempts=100), handlers=None)
        self._forms = len(model._forms)
        self._lock = threading.Lock()
        server.otherwise = self._answer
        #: What the server says first at the step of that number, before it answers well.
        self.faults: dict[int, list[Says]] = {}
        self.good: Counter[tuple[str, str]] = Counter()
        self.calls = 0
        self.whys: set[str] = set()
        self.quoted: list[str] = []
        write(self.space, *(talk(f"t{n}", *lines(n)) for n in range(2)))

    def _answer(self, body: dict[str, Any]) -> Says:
        with self._lock:
            if waiting := self.faults.get(self.calls):
                quoted = body["messages"][-1]["content"][-90:-30]
                self.quoted.append(" ".join(quoted.split()))
                return replace(waiting.pop(0), message=f"cannot take {quoted}, sorry")
            self.calls += 1
            turns = body["messages"]
            system = body.get("system") or turns.pop(0)["content"]
            [name] = [name for name in NAMES if system.startswith(prompt(name).system)]
            self.good[name, turns[0]["content"]] += 1
        return says(prompt(name).example)

    def said(self, fault: str) -> list[Says]:
        """What the server says until the fault has shown: what is repaired needs two of them to fail, and what is
        rejected is tried in every form.
        """
        found = (PASSING | REPAIRED | FOR_GOOD)[fault]
        if found.headers.get("Retry-After") == "date":
            found = Says(status=found.status, kind=found.kind, headers={"Retry-After": retry_date(40)})
        return [found] * (2 if fault in REPAIRED else self._forms if fault == "400" else 1)

    def drain(self) -> Consolidated:
        return self._worker.drain([self.space.namespace])

    def until_nothing_is_due(self) -> None:
        """Months pass: what is for later, such as the summary of a month, is done as well."""
        for hours in [2] * 40 + [24 * 7] * 40:
            self.clock.forward(hours=hours)
            if self.drain() == Consolidated() and not self.waiting():
                return
            self.whys |= {*self.waiting(), *self.dead()}
        raise AssertionError("it never comes to rest")

    def dead(self) -> list[str]:
        with self.space.view() as view:
            return [why for _, why in view.tasks("dead")]

    def waiting(self) -> list[str]:
        with self.space.view() as view:
            return [why for _, why in view.tasks("due")]


def lines(number: int) -> list[str]:
    """Enough of a talk to be summarised, twelve exchanges."""
    told = [f"{WORDS}, said in talk {number}, time {turn}. What else could I feed her?" for turn in range(12)]
    return [line for turn, ask in enumerate(told) for line in (ask, f"Salmon and rice, for the time {turn}.")]


def derived(space: Space) -> list[tuple[Any, ...]]:
    """What readers are shown, but for when it was made."""
    with space.view() as view:
        found = view.find(Node, Where(states=("live",), deleted=False), limit=10_000).items
        edges = view.edges([node.id for node in found])
    bodies = [{name: value for name, value in node.body.items() if name != "made"} for node in found]
    nodes = [
        (node.kind.value, node.key, node.text, json.dumps(body, sort_keys=True, default=str))
        for node, body in zip(found, bodies, strict=True)
    ]
    return sorted(nodes) + sorted((edge.type, edge.target_id, edge.name) for edge in edges)


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture
def ward(tmp_path: Path, server: WireServer, provider: str) -> Iterator[Callable[..., Ward]]:
    logging.getLogger("recollect.worker").setLevel(logging.CRITICAL)
    clock = Clock()
    store = SQLiteStore(tmp_path / "memory.db", durable=False, clock=clock)
    yield lambda name, **more: Ward(store, clock, server, provider, name, **more)
    store.close()


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[tuple[Any, ...]]]:
    """How many calls it takes where nothing goes wrong, and what comes of it."""
    clock = Clock()
    store = SQLiteStore(tmp_path_factory.mktemp("healthy") / "memory.db", durable=False, clock=clock)
    with wire_server() as running:
        well = Ward(store, clock, running, "openai", "well")
        well.until_nothing_is_due()
    assert well.calls >= 4
    assert well.dead() == well.waiting() == []
    found = derived(well.space)
    store.close()
    return well.calls, found


@pytest.mark.parametrize("fault", EACH)
def test_a_fault_at_every_step_changes_nothing_in_the_end(
    ward: Callable[..., Ward], healthy: tuple[int, list[tuple[Any, ...]]], fault: str
) -> None:
    calls, expected = healthy
    ill = ward("ill", silence=0.5 if fault == "time-out" else 5.0)
    # the first call of one task, the repair of the next
    ill.faults = {step: [BROKEN] * (step % 2) + ill.said(fault) for step in range(calls)}
    ill.drain()
    assert any(ill.waiting() + ill.dead())
    ill.until_nothing_is_due()
    assert not any(words[:20] in why for why in ill.whys for words in [WORDS, *ill.quoted])
    if fault in FOR_GOOD:
        assert ill.dead()
        for _ in range(calls):  # what was given up may be what other work waits for
            ill.space.revive()
            ill.until_nothing_is_due()
    assert ill.dead() == ill.waiting() == []
    assert not any(ill.faults.values()), "a step was never reached"
    assert derived(ill.space) == expected
    twice = {name for (name, _), times in ill.good.items() if times > 1}
    assert twice <= {"period"}  # no good answer was asked for twice; a week of one day reads as its month does


def test_a_server_that_wants_a_pause_gets_it(ward: Callable[..., Ward]) -> None:
    ill = ward("pause")
    ill.faults[0] = ill.said("429, in seconds")
    ill.drain()
    ill.clock.forward(seconds=39)
    ill.drain()
    assert ill.calls == 0
    ill.clock.forward(seconds=10)
    ill.drain()
    assert ill.calls > 0
