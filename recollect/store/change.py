"""What is written: one `Change` is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.errors import StoreError
from recollect.record import Chunk, Conversation, Document, Edge, Message, Node, NodeId, ToolCall, Turn
from recollect.store.passages import EmbedderId, Passage, QualityVectors

#: What is kept. All but chunks have an id of their own that `View.get` finds; chunks are read with their parent.
Record = Conversation | Message | ToolCall | Turn | Chunk | Document | Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A change of state that leaves the words alone. Deleting removes the passages of a message and its tool calls;
    restoring makes none. `active`: on the path that is shown first. `state` is of derived nodes (`Node.state`): another
    one than "live" removes their passages.
    """

    ids: Sequence[NodeId]
    deleted: bool | None = None
    active: bool | None = None
    state: str | None = None


#: The key of an edge: source, type, target, name.
EdgeKey = tuple[NodeId, str, NodeId, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChange:
    """What a change makes findable. An owner's passages (of a message, tool call, document, conversation by its title,
    derived node) replace all that it had; () removes them. A node that is put or marked with another state than "live"
    loses its own, unless the same change gives it others (FINDABLE_STATES). Raises WrongEmbedder where `embedder` is
    not that of the generation.

    `generation`: None is the one that search reads; another one is being built, and takes only passages of owners that
    are there. `built` is then how far the builder has come: a conversation or document id.
    """

    embedder: EmbedderId | None = None  # None only where there is nothing but removals and quality vectors
    passages: Mapping[NodeId, Sequence[Passage]] = field(default_factory=dict)
    quality: Sequence[QualityVectors] = ()
    generation: int | None = None
    built: NodeId | None = None
    refreshed: Sequence[NodeId] = ()  # of `IndexInfo.todo`, done with this change


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Work for later, in the same transaction as what it is about. A task that is there already is left as it is."""

    id: NodeId
    kind: str
    subject: NodeId | None = None
    payload: bytes = b""
    due: datetime | None = None  # None: at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A task that a worker holds until `until`. `answer` is what an earlier attempt kept before it was applied."""

    task: Task
    fence: int
    until: datetime
    attempt: int  # 1 for the first
    answer: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One transaction; written twice it is written once.

    `expect` holds the revisions that it was planned on, by the id of a conversation, document or derived node (0: it is
    not there); another one in the store raises Stale and nothing is written. The tasks of `leases` are done by this
    change, else Fenced; one of the same id may be put anew in it. `put` replaces records whole, by id, and the chunks
    of every message, tool call and document that is put are those in the same change. `digests` are fingerprints of
    imported conversations; a conversation that is written without one loses its own. What was erased is put back only
    by `revive`, and has no edges until then. What is only derived from a namespace never `begins` one: where that was
    dropped meanwhile, nothing is written, and the leases are lost (Fenced).
    """

    expect: Mapping[NodeId, int] = field(default_factory=dict)
    leases: Sequence[Lease] = ()
    put: Sequence[Record] = ()
    digests: Mapping[NodeId, str] = field(default_factory=dict)
    revive: bool = False
    mark: Sequence[Mark] = ()
    edges: Sequence[Edge] = ()
    cut: Sequence[EdgeKey] = ()
    index: IndexChange | None = None
    tasks: Sequence[Task] = ()
    begins: bool = True


# What the port of the stores raises, beside the errors of the package: for its callers within Recollect.


class Stale(Exception):
    """These nodes were written by somebody else since the change was planned: read again, plan again."""

    def __init__(self, ids: Collection[NodeId]) -> None:
        super().__init__(", ".join(ids))
        self.ids = tuple(ids)


class Fenced(Exception):
    """The lease has run out and the task may be somebody else's by now: drop the work."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(f"Task {lease.task.id} is no longer held by this lease.")


class WrongEmbedder(StoreError):
    """The vectors of a change were made by another embedder than those of the generation that they are for."""

    code = "wrong_embedder"


class IndexDamaged(StoreError):
    """What is derived for search cannot be read; the record can (`View.scan`), and it is made anew from that."""

    code = "index_damaged"
