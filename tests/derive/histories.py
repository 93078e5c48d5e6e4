"""What the tests of whole histories share: everything derived as one comparable value, and the invariants of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from recollect.derive.summaries.extract import DEFAULT
from recollect.derive.summaries.sessions import segment
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.memory import Handle, Memory
from recollect.record import Kind, Message, Node, NodeId, NodeKind, Origin
from recollect.store import View, Where
from recollect.store.transfer import every
from tests.exports import dump_of, embedder


def derived(memory: Memory, clock: Clock) -> dict[str, Any]:
    """All that lives of what was derived, by id, with the edges that leave or enter it.

    Periods that have not ended are left out: where the clock went back, they had been summarised before.
    """
    with memory.handle.space.view() as view:
        nodes = {node.id: node for node in every(view, Node, Where(deleted=False)) if is_shown(node)}
        early = {i for i, node in nodes.items() if is_to_come(node, clock)}
        nodes = {i: node for i, node in nodes.items() if i not in early}
        edges = [
            (edge.source_id, edge.type, edge.target_id, edge.name, sorted(edge.properties.items(), key=str))
            for edge in view.edges(None)
            if (edge.source_id in nodes or edge.target_id in nodes) and edge.source_id not in early
        ]
    return {
        **{f"node {node.kind} {node.key} {node.id}": plain(node) for node in nodes.values()},
        **{f"edge {edge[1]} {edge[0]} {edge[2]} {edge[3]}": edge[4] for edge in edges},
    }


def is_shown(node: Node) -> bool:
    """Whether it is derived and may be shown, and is no bookkeeping."""
    return node.origin is Origin.DERIVED and node.kind is not NodeKind.REPORT and node.state != "stale"


def is_to_come(node: Node, clock: Clock) -> bool:
    """Whether it is the summary of a period that has not ended."""
    return node.key == "period" and node.valid_to is not None and node.valid_to > clock.now


def plain(node: Node) -> tuple[Any, ...]:
    """What is the same whenever it was made."""
    body = {name: value for name, value in node.body.items() if name != "made"}
    return (node.kind, node.key, node.text, node.state, node.valid_from, node.valid_to, round(node.score, 6), body)


def opened(path: Path, clock: Clock) -> Memory:
    """A memory that lives by this clock."""
    return Memory(Handle(SQLiteStore(path, durable=False, clock=clock), embedder(), clock=clock))


def rebuilt(memory: Memory, folder: Path, clock: Clock) -> dict[str, Any]:
    """What a memory derives that gets the same messages all at once, from a dump."""
    made = Path(tempfile.mkdtemp(dir=folder))
    (made / "dump.jsonl").write_bytes(dump_of(memory))
    with opened(made / "memory.db", clock) as other:
        if memory.upkeep.stats().conversations:
            other.import_file(made / "dump.jsonl")
        other.upkeep.consolidate()
        return derived(other, clock)


def broken(memory: Memory, gone: set[str], aside: frozenset[str] = frozenset()) -> list[str]:
    """The invariants that do not hold after everything due was done. `gone` are words of no message that counts; those
    that are `aside` stand in a branch that is not shown, and may be told in the summary of it alone.
    """
    found: list[str] = []
    with memory.handle.space.view() as view:
        nodes = [node for node in every(view, Node, Where(deleted=False)) if node.origin is Origin.DERIVED]
        living = {node.id: node for node in nodes if is_shown(node)}
        for node in nodes:
            words = f"{node.key} {node.text} {node.body}"
            away = gone - aside if node.key == "segment" else gone
            found += [f"{word} is left in {node.kind} {node.id}, {node.state}" for word in away if word in words]
        messages = [m for m in every(view, Message) if m.kind is Kind.SAID and m.active and not m.deleted]
        counting = {m.id for m in messages}
        covered: Counter[str] = Counter()
        over: Counter[str] = Counter()
        for node in living.values():
            if node.kind is not NodeKind.SUMMARY or node.key not in ("l1", "l2"):
                continue
            targets = [edge.target_id for edge in view.edges([node.id], ["COVERS"], "out")]
            (covered if node.key == "l1" else over).update(targets)
            if not targets:
                found.append(f"{node.key} {node.id} covers nothing")
        found += [f"{i} is covered by {n} L1" for i, n in covered.items() if n > 1]
        found += [f"{i} is closed, and no L1 covers it" for i in _closed(messages) if i not in covered]
        found += [f"{i} is covered by an L1 and does not count" for i in covered if i not in counting]
        found += [f"L1 {i} is covered by {n} L2" for i, n in over.items() if n > 1]
        found += [f"an L2 covers {i}, which does not live" for i in over if i not in living]
        found += _dangling(view, living)
    return found


def _closed(messages: Iterable[Message]) -> Iterator[NodeId]:
    """The messages that stand in a run of exchanges, and wait for no more."""
    ordered = sorted(messages, key=lambda m: (m.conversation_id, m.position))
    for _, own in groupby(ordered, key=lambda m: m.conversation_id):
        runs, _ = segment(list(own), DEFAULT, embedder())
        yield from (message.id for run in runs for exchange in run for message in exchange)


def _dangling(view: View, living: dict[Any, Node]) -> list[str]:
    """Edges between what lives and what does not."""
    found = []
    for edge in view.edges(None):
        for end in (edge.source_id, edge.target_id):
            nodes = view.get(Node, [end])
            if nodes and nodes[0].kind is NodeKind.REPORT:  # bookkeeping
                continue
            if nodes and nodes[0].origin is Origin.DERIVED and nodes[0].id not in living:
                found.append(f"{edge.type} touches {nodes[0].kind} {end}, which is {nodes[0].state}")
    return found


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = self.latest = datetime(2025, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, minutes: int) -> None:
        """Forward, or back."""
        self.now += timedelta(minutes=minutes)
        self.latest = max(self.latest, self.now)

    def catch_up(self) -> None:
        """Past all that it has ever shown: what was leased by that is due again."""
        self.now = self.latest
        self.move(10)
