"""Segments: each conversation as runs of turns about one thing, which begin where it drifts [2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.derive.tasks.base import LIVE, Effects, Portion, Setting, retired
from recollect.derive.topics.drift import Drift
from recollect.derive.topics.profile import MOST, length, telling, text_of
from recollect.record import Edge, Message, Node, NodeId, NodeKind, stable_id
from recollect.store import EdgeKey, Task, View, Where

#: The kind of the task that clusters segments into topics; there is one of it.
TOPICS = "topics"
COVERS = "COVERS"

#: Segments: so many are clustered anew whenever one changes, and topics know at once how much was said.
SMALL = 400
#: The node that notes which segments were clustered last, and how many have changed since.
CLUSTERED = stable_id("topics", "counted")

_ALL = 10_000_000
_LABEL = 3


@dataclass(slots=True)
class _Run:
    """A segment under way. `head` are its first messages, as far as they are known without reading."""

    id: NodeId
    conversation_id: NodeId
    count: int = 0
    head: list[NodeId] = field(default_factory=list)
    first: datetime | None = None
    last: datetime | None = None
    fresh: list[NodeId] = field(default_factory=list)

    def take(self, message: Message) -> None:
        self.count += 1
        if len(self.head) < MOST:
            self.head.append(message.id)
        self.fresh.append(message.id)
        if message.timestamp is not None:
            self.first = min(self.first or message.timestamp, message.timestamp)
            self.last = max(self.last or message.timestamp, message.timestamp)


class Segments:
    """Derives the segments of conversations."""

    name = "segments"
    version = 1

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """The segments that are new or longer than they were."""
        effects = [self._of(view, portion) for portion in portions]
        puts = [node for one in effects for node in one.put]
        return Effects(
            put=puts,
            edges=[edge for one in effects for edge in one.edges],
            cut=[key for one in effects for key in one.cut],
            tasks=[task()] if any(one.tasks for one in effects) else [],
            states={key: state for one in effects for key, state in one.states.items()},
        )

    def _of(self, view: View, portion: Portion) -> Effects:
        drift = Drift.read(portion.state.get("turns", ()))
        known = self._known(view, portion)
        runs: list[_Run] = []
        if going_on := known.get(NodeId(portion.state.get("segment", ""))):
            runs.append(_resumed(going_on))
        for message in portion.messages:
            if drift.takes(message) or not runs:
                runs.append(_Run(stable_id("segment", message.id), portion.conversation.id))
            runs[-1].take(message)
        words = _words(view, portion, runs)
        nodes = [_node(run, words, known.get(run.id)) for run in runs if run.fresh]
        edges = [Edge(run.id, COVERS, message_id) for run in runs for message_id in run.fresh]
        kept = {run.id for run in runs}
        gone = [node for node in known.values() if node.id not in kept] if portion.whole else []
        state: dict[str, Any] = {"segment": runs[-1].id, "turns": drift.state()} if runs else {}
        changed = portion.whole or any("vector" not in node.body for node in nodes) or is_small(view)
        return Effects(
            put=[*nodes, *map(retired, gone)],
            edges=edges,
            cut=_left(view, known, edges) if portion.whole else [],
            tasks=[task()] if changed and (nodes or gone) else [],
            states={portion.conversation.id: state},
        )

    def _known(self, view: View, portion: Portion) -> dict[NodeId, Node]:
        """The segments of the conversation that are there: all where it is derived whole, else the one that goes on."""
        if not portion.whole:
            ids = [NodeId(portion.state["segment"])] if "segment" in portion.state else []
            return {node.id: node for node in view.get(Node, ids)}
        where = Where(kinds=(NodeKind.SEGMENT.value,), conversation=portion.conversation.id)
        return {node.id: node for node in view.find(Node, where, limit=_ALL).items}


def is_small(view: View) -> bool:
    """Whether there are few segments, as far as they were counted."""
    return all(node.erased or node.body.get("segments", 0) <= SMALL for node in view.get(Node, [CLUSTERED]))


def task() -> Task:
    """The task to find topics among the segments there are."""
    return Task(id=stable_id("task", TOPICS), kind=TOPICS)


def _resumed(node: Node) -> _Run:
    body = node.body
    assert node.conversation_id is not None
    return _Run(node.id, node.conversation_id, body["count"], list(body["head"]), node.valid_from, node.valid_to)


def _words(view: View, portion: Portion, runs: Sequence[_Run]) -> dict[NodeId, Message]:
    """The messages that profiles are made of; those of earlier portions are read again, sixteen at most."""
    words = {message.id: message for message in portion.messages}
    missing = [i for run in runs[:1] for i in run.head if i not in words]
    return words | {message.id: message for message in view.get(Message, missing)}


def _node(run: _Run, words: dict[NodeId, Message], before: Node | None) -> Node:
    head = [words[i] for i in run.head[: length(run.count)]]
    profile = stable_id("profile", text_of(head))
    body: dict[str, Any] = {"count": run.count, "head": list(run.head), "profile": profile, "terms": telling(head)}
    if before is not None and before.body.get("profile") == profile and "vector" in before.body:
        body["vector"] = before.body["vector"]
    return Node(
        run.id,
        NodeKind.SEGMENT,
        key="segment",
        text=", ".join(body["terms"][:_LABEL]),
        conversation_id=run.conversation_id,
        valid_from=run.first,
        valid_to=run.last,
        made_by="segments",
        body=body,
    )


def _left(view: View, known: dict[NodeId, Node], edges: Sequence[Edge]) -> list[EdgeKey]:
    """The edges that segments had and have no longer."""
    kept = {(edge.source_id, edge.target_id) for edge in edges}
    had = view.edges(list(known), (COVERS,), "out", _ALL) if known else []
    return [e.key for e in had if (e.source_id, e.target_id) not in kept]


def living(node: Node) -> bool:
    """Whether a segment or topic may be shown."""
    return node.state == LIVE and not node.erased


def with_vector(node: Node, vector: str) -> Node:
    """A segment with the vector of its profile."""
    return replace(node, body={**node.body, "vector": vector})
