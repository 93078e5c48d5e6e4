"""The port of the stores: what every engine can do, in the words of the domain.

An engine keeps the records of `recollect.record`, and beside them what is derived for search: passages. Each method is
one transaction; what it acknowledges survives a kill. Nothing of one namespace is ever read for another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from recollect.record import (
    Conversation,
    Document,
    Edge,
    Message,
    Namespace,
    NodeId,
    Thread,
    ToolCall,
    Turn,
    Window,
)
from recollect.record.nodes import Chunk
from recollect.store.passages import Passage, PassageText, Probe, QualityVectors, Signals, TokenRows

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a message that is already stored now stands, after its conversation has grown or branched."""

    id: NodeId
    position: int
    active: bool


@dataclass(frozen=True, slots=True)
class ThreadChange:
    """What a write does to one conversation. Everything is put by id, so that doing it twice is doing it once.

    `base_revision` is the revision that the change was planned on (0: the conversation is not there yet); another one
    in the store makes the whole write fail with `StaleChange`, and nothing is written. `edited` replaces messages
    (their versions are complete). `window_count`, where given, removes the windows from that index on.
    """

    conversation: Conversation
    base_revision: int
    digest: str | None = None
    added: Sequence[Message] = ()
    edited: Sequence[Message] = ()
    moved: Sequence[Placement] = ()
    tool_calls: Sequence[ToolCall] = ()
    turns: Sequence[Turn] = ()
    chunks: Sequence[Chunk] = ()
    windows: Sequence[Window] = ()
    window_count: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One transaction: changes of conversations, documents with their chunks, edges, and the passages that make them
    searchable. `reindexed` names owners whose earlier passages the new ones replace (or that shall have none).
    """

    changes: Sequence[ThreadChange] = ()
    documents: Sequence[Document] = ()
    chunks: Sequence[Chunk] = ()
    edges: Sequence[Edge] = ()
    passages: Sequence[Passage] = ()
    reindexed: Sequence[NodeId] = ()


class StaleChange(Exception):
    """Somebody else has written to these conversations since the change was planned: plan again."""

    def __init__(self, conversation_ids: Sequence[NodeId]) -> None:
        super().__init__(", ".join(conversation_ids))
        self.conversation_ids = tuple(conversation_ids)


@dataclass(frozen=True, slots=True)
class Stand:
    """What is stored of a conversation, without reading it: enough to see whether an import brings anything new."""

    revision: int
    digest: str | None


@dataclass(frozen=True, slots=True)
class End:
    """The growing end of a conversation, which an append builds on."""

    conversation: Conversation
    revision: int
    message_count: int
    leaf: Message | None
    turn: Turn | None
    window: Window | None
    named: bool  # whether people with names speak in it


#: A run of positions in a conversation, both ends included.
Span = tuple[NodeId, int, int]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a result shows of a conversation around its messages: how many messages it has, and windows, in order."""

    conversation: Conversation
    message_count: int
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation in a list, with how much is in it."""

    conversation: Conversation
    messages: int


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Which conversations to list. `title` is found anywhere in the title, whatever the case. Times: microseconds."""

    sources: tuple[str, ...] = ()
    title: str = ""
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """What is in a namespace, counted by reading it."""

    conversations: int = 0
    messages: int = 0  # all of them, without the deleted
    active: int = 0  # on the active paths
    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_source: Mapping[str, int] = field(default_factory=dict)  # conversations
    tool_calls: int = 0
    attachments: int = 0  # attachments, artifacts and assets that messages name
    documents: int = 0
    turns: int = 0
    chunks: int = 0
    windows: int = 0
    passages: int = 0
    quality: int = 0  # passages of what was said that have quality vectors
    said_passages: int = 0
    first: int | None = None  # microseconds
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that does not hold: which, where, and how many times."""

    invariant: str
    where: str
    count: int = 1


class Store(Protocol):
    """A place where the graph is kept."""

    location: str

    def close(self) -> None:
        """Releases everything. Further calls raise StoreError."""
        ...

    def namespaces(self) -> list[Namespace]:
        """The namespaces that hold anything."""
        ...

    # --- writing ---------------------------------------------------------------------------------------------------
    def write(self, namespace: Namespace, batch: Batch) -> None:
        """Writes all of it or nothing. Raises StaleChange, StoreBusy, StoreError."""
        ...

    def set_deleted(self, namespace: Namespace, message_ids: Sequence[NodeId], deleted: bool) -> None:
        """Deletes softly or restores: the words stay in the record; deleted ones are out of every search and count.

        Raises NotFound, with nothing changed. Restoring makes no passages: the caller indexes again.
        """
        ...

    # --- reading ---------------------------------------------------------------------------------------------------
    def stands(self, namespace: Namespace, conversation_ids: Sequence[NodeId]) -> dict[NodeId, Stand]:
        """Of those conversations that are there."""
        ...

    def thread(self, namespace: Namespace, conversation_id: NodeId) -> Thread | None:
        """A conversation with everything in it, messages by position."""
        ...

    def end(self, namespace: Namespace, conversation_id: NodeId) -> End | None:
        """The growing end of a conversation; its cost does not depend on the length."""
        ...

    def outlines(self, namespace: Namespace, spans: Sequence[Span]) -> dict[NodeId, Outline]:
        """Of those conversations that are there, each named once, with the windows that touch its span."""
        ...

    def conversations(
        self, namespace: Namespace, wanted: ConversationFilter, *, limit: int, offset: int = 0
    ) -> list[ConversationRow]:
        """Newest first."""
        ...

    def conversation_ids(self, namespace: Namespace) -> list[NodeId]:
        """All of them, sorted: the order of a dump."""
        ...

    def messages(self, namespace: Namespace, ids: Sequence[NodeId]) -> list[Message]:
        """Those that are there, in the order asked for."""
        ...

    def around(self, namespace: Namespace, spans: Sequence[Span]) -> list[Message]:
        """The messages at these positions, span by span, each in order."""
        ...

    def ids_ending(self, namespace: Namespace, suffix: str, limit: int = 5) -> list[NodeId]:
        """Ids of conversations and messages that end so (short ids), or are a source id equal to it."""
        ...

    def tool_calls(self, namespace: Namespace, ids: Sequence[NodeId]) -> list[ToolCall]:
        """Those that are there, in the order asked for; a result that is a message of its own is filled in."""
        ...

    def documents(self, namespace: Namespace, ids: Sequence[NodeId] | None = None) -> Iterator[Document]:
        """All documents, sorted by id, or those asked for."""
        ...

    def document_chunks(self, namespace: Namespace, document_id: NodeId) -> list[Chunk]:
        """The chunks of a document, in order."""
        ...

    def edges(self, namespace: Namespace) -> Iterator[Edge]:
        """The edges that were written as such, sorted."""
        ...

    def neighbours(
        self, namespace: Namespace, node_id: NodeId, types: Iterable[str] = (), *, inward: bool = False
    ) -> list[Edge]:
        """The edges that leave a node (or enter it): written ones, and those that fields say (REPLIES_TO, HAS_TURN)."""
        ...

    def counts(self, namespace: Namespace, conversation_ids: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace, or in some of its conversations, read back from it."""
        ...

    def at_once(self, work: Callable[[], T]) -> T:
        """Runs work that reads in one transaction: quicker than one for each call. It may be run more than once."""
        ...

    # --- search ----------------------------------------------------------------------------------------------------
    def signals(self, namespace: Namespace, probe: Probe) -> Signals:
        """The candidates of a question with everything that the ranker scores them by."""
        ...

    def speakers(self, namespace: Namespace) -> list[str]:
        """The names of the people who speak in the namespace."""
        ...

    def years(self, namespace: Namespace) -> list[int]:
        """The years of its messages, ascending."""
        ...

    def similar_terms(self, namespace: Namespace, term: str, *, limit: int = 12) -> list[str]:
        """Terms of the namespace that begin or end with this one (parts of compounds), most frequent first."""
        ...

    def nearest_word(self, namespace: Namespace, word: str) -> str | None:
        """The most frequent word that is spelled nearly so: for "did you mean"."""
        ...

    def passage_texts(self, namespace: Namespace, passages: Sequence[int]) -> list[PassageText]:
        """The texts of passages, in the order asked for."""
        ...

    # --- vectors ---------------------------------------------------------------------------------------------------
    def embedder(self, namespace: Namespace) -> str | None:
        """The name of the embedder that made the vectors of this namespace; None while there are none."""
        ...

    def set_embedder(self, namespace: Namespace, name: str) -> None:
        """Records it. Raises StoreError if vectors of another one are there."""
        ...

    def clear_passages(self, namespace: Namespace) -> None:
        """Throws away everything that is derived for search, and the embedder's name with it."""
        ...

    def has_quality(self, namespace: Namespace) -> bool:
        """Whether any passage has quality vectors."""
        ...

    def without_quality(self, namespace: Namespace, limit: int) -> list[PassageText]:
        """Said passages that have no quality vectors yet, newest first."""
        ...

    def store_quality(self, namespace: Namespace, rows: Sequence[QualityVectors]) -> None:
        """Stores the quality vectors of passages."""
        ...

    def token_rows(self, namespace: Namespace, passages: Sequence[int]) -> dict[int, TokenRows]:
        """The token vectors of those passages that have them."""
        ...

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def settle(self, namespace: Namespace) -> None:
        """Brings what was written in haste into its resting form (merging of index segments). Cheap when done."""
        ...

    def check(self, namespace: Namespace | None = None) -> list[Violation]:
        """Verifies every invariant; an empty list means that all hold."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...
