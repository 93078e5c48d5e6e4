"""The outbox: what is written of messages leaves a task behind, in the same transaction.

A conversation has at most one such task, however often it is written to. None is lost by that: who does the task writes
on the revision of the conversation that it has read. A message that came in between makes that write stale, and it is
planned again; one that comes later finds the task gone and puts it anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from recollect.derive.tasks.base import STALE, topic_summary_id
from recollect.derive.tasks.cursor import cursor_id
from recollect.record import Node, NodeId, NodeKind, Origin, stable_id
from recollect.store import Mark, Task, View

#: The kind of the task that derives everything from what is new in a conversation.
CONVERSATION = "conversation"

_ALL = 1_000_000_000
#: By these edges a node says which messages, or which other nodes, it was made of.
_MADE_OF = ("COVERS", "DERIVES_FROM")
#: Mentions that no entity counts, those of turns (entities/tally.py).
BY_TURN = "turn"


def due(conversation_ids: Iterable[NodeId]) -> list[Task]:
    """The tasks for conversations that are written to."""
    return [
        Task(id=stable_id("task", CONVERSATION, conversation_id), kind=CONVERSATION, subject=conversation_id)
        for conversation_id in conversation_ids
    ]


def stale(view: View, conversation_ids: Collection[NodeId], message_ids: Collection[NodeId]) -> list[Mark]:
    """What a change of these messages makes stale at once: whatever was made of them, and what was made of that.

    Their conversations are then derived whole, since their cursors are stale as well.
    """
    ids = made_of(view, message_ids) + only_mentioned(view, message_ids) + [cursor_id(i) for i in conversation_ids]
    fresh = [node.id for node in view.get(Node, ids) if node.state != STALE and not node.erased]
    return [Mark(ids=fresh, state=STALE)] if fresh else []


def only_mentioned(view: View, message_ids: Collection[NodeId]) -> list[NodeId]:
    """The entities that no other message mentions. One of many mentions makes no entity untrue."""
    edges = view.edges(list(message_ids), ("MENTIONS",), "out", limit=_ALL) if message_ids else []
    counted = {(edge.source_id, edge.target_id) for edge in edges if edge.name != BY_TURN}
    lost = Counter(target for _, target in counted)
    return [node.id for node in view.get(Node, list(lost)) if node.body.get("count", 0) <= lost[node.id]]


def made_of(view: View, message_ids: Collection[NodeId]) -> list[NodeId]:
    """The derived nodes that were made of messages, and those that were made of these."""
    found: dict[NodeId, None] = {}
    frontier = list(message_ids)
    while frontier:
        edges = view.edges(frontier, _MADE_OF, "in", limit=_ALL)
        frontier = [i for i in dict.fromkeys(edge.source_id for edge in edges) if i not in found]
        found |= dict.fromkeys(frontier)
    made = view.get(Node, list(found))
    named = [topic_summary_id(node.id) for node in made if node.kind is NodeKind.TOPIC]  # by terms of all its segments
    made += view.get(Node, [i for i in named if i not in found])
    return [node.id for node in made if node.origin is Origin.DERIVED and not node.erased]
