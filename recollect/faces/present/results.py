"""What is shown and no record says: lists, rows, and what came of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from recollect.faces.present.names import matches, number, source_label
from recollect.faces.present.views import ViewModel, as_json
from recollect.record import Conversation, Document, Message, iso
from recollect.version import VERSION

if TYPE_CHECKING:
    from recollect.ingest.importing import ImportReport
    from recollect.ingest.secrets import StoredSecret
    from recollect.memory import Memory
    from recollect.search.results.result import SearchResults
    from recollect.store import Counts, Task
    from recollect.store.results import Violation


T = TypeVar("T")


@dataclass(frozen=True)
class PageView(ViewModel, Generic[T]):
    """Some of a list."""

    items: Sequence[T]
    next: str | None = None


@dataclass(frozen=True)
class ClusterView(ViewModel):
    """Messages that belong together, the most typical first."""

    items: Sequence[Message]
    next: str | None
    summary: str


@dataclass(frozen=True)
class ResolvedView(ViewModel):
    """What a name means: a conversation, and a message of it if the name is a message's."""

    conversation: Conversation
    message: Message | None


@dataclass(frozen=True)
class DocumentRow(ViewModel):
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
class TaskView(ViewModel):
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
class IndexView(ViewModel):
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
class StoreView(ViewModel):
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
class StateView(ViewModel):
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
class CheckedView(ViewModel):
    """What is wrong; nothing, where all is well."""

    ok: bool
    violations: Sequence[Violation]


@dataclass(frozen=True)
class SecretsView(ViewModel):
    """The secrets that are stored."""

    secrets: Sequence[StoredSecret]


@dataclass(frozen=True)
class BackedUp(ViewModel):
    """The copy."""

    file: str
    bytes: int


@dataclass(frozen=True)
class ToolDescriptions(ViewModel):
    """What a model is told of the tools, in the shape of a provider."""

    tools: Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Whole(ViewModel):
    """The question made whole, or as it was."""

    question: str


@dataclass(frozen=True)
class FactId(ViewModel):
    """The id of a fact: what corrections take, and what takes them back."""

    id: str


@dataclass(frozen=True)
class Fingerprint(ViewModel):
    """What changes when something that was handed out is not so any more."""

    fingerprint: str


@dataclass(frozen=True)
class Counted(ViewModel):
    """How many messages."""

    messages: int


@dataclass(frozen=True)
class Namespaces(ViewModel):
    """Those that hold anything."""

    namespaces: Sequence[str]


@dataclass(frozen=True)
class Retried(ViewModel):
    """How many tasks will be tried again."""

    retried: int


@dataclass(frozen=True)
class Made(ViewModel):
    """How many there were."""

    made: int


@dataclass(frozen=True)
class Dropped(ViewModel):
    """Whether there was anything to remove."""

    dropped: bool


@dataclass(frozen=True)
class Maintained(ViewModel):
    """Whether there is more to do."""

    more: bool


@dataclass(frozen=True)
class ProblemView(ViewModel):
    """An error, as RFC 9457 has it, with the `code` and the `hint` of the command line."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""


def import_document(report: ImportReport, namespace: Counts) -> dict[str, Any]:
    """The document of `import --json`: the report, with more of what is stored than it takes over HTTP."""
    shown: dict[str, Any] = as_json(report)
    stored = report.stored
    shown["stored"] |= {
        "other_branches": stored.messages - stored.active,
        "documents": report.documents,
        "sources": {source_label(name): count for name, count in stored.by_source.items()},
        "first": iso(stored.first),
        "last": iso(stored.last),
    }
    return shown | {"quality": {"made": namespace.quality, "wanted": namespace.said_passages}}


# A search that found nothing: what was searched, and what another way of asking would find.


class EmptyResults:
    """What to say of it, read when it is said. `filters` are those of the search, as `Memory.search` takes them."""

    def __init__(self, memory: Memory, found: SearchResults, query: str, filters: Mapping[str, Any]) -> None:
        self._memory, self.found, self._query, self._filters = memory, found, query, filters

    @cached_property
    def stats(self) -> Counts:
        """What is in the memory."""
        return self._memory.upkeep.stats()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that could be found."""
        return not (self.stats.conversations or self.stats.documents)

    @cached_property
    def searched(self) -> str:
        """As in "402 Claude conversations"."""
        stats, sources = self.stats, self._filters.get("source", ())
        if len(sources) == 1:
            return number(
                stats.by_source.get(sources[0].lower(), 0), f"{source_label(sources[0].lower())} conversation"
            )
        conversations = number(stats.conversations, "conversation")
        return f"{conversations} and {number(stats.documents, 'document')}" if stats.documents else conversations

    @cached_property
    def meant(self) -> tuple[str, str] | None:
        """What may have been meant, and how much that finds."""
        return self._counted(self.found.suggestion or self.found.corrected or "", self._filters)

    @cached_property
    def unfiltered(self) -> tuple[str, str] | None:
        """The words without filters and operators, and how much they find."""
        from recollect.search.query.request import parse_query

        plain = parse_query(self._query).text
        return self._counted(plain, {}) if any(self._filters.values()) or plain != self._query else None

    def _counted(self, words: str, filters: Mapping[str, Any]) -> tuple[str, str] | None:
        """Words with how much a search for them finds; None for nothing."""
        found = self._memory.search(words, limit=1, facets=True, **filters) if words else None
        return (words, matches(found)) if found and found.total else None
