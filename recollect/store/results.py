"""What is read: the answers of a `View`, and what it is asked with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from recollect.record import Chunk, Conversation, Document, Message, Node, NodeId, ToolCall, Turn
from recollect.store.invariants import Invariant
from recollect.store.passages import EmbedderId

R = TypeVar("R", Conversation, Message, ToolCall, Turn, Chunk, Document, Node)

#: The types of relations that fields of records say, beside the edges that are written.
OF_FIELDS = frozenset({
    "REPLIES_TO", "CALLED_BY", "CHUNK_OF", "HAS_TURN", "NEXT_TURN", "HAS_QUERY", "HAS_RESPONSE",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Revision:
    """What is stored of a conversation, document or derived node, without reading it."""

    number: int  # raised by every change to it or to what belongs to it
    digest: str | None = None
    erased: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The growing end of a conversation, which an append builds on; its cost does not depend on the length."""

    conversation: Conversation
    revision: int
    message_count: int  # all that were ever put, erased ones too: the next position
    leaf: Message | None  # the end of the active path
    turn: Turn | None  # the last
    named: bool  # whether people with names speak in it


#: A run of positions in a conversation, both ends included.
Span = tuple[NodeId, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What `find` looks for; what is empty or None does not restrict. Times are microseconds, `until` excluded.

    Of conversations and documents: `sources`, `title` (anywhere in it, whatever the case). Of messages, tool calls,
    turns: `conversation`. Of nodes: `kinds`, `keys`, `states`, `conversation`, `current` at a moment (valid_from <=
    moment < valid_to, unknown ends are open); by what their body says, `attributes` (what stands before any " of ": a
    dose of something is a "dose") and `pinned` ones.
    """

    sources: tuple[str, ...] = ()
    title: str = ""
    conversation: NodeId | None = None
    kinds: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    current: int | None = None
    attributes: tuple[str, ...] = ()
    pinned: bool = False
    deleted: bool | None = None  # None: both; erased ones count as deleted
    order: Literal["id", "newest"] = "id"


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """Some of what was looked for. `next` is what the following page comes after; None: there is no more. In the order
    of ids that is the last id, and any other id will do.
    """

    items: list[R]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """What is in a namespace, counted by reading it. Deleted and erased things do not count."""

    conversations: int = 0
    messages: int = 0
    active: int = 0  # on the active paths
    by_kind: Mapping[str, int] = field(default_factory=dict)  # messages
    by_source: Mapping[str, int] = field(default_factory=dict)  # conversations
    by_node: Mapping[str, int] = field(default_factory=dict)  # live nodes, and as "past" superseded facts
    tool_calls: int = 0
    attachments: int = 0  # attachments, artifacts and assets that messages name
    documents: int = 0  # our own reports are none
    turns: int = 0
    chunks: int = 0
    passages: int = 0  # of the record; those of derived nodes do not count
    said_passages: int = 0  # of what was said
    quality: int = 0  # of those, with quality vectors
    tasks: Mapping[str, int] = field(default_factory=dict)  # by state: due, leased, dead
    first: datetime | None = None  # of the messages
    last: datetime | None = None

    @property
    def facts(self) -> int:
        """Those that hold, and those that did."""
        return self.by_node.get("fact", 0) + self.by_node.get("past", 0)


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What search reads in a namespace, and what is being built beside it. `todo`: owners that were written while a
    generation was being built; it is published when they are done.
    """

    generation: int = 0
    embedder: EmbedderId | None = None
    quality: bool = False  # whether any passage has quality vectors
    building: int | None = None
    building_embedder: EmbedderId | None = None
    built: NodeId | None = None
    todo: tuple[NodeId, ...] = ()  # at most a thousand of them


@dataclass(frozen=True, slots=True)
class Near:
    """A known word that is spelled nearly like another, as a text writes it: how many edits lie between, and how many
    passages hold it.
    """

    word: str
    edits: int
    passages: int


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasing removed."""

    conversations: int = 0
    messages: int = 0
    documents: int = 0
    nodes: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that does not hold: which, where, how many times, and what mends it."""

    invariant: Invariant
    where: str
    count: int = 1
    remedy: Literal["reindex", "backup"] = "backup"  # derived: made anew from the messages; else only a copy helps


@dataclass(slots=True)
class Lost:
    """What of a damaged namespace cannot be read: at least so much, as far as it was read. `unreadable` are pages and
    records of which nobody knows what they held.
    """

    conversations: int = 0
    messages: int = 0
    documents: int = 0
    unreadable: int = 0

    def count(self, kind: type[Any]) -> None:
        """One more of a kind of record."""
        name = {Conversation: "conversations", Message: "messages", Document: "documents"}.get(kind, "unreadable")
        setattr(self, name, getattr(self, name) + 1)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """About the whole store."""

    engine: str
    schema: int
    bytes: int  # on disk; 0 where the engine does not tell
