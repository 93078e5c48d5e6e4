"""The task that finds topics: vectors for segments that have none, clusters among all of them, a node for each.

Pure in the end: the same segments give the same topics. Where segments have only grown, by what does not change what
they are about, the clusters stay, and the topics are counted anew. In a large history it is not done for every new
segment: until a twentieth of them is new, those only get their vectors.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from recollect.derive.summaries.periods import not_asked
from recollect.derive.summaries.works import topic_summary
from recollect.derive.tasks.base import STALE, Effects, Setting, retired, topic_summary_id
from recollect.derive.topics.naming import as_bytes, clusters, length, named, stacked, text_of
from recollect.derive.topics.segments import CLUSTERED, COVERS, SMALL, TOPICS, living, with_vector
from recollect.models.embedding import Embedder
from recollect.record import NOTHING, Edge, Message, Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import EdgeKey, Task, View, Where
from recollect.store.transfer import every

_SEGMENTS, _MESSAGES = 12, 60  # the most typical of a topic: what its summary is made of, however much there is


class Summed:
    """What is to be written of the summaries of topics."""

    def __init__(self, view: View, embedder: Embedder, setting: Setting) -> None:
        self._view, self._embedder, self._setting = view, embedder, setting
        self.put: list[Node] = []
        self.edges: list[Edge] = []
        self.cut: list[EdgeKey] = []
        self.tasks: list[Task] = []

    def nodes(self) -> list[Node]:
        """What is to be put: the summaries, and that there are some which no model was asked about."""
        late = not_asked(self._view) if self.put and self._setting.model is None else []
        return [*self.put, *late]

    def add(self, topic: Node, segments: Sequence[NodeId]) -> None:
        """The summary of a topic, whose segments come with the most typical first."""
        messages = self._typical(segments[:_SEGMENTS])
        own = topic_summary_id(topic.id)
        old = next(iter(self._view.get(Node, [own])), None)
        node, edges, tasks = topic_summary(
            topic.id, topic.text, topic.body["terms"], messages, self._setting, self._embedder, old=old
        )
        if node != old:
            self.put.append(node)
        self.edges += edges
        self.tasks += tasks
        self._cut(own, {edge.target_id for edge in edges})

    def retire(self, topics: Sequence[NodeId]) -> None:
        """Of topics that are no longer."""
        ids = [topic_summary_id(topic) for topic in topics]
        self.put += [retired(node) for node in self._view.get(Node, ids) if not node.erased]
        for own in ids:
            self._cut(own, set())

    def _typical(self, segments: Sequence[NodeId]) -> list[Message]:
        """Messages of segments, in order of time."""
        covered: dict[NodeId, list[NodeId]] = {segment: [] for segment in segments}
        for edge in self._view.edges(segments, (COVERS,), "out", _ALL):
            covered[edge.source_id].append(edge.target_id)
        known = {m.id: m for m in self._view.get(Message, [i for ids in covered.values() for i in ids])}
        ordered = [sorted((known[i] for i in ids if i in known), key=lambda m: m.position) for ids in covered.values()]
        chosen = [message for messages in ordered for message in messages][:_MESSAGES]
        return sorted(chosen, key=lambda m: (m.timestamp is None, m.timestamp, m.conversation_id, m.position))

    def _cut(self, summary: NodeId, kept: set[NodeId]) -> None:
        for edge in self._view.edges([summary], (COVERS,), "out", _ALL):
            if edge.target_id not in kept:
                self.cut.append(edge.key)


BELONGS, DERIVES = "BELONGS_TO", "DERIVES_FROM"

#: Cosine of two segments, without what all have in common, from which they may be about the same; and how many make a
#: topic. Names as in [4]: clustering threshold and minimum cluster size.
THRESHOLD, LEAST = 0.3, 3

_ALL = 10_000_000
_SHARE = 20
_BATCH = 256
_TERMS, _LABEL = 12, 3
_UNSHOWN = "cursor"


class Topics:
    """Finds topics among the segments of a namespace."""

    kind = TOPICS

    def __init__(self, embedder: Embedder, threshold: float = THRESHOLD, least: int = LEAST) -> None:
        self._embedder, self._threshold, self._least = embedder, threshold, least

    def group(self, task: Task) -> str:
        """By itself: there is one of them."""
        return ""

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The vectors that were missing, and the topics, where enough has changed."""
        segments = [n for n in every(view, Node, Where(kinds=(NodeKind.SEGMENT.value,))) if living(n)]
        fresh = self._embedded(view, [node for node in segments if "vector" not in node.body])
        segments = [fresh.get(node.id, node) for node in segments]
        topics = {node.id: node for node in every(view, Node, Where(kinds=(NodeKind.TOPIC.value,)))}
        noted = _noted(view)
        waiting, own = noted.get("waiting", 0) + len(fresh), _of(segments)
        stale = any(node.state == STALE and (node.text or node.erased) for node in topics.values())
        if not (fresh or stale) and noted.get("of") == own:
            return self._counted(view, segments, [node for node in topics.values() if living(node)], setting)
        if len(segments) > SMALL and not stale and waiting * _SHARE < len(segments):
            return Effects(put=[*fresh.values(), _note(waiting, len(segments), noted.get("of", ""))])
        nodes, edges = self._found(view, segments)
        kept = {node.id for node in nodes}
        gone = [
            retired(node)
            for node in topics.values()
            if node.id not in kept and (node.text or node.erased or node.state != STALE)
        ]
        summed = Summed(view, self._embedder, setting)
        for node in nodes:
            summed.add(node, [edge.source_id for edge in edges if edge.target_id == node.id])
        summed.retire([node.id for node in gone])
        put, cut = _changes(view, topics, edges)
        return Effects(
            put=[*fresh.values(), *nodes, *gone, *summed.nodes(), _note(0, len(segments), own)],
            edges=[*put, *summed.edges],
            cut=[*cut, *summed.cut],
            tasks=summed.tasks,
        )

    def _counted(self, view: View, segments: Sequence[Node], topics: Sequence[Node], setting: Setting) -> Effects:
        """The topics of segments that may be longer than they were: what belongs to each stays."""
        known, members = (
            {node.id: node for node in segments},
            {node.id: list[tuple[float, NodeId]]() for node in topics},
        )
        for edge in view.edges(list(members), (BELONGS,), "in", _ALL) if members else ():
            members[edge.target_id].append((-edge.properties["likeness"], edge.source_id))
        summed, changed = Summed(view, self._embedder, setting), []
        for topic in topics:
            inside = [known[segment] for _, segment in sorted(members[topic.id])]
            node = _node(inside, topic.body["terms"])
            if (node.body, node.valid_from, node.valid_to) != (topic.body, topic.valid_from, topic.valid_to):
                changed.append(node)
                summed.add(node, [one.id for one in inside])
        return Effects(put=[*changed, *summed.nodes()], edges=summed.edges, cut=summed.cut, tasks=summed.tasks)

    def _embedded(self, view: View, nodes: Sequence[Node]) -> dict[NodeId, Node]:
        done: dict[NodeId, Node] = {}
        for start in range(0, len(nodes), _BATCH):
            batch = nodes[start : start + _BATCH]
            heads = [[NodeId(i) for i in n.body["head"][: length(n.body["count"])]] for n in batch]
            messages = {m.id: m for m in view.get(Message, [i for head in heads for i in head])}
            texts = [text_of([messages[i] for i in head if i in messages]) for head in heads]
            for node, vector in zip(batch, self._embedder.embed(texts), strict=True):
                done[node.id] = with_vector(node, base64.b85encode(as_bytes(vector)).decode())
        return done

    def _found(self, view: View, segments: Sequence[Node]) -> tuple[list[Node], list[Edge]]:
        size = self._embedder.dimensions
        rows = [(node, base64.b85decode(node.body["vector"])) for node in segments]
        rows = [(node, raw) for node, raw in rows if len(raw) == size]
        if not rows:
            return [], []
        found = clusters(stacked([raw for _, raw in rows], size), self._threshold, self._least)
        members = [[rows[row][0] for row in cluster.rows] for cluster in found]
        near = [cluster.likeness for cluster in found]
        names = named(view, [list(zip(*both, strict=True)) for both in zip(members, near, strict=True)], _TERMS)
        nodes, edges = [], []
        for cluster, inside, terms in zip(found, members, names, strict=True):
            node = _node(inside, terms)
            nodes.append(node)
            edges += _edges(node.id, inside, cluster.likeness)
        return nodes, edges


def _node(inside: Sequence[Node], terms: Sequence[str]) -> Node:
    """A topic, known by its earliest segment: later ones do not make another of it."""
    earliest = min(inside, key=lambda n: (n.valid_from is None, n.valid_from, n.id))
    body: dict[str, Any] = {
        "terms": list(terms),
        "segments": len(inside),
        "messages": sum(node.body["count"] for node in inside),
    }
    return Node(
        stable_id("topic", earliest.id),
        NodeKind.TOPIC,
        key=", ".join(terms[:_LABEL]).lower(),
        text=", ".join(terms[:_LABEL]),
        valid_from=min((n.valid_from for n in inside if n.valid_from), default=None),
        valid_to=max((n.valid_to for n in inside if n.valid_to), default=None),
        score=float(body["messages"]),
        made_by="topics",
        body=body,
    )


def _edges(topic: NodeId, inside: Sequence[Node], near: Sequence[float]) -> list[Edge]:
    """What belongs to a topic, and what it is made of, by which erasing finds it."""
    belongs = [
        Edge(node.id, BELONGS, topic, {"likeness": likeness}) for node, likeness in zip(inside, near, strict=True)
    ]
    return belongs + [Edge(topic, DERIVES, node.id) for node in inside]


def _changes(view: View, topics: dict[NodeId, Node], edges: Sequence[Edge]) -> tuple[list[Edge], list[EdgeKey]]:
    ids = list(topics)
    had = view.edges(ids, (BELONGS,), "in", _ALL) + view.edges(ids, (DERIVES,), "out", _ALL) if ids else []
    old = {e.key: e.properties for e in had}
    new = {e.key: e for e in edges}
    put = [edge for key, edge in new.items() if old.get(key) != edge.properties]
    return put, [key for key in old if key not in new]


def _noted(view: View) -> Metadata:
    return next((node.body for node in view.get(Node, [CLUSTERED]) if not node.erased), NOTHING)


def _note(waiting: int, segments: int, of: NodeId | str) -> Node:
    """How many segments there are, how many of them have changed since they were clustered, and which these were."""
    return Node(CLUSTERED, NodeKind.REPORT, state=_UNSHOWN, body={"waiting": waiting, "segments": segments, "of": of})


def _of(segments: Sequence[Node]) -> NodeId:
    return stable_id("clustered", *(node.id for node in segments))
