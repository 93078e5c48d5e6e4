"""Segments: each conversation as runs of turns about one thing, which begin where its topic drifts [2]."""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import folded, group
from recollect.derive.tasks.base import LIVE, Effects, Portion, Setting, retired
from recollect.derive.topics.naming import MOST, length, telling, text_of
from recollect.record import Edge, Message, Node, NodeId, NodeKind, Role, stable_id
from recollect.store import EdgeKey, Task, View, Where
from recollect.text.terms import terms

#: How many turns before one it is compared with, and under which likeness of entities and of words it drifts.
TURNS, ENTITIES_UNDER, WORDS_UNDER = 4, 0.02, 0.05

_LEAST_WORDS = 3
_MOST = 200  # words of a turn that are remembered
_READ = 4_000  # characters of a message


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """How much two sets share: 0 to 1; of two empty ones 1.

    >>> jaccard(frozenset({1, 2}), frozenset({2, 3, 4}))
    0.25
    """
    both = len(one | other)
    return len(one & other) / both if both else 1.0


@dataclass(frozen=True, slots=True)
class TurnTopics:
    """What a turn is about: its entities and its words, as numbers."""

    entities: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()

    @classmethod
    def of(cls, message: Message) -> TurnTopics:
        """Of one message."""
        named = (group(folded(mention.name)) for mention in found_in(message.content))
        said = (term for term in terms(message.content[:_READ]) if len(term) > 3 and not term.isdigit())
        return cls(_numbers(named), _numbers(said))

    def with_more(self, other: TurnTopics) -> TurnTopics:
        """The turn with another message in it."""
        return TurnTopics(_first(self.entities, other.entities), _first(self.words, other.words))


@dataclass(slots=True)
class Drift:
    """The last turns of a segment. `takes` one message after the other."""

    turns: list[TurnTopics] = field(default_factory=list)

    @classmethod
    def read(cls, state: Sequence[Sequence[str]]) -> Drift:
        """As it was left."""
        return cls([TurnTopics(_unpacked(entities), _unpacked(words)) for entities, words in state])

    def state(self) -> list[list[str]]:
        """To go on from."""
        return [[_packed(turn.entities), _packed(turn.words)] for turn in self.turns]

    def takes(self, message: Message) -> bool:
        """Whether a new segment begins with this message."""
        fresh = TurnTopics.of(message)
        if message.role is not Role.USER and self.turns:
            self.turns[-1] = self.turns[-1].with_more(fresh)
            return False
        drifts = bool(self.turns) and self._is_elsewhere(fresh)
        self.turns = [fresh] if drifts else [*self.turns[1 - TURNS :], fresh]
        return drifts

    def _is_elsewhere(self, fresh: TurnTopics) -> bool:
        entities = frozenset[int]().union(*(turn.entities for turn in self.turns))
        words = frozenset[int]().union(*(turn.words for turn in self.turns))
        if not (fresh.entities and entities) or len(fresh.words) < _LEAST_WORDS:
            return False
        return jaccard(fresh.entities, entities) < ENTITIES_UNDER and jaccard(fresh.words, words) < WORDS_UNDER


def _numbers(words: Iterable[str]) -> frozenset[int]:
    kept = dict.fromkeys(words)
    return frozenset(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in list(kept)[:_MOST])


def _first(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    more = sorted(other - one)[: max(0, _MOST - len(one))]
    return one | frozenset(more)


def _packed(numbers: frozenset[int]) -> str:
    return base64.b85encode(array("I", sorted(numbers)).tobytes()).decode()


def _unpacked(text: str) -> frozenset[int]:
    return frozenset(array("I", base64.b85decode(text)))


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
