# Written by `python -m tools.write_async_stub` from the source; a test keeps it true. Do not edit.
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO, Literal

from recollect.answer.chat.session import Save
from recollect.answer.results import AskAnswer, AskEvent, ChatAnswer, ChatEvent, Report, ReportEvent, SavedReport
from recollect.answer.tools import MemoryTool, Toolbox
from recollect.answer.tools.base import FoundText, ToolAnswer
from recollect.answer.tools.toolbox import Provider
from recollect.context import Context, Patience, ToolNames
from recollect.context import IndexConfig as RecollectIndexConfig
from recollect.context.briefing import Brief
from recollect.derive.entities.entity import Adder, Entity
from recollect.derive.facts.fact import Fact
from recollect.derive.graph.reader import Graph, Paths, Relation
from recollect.derive.summaries.reading import Summary
from recollect.derive.tasks.runs import Backlog
from recollect.derive.tasks.worker import Consolidated
from recollect.derive.topics.reading import Topic, TopicSegment
from recollect.derive.worker import Done
from recollect.importers.base import Entry
from recollect.ingest.documents.importing import DocumentProgress, DocumentReport
from recollect.ingest.forget import Forgotten
from recollect.ingest.importing import ImportReport, Progress
from recollect.ingest.person import Person
from recollect.ingest.requested import By, GivenPart, Requested
from recollect.ingest.secrets import StoredSecret, TakenOut
from recollect.memory import Memory
from recollect.memory.async_derive import AsyncContext, Opening
from recollect.memory.handle import ConversationRow
from recollect.memory.integration import ConversationPage, Integration, T
from recollect.memory.knowledge import Day, Knowledge, Timeline
from recollect.memory.memory import Memory as MemoryMemory
from recollect.memory.upkeep import DeletedRow, Probe, Upkeep
from recollect.models.language.base import LanguageModel
from recollect.models.rerank import Reranker
from recollect.record import (
    NOTHING,
    Conversation,
    Document,
    Message,
    Metadata,
    Namespace,
    NodeId,
    Part,
    RoleName,
    Thread,
    ToolCall,
)
from recollect.runtime.files import Address
from recollect.search.query.request import GroupBy, Mode, Sort
from recollect.search.results.result import SearchResults
from recollect.store import Counts, IndexInfo, StoreInfo, Task, Violation

class AsyncMemory(AsyncContext):
    sync: Memory
    namespace: Namespace
    location: str
    def __init__(self, sync: Memory) -> None: ...
    @classmethod
    def open(
        cls,
        path: str | Path | Address | None = None,
        *,
        namespace: str = "default",
        embedder: str = "static",
        model: str | LanguageModel | Callable[[str], str] | None = None,
        asked_model: str | LanguageModel | Callable[[str], str] | None = None,
        reranker: str | Reranker | None = None,
        durable: bool = True,
        background: bool | None = None,
        chunk_tokens: int = 4000,
        chunk_overlap: int | None = None,
        on_wait: Callable[[], None] | None = None,
    ) -> Opening[AsyncMemory]: ...
    async def ask(
        self,
        question: str,
        *,
        intent: str | None = None,
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
    ) -> AskAnswer: ...
    def ask_stream(
        self,
        question: str,
        *,
        intent: str | None = None,
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
    ) -> AsyncGenerator[AskEvent]: ...
    def beside(self, namespace: str) -> MemoryMemory: ...
    async def brief(self, folder: str | Path | None = None, budget: int = 1500) -> Brief: ...
    async def chat(
        self,
        conversation_id: str | None,
        text: str,
        *,
        budget: int = 10000,
        mode: Mode = "auto",
        title: str = "",
        tools: bool = True,
        save: Save = "now",
    ) -> ChatAnswer: ...
    def chat_stream(
        self,
        conversation_id: str | None,
        text: str,
        *,
        budget: int = 10000,
        mode: Mode = "auto",
        title: str = "",
        tools: bool = True,
        save: Save = "now",
    ) -> AsyncGenerator[ChatEvent]: ...
    async def close(self) -> None: ...
    async def conversation(self, id: str) -> Thread: ...
    async def conversations(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ConversationRow]: ...
    async def delete(self, *ids: str) -> int: ...
    async def document(self, name: str, *, hidden_reports: bool = False) -> Document: ...
    def documents(self) -> AsyncGenerator[Document]: ...
    async def entities(self, *, type: str | None = None, limit: int = 50) -> list[Entity]: ...
    async def export(
        self, target: str | Path | BinaryIO, *, overwrite: bool = False, progress: Callable[[int], None] | None = None
    ) -> int: ...
    async def facts(
        self,
        about: str | None = None,
        as_of: str | datetime | None = None,
        include_past: bool = False,
        *,
        conversation: str | None = None,
    ) -> list[Fact]: ...
    async def forget(
        self,
        *ids: str,
        sources: str | Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
        confirm: Callable[[Forgotten], bool] | None = None,
    ) -> Forgotten: ...
    async def forget_person(
        self,
        name: str,
        *,
        mentions: bool | Callable[[Person], bool] = False,
        dry_run: bool = False,
        confirm: Callable[[Person], bool] | None = None,
    ) -> Person: ...
    async def import_documents(
        self, *paths: str | Path, again: bool = False, progress: Callable[[DocumentProgress], None] | None = None
    ) -> DocumentReport: ...
    async def import_file(
        self,
        *paths: str | Path,
        format: str | None = None,
        again: bool = False,
        progress: Callable[[Progress], None] | None = None,
        wanted: Callable[[Entry], Entry | None] | None = None,
    ) -> ImportReport: ...
    @property
    def integration(self) -> AsyncIntegration: ...
    @property
    def knowledge(self) -> AsyncKnowledge: ...
    async def latest(
        self, conversation_id: str, limit: int = 20, *, until: str = "", deleted: bool = False
    ) -> list[Message]: ...
    async def messages(self, ids: Iterable[str], *, forgotten: bool = False) -> list[Message]: ...
    async def prepare_context(
        self,
        text: str,
        conversation_id: str | None = None,
        budget: int | None = None,
        *,
        config: RecollectIndexConfig | Mapping[str, Any] | None = None,
        patience: Patience | None = None,
        known: Iterable[str] = (),
        tools: bool | ToolNames = True,
    ) -> Context: ...
    async def report(self, id: str) -> Report: ...
    async def reports(self) -> list[SavedReport]: ...
    async def research(
        self,
        question: str = "",
        *,
        resume: bool | str = False,
        rounds: int | None = None,
        calls: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
    ) -> Report: ...
    def research_stream(
        self,
        question: str = "",
        *,
        resume: bool | str = False,
        rounds: int | None = None,
        calls: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
    ) -> AsyncGenerator[ReportEvent]: ...
    async def resolve(self, name: str, *, deleted: bool = False) -> tuple[Thread, Message | None]: ...
    async def restore(self, *ids: str) -> int: ...
    async def search(
        self,
        query: str,
        *,
        limit: int = 10,
        group_by: GroupBy = "conversation",
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        kind: str | Sequence[str] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
        sort: Sort = "relevance",
        literal: bool = False,
        facets: bool = False,
        offset: int = 0,
    ) -> SearchResults: ...
    async def store_fact(
        self,
        content: str,
        concept: str = "",
        *,
        entity: str = "",
        value: str = "",
        category: str = "",
        confidence: float = 0.9,
        tags: Sequence[str] = (),
        said_by: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        said_at: datetime | None = None,
        before: str = "",
        ended: bool = False,
    ) -> Fact: ...
    async def store_message(
        self,
        content: str | Mapping[str, Any] | Sequence[Any] | None,
        role: RoleName = "user",
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        speaker: str | None = None,
        title: str = "",
        timestamp: datetime | date | str | float | None = None,
        kind: str = "said",
        model: str | None = None,
        parts: Sequence[Part] = (),
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> Message: ...
    async def store_messages(
        self, messages: Iterable[Mapping[str, Any]], *, conversation_id: str | None = None, title: str = ""
    ) -> list[Message]: ...
    async def store_tool_call(
        self,
        name: str,
        arguments: str | Mapping[str, Any],
        result: object,
        message_id: str,
        *,
        timestamp: datetime | date | str | float | None = None,
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> ToolCall: ...
    async def summaries(
        self,
        conversation_id: str | None = None,
        kind: str | None = None,
        *,
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> list[Summary]: ...
    def toolbox(self, *, max_tokens: int = 4500, read_only: bool = False, namespace: str = "") -> AsyncToolbox: ...
    async def topics(self, limit: int = 50) -> list[Topic]: ...
    async def update_message(self, id: str, content: str) -> Message: ...
    @property
    def upkeep(self) -> AsyncUpkeep: ...

class AsyncKnowledge:
    sync: Knowledge

    def __init__(self, sync: Knowledge) -> None: ...
    async def add_entity(
        self, name: str, type: str = "concept", *, sources: Sequence[str] = (), provenance: Adder = "stored"
    ) -> Entity: ...
    async def add_relationship(
        self,
        source: str,
        target: str,
        relation: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        sources: Sequence[str] = (),
        provenance: Adder = "stored",
    ) -> Relation: ...
    async def add_rule(self, text: str, *, confirmed: bool = True, said_by: str = "user") -> Fact: ...
    async def days(self, period: str) -> list[Day]: ...
    async def edit_entity(self, name: str, new_name: str | None = None, *, type: str | None = None) -> Entity: ...
    async def edit_fact(self, id: str, content: str | None = None, *, value: str | None = None) -> Fact: ...
    async def entity(self, name: str) -> Entity: ...
    async def forget_entity(self, name: str) -> Entity: ...
    async def forget_fact(self, id: str) -> str: ...
    async def graph(self, entity: str, depth: int = 1, limit: int = 150, *, include_past: bool = False) -> Graph: ...
    async def mentions(self, entity: str, other: str | None = None, limit: int = 50) -> list[Message]: ...
    async def merge_entities(self, name: str, into: str) -> Entity: ...
    async def merge_facts(self, keep: str, *others: str) -> Fact: ...
    async def paths(self, source: str, target: str, *, include_past: bool = False) -> Paths: ...
    async def pin_entity(self, name: str, *, pinned: bool = True) -> Entity: ...
    async def pin_fact(self, id: str, *, pinned: bool = True) -> Fact: ...
    async def resolve_fact(self, name: str) -> str: ...
    async def rules(self, *, offered: bool = False) -> list[Fact]: ...
    async def segments(self, conversation_id: str) -> list[TopicSegment]: ...
    async def timeline(self, topics: int = 12) -> Timeline: ...
    async def undo_entity(self, name: str) -> Entity: ...
    async def undo_fact(self, id: str) -> list[Fact]: ...
    async def unmerge_entity(self, name: str) -> Entity: ...

class AsyncUpkeep:
    sync: Upkeep

    def __init__(self, sync: Upkeep) -> None: ...
    async def backlog(self, *, namespaces: Sequence[str] | None = None) -> Backlog | None: ...
    async def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int: ...
    async def check(self) -> list[Violation]: ...
    async def consolidate(
        self, *, limit: int | None = None, again: bool = False, progress: Callable[[Consolidated], None] | None = None
    ) -> Consolidated: ...
    async def deleted(self, *, limit: int = 50, offset: int = 0) -> list[DeletedRow]: ...
    async def drop_namespace(self, name: str) -> bool: ...
    async def embed(self, *, progress: Callable[[int, int], None] | None = None, limit: int | None = None) -> int: ...
    @property
    def embedder_name(self) -> str: ...
    async def forget_secrets(
        self,
        *,
        sources: str | Sequence[str] = (),
        dry_run: bool = False,
        confirm: Callable[[TakenOut], bool] | None = None,
    ) -> TakenOut: ...
    async def index(self) -> IndexInfo: ...
    async def info(self) -> StoreInfo: ...
    async def maintain(self, budget: timedelta | None = None) -> bool: ...
    async def namespaces(self) -> list[Namespace]: ...
    async def probe(self) -> Probe: ...
    async def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int: ...
    async def repair(self, *, progress: Callable[[int, int], None] | None = None) -> list[Violation]: ...
    async def retry(self, *ids: str) -> int: ...
    async def secrets(self, *, sources: str | Sequence[str] = ()) -> list[StoredSecret]: ...
    async def stats(self) -> Counts: ...
    async def stored_embedder(self) -> str | None: ...
    async def tasks(
        self, state: Literal["due", "leased", "dead"] = "due", *, limit: int = 100
    ) -> list[tuple[Task, str]]: ...
    async def work(
        self,
        *,
        namespaces: Sequence[str] | None = None,
        once: bool = False,
        again: bool = False,
        stop: Event | None = None,
        is_over: Callable[[float, float | None], bool] | None = None,
        progress: Callable[[Done], None] | None = None,
    ) -> Done: ...

class AsyncIntegration:
    sync: Integration

    def __init__(self, sync: Integration) -> None: ...
    async def add_aliases(self, aliases: Mapping[str, Iterable[str]]) -> None: ...
    async def aliased(self, aliases: Iterable[str]) -> dict[NodeId, list[NodeId]]: ...
    async def conversation_named(self, id: str) -> Conversation | None: ...
    async def conversation_page(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> ConversationPage: ...
    async def fingerprint(self, ids: Iterable[str]) -> str: ...
    async def forgotten_among(self, texts: Iterable[str]) -> set[int]: ...
    async def import_growing(
        self,
        folder: str | Path,
        files: Iterable[str | Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        wanted: Callable[[Entry], Entry | None] | None = None,
    ) -> ImportReport: ...
    async def masked(self, value: T, *, spoken: str = "") -> T: ...
    async def record_request(
        self,
        by: By,
        parts: Iterable[GivenPart],
        *,
        text: str = "",
        conversation_id: str | None = None,
        message_id: str | None = None,
    ) -> None: ...
    async def requests(self, limit: int = 20) -> list[Requested]: ...
    async def resolve_references(self, conversation_id: str, question: str) -> str: ...
    async def store_tool_calls(self, calls: Iterable[Mapping[str, Any]], message_id: str) -> list[ToolCall]: ...
    async def tool_calls(self, ids: Iterable[str]) -> list[ToolCall]: ...
    async def update_messages(self, changes: Iterable[Mapping[str, str]]) -> list[Message]: ...

class AsyncToolbox:
    sync: Toolbox
    tools: tuple[MemoryTool, ...]
    def __init__(self, sync: Toolbox) -> None: ...
    async def call(self, name: str, arguments: object = None) -> ToolAnswer: ...
    async def cluster_summary(self, cluster_id: str) -> str: ...
    async def get_all_facts(self, limit: int = 50, offset: int = 0) -> list[Fact]: ...
    async def get_cluster(self, cluster_id: str, limit: int = 50) -> list[Message]: ...
    async def get_conversation_thread(self, message_id: str, depth: int = 5) -> list[Message]: ...
    async def get_message_by_id(self, id: str) -> Message: ...
    async def get_message_with_chunks(self, id: str) -> list[Message]: ...
    async def get_messages_by_ids(self, ids: Iterable[str]) -> list[Message]: ...
    async def get_period_messages(self, period: str, limit: int = 50, offset: int = 0) -> list[Message]: ...
    async def get_tool_call(self, id: str) -> ToolCall: ...
    async def get_tool_calls_by_message(self, message_id: str) -> list[ToolCall]: ...
    async def get_topic_messages(self, topic: str, limit: int = 50) -> list[Message]: ...
    @property
    def names(self) -> list[str]: ...
    async def nothing_said(self, period: str) -> str: ...
    def schemas(self, provider: Provider = "anthropic") -> list[dict[str, Any]]: ...
    async def search_and_retrieve(self, query: str, auto_limit: int = 5) -> list[Message]: ...
    async def search_facts(self, query: str, limit: int = 10) -> list[Fact]: ...
    async def vector_search(
        self, query: str, limit: int = 10, offset: int = 0, *, include_tool_calls: bool = True
    ) -> list[FoundText]: ...
