"""How far consolidation has come in a conversation, and the head, for which those who consolidate take turns.

Both are nodes of the store, in states of their own, so that nobody takes them for something that was derived.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.record import Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import End

#: Put by every change that consolidates, on the revision that it was planned on: of two workers one plans again.
HEAD = stable_id("consolidation", "head")

#: The state of a cursor that holds.
CURSOR = "cursor"
_HEAD = "head"


def head() -> Node:
    """The head. Only its revision counts."""
    return Node(HEAD, NodeKind.REPORT, state=_HEAD)


def cursor_id(conversation_id: NodeId) -> NodeId:
    """The id of a conversation's cursor."""
    return stable_id("cursor", conversation_id)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Up to which message a conversation was derived, by which versions of the derivers, with what they left behind.

    `revision` and `count` are those of the conversation then: an append raises both by one, so that they tell whether
    anything else was changed since.
    """

    conversation_id: NodeId
    revision: int
    count: int
    versions: Mapping[str, int]
    states: Mapping[str, Metadata]

    @classmethod
    def read(cls, node: Node) -> Cursor | None:
        """None where it is stale: then the conversation is derived whole."""
        if node.state != CURSOR or node.erased or node.conversation_id is None:
            return None
        body = node.body
        return cls(node.conversation_id, body["revision"], body["count"], body["versions"], body["states"])

    def node(self) -> Node:
        """As it is stored."""
        body = {
            "revision": self.revision,
            "count": self.count,
            "versions": dict(self.versions),
            "states": {name: dict(state) for name, state in self.states.items()},
        }
        return Node(
            cursor_id(self.conversation_id),
            NodeKind.REPORT,
            state=CURSOR,
            conversation_id=self.conversation_id,
            body=body,
        )

    def only_appended(self, end: End, versions: Mapping[str, int]) -> bool:
        """Whether nothing but appending has happened since, and the same derivers are at work."""
        return self.versions == versions and end.revision - self.revision == end.message_count - self.count
