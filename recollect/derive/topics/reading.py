"""Topics and segments as readers get them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.derive.topics.segments import COVERS, living
from recollect.derive.topics.work import BELONGS
from recollect.errors import NotFound
from recollect.record import Conversation, Message, Node, NodeId, NodeKind, stable_id
from recollect.store import View, Where
from recollect.store.transfer import every

_ALL = 10_000_000


@dataclass(frozen=True, slots=True)
class Topic:
    """What many segments are about: its telling terms, how much there is of it, from when to when [4].

    `summary` is empty where none was made.
    """

    id: NodeId
    label: str
    terms: tuple[str, ...]
    segments: int
    messages: int
    first: datetime | None = None
    last: datetime | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class TopicSegment:
    """A run of turns of a conversation about one thing [2]. `message_id` is the first of its messages."""

    id: NodeId
    conversation_id: NodeId
    message_id: NodeId
    label: str
    messages: int
    first: datetime | None = None
    last: datetime | None = None
    topic: str = ""


def topics(view: View, limit: int) -> list[Topic]:
    """The largest topics."""
    nodes = [node for node in every(view, Node, Where(kinds=(NodeKind.TOPIC.value,))) if living(node)]
    nodes.sort(key=lambda node: (-node.score, node.id))
    summaries = _summaries(view, nodes[:limit])
    return [_topic(node, summaries.get(node.id, "")) for node in nodes[:limit]]


def named(view: View, topic: str) -> Topic:
    """The topic of an id, its end, a label, or a term that only one of them has. Raises NotFound."""
    nodes = [node for node in every(view, Node, Where(kinds=(NodeKind.TOPIC.value,))) if living(node)]
    wanted = topic.strip().lower()
    for fits in (
        lambda node: wanted in (node.id.lower(), node.key),
        lambda node: len(wanted) >= 6 and node.id.lower().endswith(wanted),
        lambda node: wanted in (term.lower() for term in node.body["terms"]),
    ):
        found = sorted((node for node in nodes if wanted and fits(node)), key=lambda node: (-node.score, node.id))
        if found:
            return _topic(found[0], _summaries(view, found[:1]).get(found[0].id, ""))
    raise NotFound(f"No topic is called {topic!r}.", hint="To see what there is: recollect topics")


def messages_of(view: View, topic: Topic, limit: int) -> list[Message]:
    """The messages of a topic, those of its most typical segments first, each segment in order."""
    belongs = view.edges([topic.id], (BELONGS,), "in", _ALL)
    belongs.sort(key=lambda edge: (-edge.properties.get("likeness", 0), edge.source_id))
    found: list[Message] = []
    for start in range(0, len(belongs), 50):
        ids = [edge.source_id for edge in belongs[start : start + 50]]
        found += _messages(view, ids)
        if len(found) >= limit:
            break
    return found[:limit]


def topics_of(view: View, message_ids: Sequence[NodeId]) -> dict[NodeId, Topic]:
    """The topic of each of these messages that has one. The cost follows from the messages asked for alone."""
    within = view.edges(message_ids, (COVERS,), "in", _ALL) if message_ids else []
    belongs = view.edges(sorted({e.source_id for e in within}), (BELONGS,), "out", _ALL) if within else []
    of_segment = {edge.source_id: edge.target_id for edge in belongs}
    nodes = [n for n in view.get(Node, sorted(set(of_segment.values()))) if living(n)]
    summaries = _summaries(view, nodes) if nodes else {}
    topics = {node.id: _topic(node, summaries.get(node.id, "")) for node in nodes}
    found = ((edge.target_id, topics.get(of_segment.get(edge.source_id, NodeId("")))) for edge in within)
    return {message: topic for message, topic in found if topic is not None}


def begun_by_month(view: View, topics: Sequence[Topic]) -> dict[NodeId, list[tuple[str, int, int]]]:
    """How much of each topic began in each month: the month ("2024-01"), its messages and its conversations."""
    ids = [topic.id for topic in topics]
    belongs = view.edges(ids, (BELONGS,), "in", _ALL) if ids else []
    nodes = {n.id: n for n in view.get(Node, sorted({edge.source_id for edge in belongs})) if living(n)}
    found: dict[NodeId, dict[str, list[Node]]] = {i: {} for i in ids}
    for edge in belongs:
        node = nodes.get(edge.source_id)
        if node is not None and node.valid_from is not None:
            month = node.valid_from.astimezone(UTC).isoformat()[:7]
            found[edge.target_id].setdefault(month, []).append(node)
    return {
        topic: [
            (month, sum(n.body["count"] for n in begun), len({n.conversation_id for n in begun}))
            for month, begun in sorted(months.items())
        ]
        for topic, months in found.items()
    }


def segments(view: View, conversation_id: NodeId) -> list[TopicSegment]:
    """The segments of a conversation, in its order. Raises NotFound."""
    if not view.get(Conversation, [conversation_id]):
        raise NotFound(f"No conversation has the ID {conversation_id}.", hint="To see what there is: recollect list")
    where = Where(kinds=(NodeKind.SEGMENT.value,), conversation=conversation_id)
    nodes = [node for node in every(view, Node, where) if living(node)]
    positions = {m.id: m.position for m in view.get(Message, [NodeId(node.body["head"][0]) for node in nodes])}
    nodes.sort(key=lambda node: (positions.get(NodeId(node.body["head"][0]), 0), node.id))
    belongs = {e.source_id: e.target_id for e in view.edges([n.id for n in nodes], (BELONGS,), "out")} if nodes else {}
    labels = {node.id: node.text for node in view.get(Node, sorted(set(belongs.values()))) if living(node)}
    return [
        TopicSegment(
            id=node.id,
            conversation_id=conversation_id,
            message_id=NodeId(node.body["head"][0]),
            label=node.text,
            messages=node.body["count"],
            first=node.valid_from,
            last=node.valid_to,
            topic=labels.get(belongs.get(node.id, NodeId("")), ""),
        )
        for node in nodes
    ]


def _messages(view: View, segment_ids: Sequence[NodeId]) -> list[Message]:
    covered: dict[NodeId, list[NodeId]] = {i: [] for i in segment_ids}
    for edge in view.edges(segment_ids, (COVERS,), "out", _ALL):
        covered[edge.source_id].append(edge.target_id)
    known = {m.id: m for m in view.get(Message, [i for ids in covered.values() for i in ids]) if not m.deleted}
    return [
        message
        for ids in covered.values()
        for message in sorted((known[i] for i in ids if i in known), key=lambda m: m.position)
    ]


def _topic(node: Node, summary: str) -> Topic:
    body = node.body
    return Topic(
        id=node.id,
        label=node.text,
        terms=tuple(body["terms"]),
        segments=body["segments"],
        messages=body["messages"],
        first=node.valid_from,
        last=node.valid_to,
        summary=summary,
    )


def _summaries(view: View, nodes: Sequence[Node]) -> dict[NodeId, str]:
    """The summaries of topics, where they were made."""
    ids = {stable_id("summary", "topic", node.id): node.id for node in nodes}
    return {ids[n.id]: n.text for n in view.get(Node, list(ids)) if living(n)}
