"""What is read: the answers of a `View`, and what it is asked with."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import astuple, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from recollect.record import Chunk, Conversation, Document, Message, Node, NodeId, ToolCall, Turn
from recollect.store.passages import EmbedderId


class Invariant(StrEnum):
    """An invariant, in the words in which it is reported. An engine checks those that its form lets break."""

    # --- of the record: only a copy mends what is wrong with it
    FILE_IS_WHOLE = "the file is whole"
    REFERENCES = "no row refers to a missing one"
    HAS_CONVERSATION = "every message has its conversation"
    ONE_NAMESPACE = "a message and its conversation are of one namespace"
    HAS_PARENT = "the parent of a message is a message of the same conversation"
    NO_CIRCLE = "no message answers itself, by whatever detour"
    POSITIONS = "the positions of a conversation run from 0 without gap"
    ACTIVE_PATH = "the parent of an active message is active"
    ACTIVE_END = "the active path ends at the conversation's last message"
    TOOL_CALL = "a tool call belongs to a message, and names a result that is there"
    TURN = "a turn names messages that are there"
    TURNS_FOLLOW = "turns follow each other"
    HAS_WHOLE = "a chunk has its parent"
    CHUNKS_FOLLOW = "the chunks of a text follow each other without gap"
    ERASED = "what was erased has no words left"
    EDGES = "an edge whose ends are both there is drawn"

    # --- of what is derived for search: it is made anew from the record
    FINDABLE = "what has words is in the search index"
    UPGRADED = "the messages of an older version are in the search index"
    DELETED = "what is deleted is not in the search index"
    LEADS_SOMEWHERE = "the search index leads to things that are there"
    ONCE = "nothing is in the search index twice"
    IN_ONE_PLACE = "every passage is in one segment or in the tail"
    HAS_WORDS = "every passage has its words"
    WORDS_READABLE = "the words of the search index can be read"
    TAIL_READABLE = "the tail of the search index can be read"
    SEGMENTS_READABLE = "the segments of the search index can be read"
    QUALITY = "quality vectors belong to passages, and come with their tokens"
    PIECES_COUNTED = "the passages with word pieces are counted"
    SPEAKERS = "who speaks is known by living passages"
    NOTHING_LEFT = "nothing is left of generations that are gone"


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

    def __add__(self, other: Erased) -> Erased:
        return Erased(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


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


# What was read in a view, kept for as long as nothing is written: what is asked often in a session is read once.

T = TypeVar("T")

_MOST_KEPT = 64  # readings


class Kept:
    """The last reading of each name, of one space. What is kept is handed out again as it is: nobody may change it.
    Thread-safe.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, stamp: Hashable, name: Hashable, read: Callable[[], T]) -> T:
        """What a view of this stamp says under a name: as it was read before, if nothing was written since."""
        with self._lock:
            before = self._kept.pop(name, None)
            if before is not None and before[0] == stamp:
                self._kept[name] = before
                found: T = before[1]
                return found
        fresh = read()
        with self._lock:
            self._kept[name] = stamp, fresh
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return fresh
