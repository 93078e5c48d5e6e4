"""The summaries of topics: of their most typical messages, made again only where these have changed."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.derive.summaries.tasks import not_asked
from recollect.derive.summaries.topics import topic_summary
from recollect.derive.tasks.base import Setting, retired, topic_summary_id
from recollect.derive.topics.segments import COVERS
from recollect.models.embedding import Embedder
from recollect.record import Edge, Message, Node, NodeId
from recollect.store import EdgeKey, Task, View

_SEGMENTS, _MESSAGES = 12, 60  # the most typical of a topic: what its summary is made of, however much there is
_ALL = 1_000_000


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
