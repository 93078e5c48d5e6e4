"""What is shown and no record says: lists, rows, and what came of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from recollect.faces.present.views import Shown
from recollect.record import Conversation, Document, Message
from recollect.version import VERSION

if TYPE_CHECKING:
    from recollect.ingest.secrets import StoredSecret
    from recollect.memory import Memory
    from recollect.store import Task
    from recollect.store.results import Violation

T = TypeVar("T")


@dataclass(frozen=True)
class Items(Shown, Generic[T]):
    """Some of a list."""

    items: Sequence[T]
    next: str | None = None


@dataclass(frozen=True)
class ClusterView(Shown):
    """Messages that belong together, the most typical first."""

    items: Sequence[Message]
    next: str | None
    summary: str


@dataclass(frozen=True)
class ResolvedView(Shown):
    """What a name means: a conversation, and a message of it if the name is a message's."""

    conversation: Conversation
    message: Message | None


@dataclass(frozen=True)
class DocumentRow(Shown):
    """A document of a list."""

    id: str
    title: str
    source: str
    path: str | None
    created: datetime | None
    characters: int
    versions: int

    @classmethod
    def of(cls, document: Document, **more: str) -> Self:
        """That of a document."""
        return cls(
            document.id,
            document.title,
            document.source,
            document.metadata.get("path"),
            document.created,
            len(document.content),
            len(document.versions),
            **more,
        )


@dataclass(frozen=True)
class DocumentView(DocumentRow):
    """A document with its text."""

    content: str

    @classmethod
    def of(cls, document: Document, **more: str) -> Self:
        """That of a document."""
        return super().of(document, content=document.content, **more)


@dataclass(frozen=True)
class TaskView(Shown):
    """What a worker has to do, is doing, or has given up."""

    id: str
    kind: str
    subject: str | None
    due: datetime | None
    reason: str | None

    @classmethod
    def of(cls, task: Task, reason: str) -> TaskView:
        """That of a task, and why it failed last."""
        return cls(task.id, task.kind, task.subject, task.due, reason or None)


@dataclass(frozen=True)
class IndexView(Shown):
    """What search reads, and what is being built beside it."""

    generation: int
    embedder: str | None
    quality: bool
    rebuilding: bool

    @classmethod
    def of(cls, memory: Memory) -> IndexView:
        """That of a namespace."""
        found = memory.upkeep.index()
        name = found.embedder.name if found.embedder else None
        return cls(found.generation, name, found.quality, found.building is not None)


@dataclass(frozen=True)
class StoreView(Shown):
    """About the whole store, and the handle on it."""

    location: str | None
    engine: str
    layout: int
    bytes: int | None
    namespace: str
    embedder: str
    stored_embedder: str | None
    version: str

    @classmethod
    def of(cls, memory: Memory, *, is_whole: bool) -> StoreView:
        """Of who reaches a namespace alone, neither the place nor the size is told."""
        info, name = memory.upkeep.info(), str(memory.namespace)
        place, size = (memory.location, info.bytes or None) if is_whole else (None, None)
        told = memory.upkeep.embedder_name, memory.upkeep.stored_embedder(), VERSION
        return cls(place, info.engine, info.schema, size, name, *told)


@dataclass(frozen=True)
class StateView(Shown):
    """How far the background work is."""

    messages: int
    said_passages: int
    quality: int
    due: int
    leased: int
    dead: int
    rebuilding: bool

    @classmethod
    def of(cls, memory: Memory) -> StateView:
        """That of a namespace."""
        counts = memory.upkeep.stats()
        due, leased, dead = (counts.tasks.get(state, 0) for state in ("due", "leased", "dead"))
        is_building = memory.upkeep.index().building is not None
        return cls(counts.messages, counts.said_passages, counts.quality, due, leased, dead, is_building)


@dataclass(frozen=True)
class CheckedView(Shown):
    """What is wrong; nothing, where all is well."""

    ok: bool
    violations: Sequence[Violation]


@dataclass(frozen=True)
class Secrets(Shown):
    """The secrets that are stored."""

    secrets: Sequence[StoredSecret]


@dataclass(frozen=True)
class BackedUp(Shown):
    """The copy."""

    file: str
    bytes: int


@dataclass(frozen=True)
class ToolDescriptions(Shown):
    """What a model is told of the tools, in the shape of a provider."""

    tools: Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Whole(Shown):
    """The question made whole, or as it was."""

    question: str


@dataclass(frozen=True)
class FactId(Shown):
    """The id of a fact: what corrections take, and what takes them back."""

    id: str


@dataclass(frozen=True)
class Fingerprint(Shown):
    """What changes when something that was handed out is not so any more."""

    fingerprint: str


@dataclass(frozen=True)
class Counted(Shown):
    """How many messages."""

    messages: int


@dataclass(frozen=True)
class Namespaces(Shown):
    """Those that hold anything."""

    namespaces: Sequence[str]


@dataclass(frozen=True)
class Retried(Shown):
    """How many tasks will be tried again."""

    retried: int


@dataclass(frozen=True)
class Made(Shown):
    """How many there were."""

    made: int


@dataclass(frozen=True)
class Dropped(Shown):
    """Whether there was anything to remove."""

    dropped: bool


@dataclass(frozen=True)
class Maintained(Shown):
    """Whether there is more to do."""

    more: bool


@dataclass(frozen=True)
class ProblemView(Shown):
    """An error, as RFC 9457 has it, with the `code` and the `hint` of the command line."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
