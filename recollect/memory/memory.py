"""The façade: one namespace of one store, with everything that can be done with it. The faces sit on this alone.

What nearly every program uses are calls of `Memory`; the rest is grouped under `knowledge`, `upkeep`, `integration` and
the toolbox. The work is done in the packages below.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from recollect.errors import Incomplete
from recollect.memory.handle import ConversationRow, Handle, writes
from recollect.record import (
    NOTHING,
    REPORTS,
    Conversation,
    Document,
    Kind,
    Message,
    Metadata,
    NodeId,
    Part,
    RoleName,
    Thread,
    ToolCall,
    Version,
)
from recollect.runtime.arguments import checked_arguments
from recollect.runtime.tracing import one_record, records, traced
from recollect.store import Where
from recollect.store.transfer import every

if TYPE_CHECKING:
    from recollect.answer.chat.session import Save
    from recollect.answer.results import AskAnswer, AskEvent, ChatAnswer, ChatEvent, Report, ReportEvent, SavedReport
    from recollect.answer.tools import Toolbox
    from recollect.context import Context, IndexConfig, Patience, ToolNames
    from recollect.context.briefing import Brief
    from recollect.derive.entities.entity import Entity
    from recollect.derive.facts.fact import Fact
    from recollect.derive.summaries.reading import Summary
    from recollect.derive.topics.reading import Topic
    from recollect.importers.base import Entry
    from recollect.ingest.documents.importing import DocumentProgress, DocumentReport
    from recollect.ingest.forget import Forgotten
    from recollect.ingest.importing import ImportReport, Progress
    from recollect.ingest.person import Person
    from recollect.memory.answering import Answering
    from recollect.memory.drafts import Drafts
    from recollect.memory.integration import Integration
    from recollect.memory.knowledge import Knowledge
    from recollect.memory.removal import Removal
    from recollect.memory.upkeep import Upkeep
    from recollect.search.query.request import GroupBy, Mode, Sort
    from recollect.search.results.result import SearchResults

T = TypeVar("T")

_ON_THE_WAY, _MOST_ON_THE_WAY = 16, 500  # messages that are read at once on the way up a conversation

#: What were calls of `Memory` itself, by where they are now. These names go with the next version.
_GROUPS = {
    "knowledge": (
        "add_entity add_relationship add_rule days edit_entity edit_fact entity forget_entity forget_fact graph "
        "mentions merge_entities merge_facts paths pin_entity pin_fact resolve_fact rules segments timeline "
        "undo_entity undo_fact unmerge_entity"
    ),
    "upkeep": (
        "backlog backup check consolidate deleted drop_namespace embed embedder_name forget_secrets index info "
        "maintain namespaces probe reindex repair retry secrets stats stored_embedder tasks work"
    ),
    "integration": (
        "add_aliases aliased conversation_named conversation_page fingerprint forgotten_among import_growing masked "
        "record_request requests resolve_references store_tool_calls tool_calls update_messages"
    ),
    "toolbox()": (
        "cluster_summary get_all_facts get_cluster get_conversation_thread get_message_by_id get_message_with_chunks "
        "get_messages_by_ids get_period_messages get_tool_call get_tool_calls_by_message get_topic_messages "
        "search_and_retrieve search_facts vector_search"
    ),
}
MOVED = {name: f"{group}.{name}" for group, names in _GROUPS.items() for name in names.split()}
MOVED |= {"recall": "search", "delete_message": "delete", "restore_message": "restore"}


@checked_arguments
class Memory:
    """A memory: one namespace of a store. Thread-safe; usable as a context manager. Open one with `recollect.open()`.

    `handle` is what its parts share; programs do without it.
    """

    def __init__(self, handle: Handle) -> None:
        self.handle, self.namespace, self.location = handle, handle.namespace, handle.location

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memory {self.namespace} in {self.location}>"

    if not TYPE_CHECKING:  # else no name that is misspelt would be an error of types

        def __getattr__(self, name: str) -> Any:
            """Calls of earlier versions, which warn."""
            return moved(self, name)

    def close(self) -> None:
        """Closes the store, once the turns that are being written behind their answers are. Further calls raise
        StoreError.
        """
        self.handle.close()

    def beside(self, namespace: str) -> Memory:
        """A memory of another namespace of the same store, for programs that serve many: it costs next to nothing and
        shares the connections, the models and the background of this one. Close it before this one, which closes the
        store. Raises InvalidInput for a name that cannot be used.
        """
        return Memory(self.handle.beside(namespace))

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known besides facts, entities, topics and summaries, and their correction by hand."""
        from recollect.memory.knowledge import Knowledge

        return Knowledge(self.handle)

    @cached_property
    def upkeep(self) -> Upkeep:
        """Checks, backups, the index, the background's work, and what is in the store."""
        from recollect.memory.upkeep import Upkeep

        return Upkeep(self.handle)

    @cached_property
    def integration(self) -> Integration:
        """For programs that stand between a model and those who use it: proxies, adapters, servers."""
        from recollect.memory.integration import Integration

        return Integration(self.handle)

    def toolbox(self, *, max_tokens: int = 4_500, read_only: bool = False, namespace: str = "") -> Toolbox:
        """The tools for a model: their schemas, a dispatcher of its calls, and what they do as Python calls. No answer
        has more than `max_tokens`; each names the `namespace`, where it is told.

        With `read_only` those that write are left out. Raises InvalidInput for too small a limit.
        """
        from recollect.answer.tools import Toolbox

        return Toolbox(self, max_tokens=max_tokens, read_only=read_only, namespace=namespace)

    # --- finding ---------------------------------------------------------------------------------------------------

    @traced("search_memory", records, query=True)
    def search(
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
    ) -> SearchResults:
        """Finds messages by meaning, words and relation; grouped by conversation, or one result a message.

        The query may hold filters: `source:claude since:2025-03 role:user "exact phrase" -word`. `kind` asks for
        these kinds alone: said, attachment, reasoning, tool, context, subagent, artifact, document, all; without any,
        what was said and the documents that answer. `role` and `conversation` leave documents out, which are said by
        nobody and are in no conversation. `until` includes the day, month or year it names, `before` does not.
        `mode`: auto (quality where its vectors are made), instant, quality. `sort`: relevance, newest. `literal` takes
        the query as one phrase, word for word. `facets` counts what matches by source, role, kind and month as well.
        `offset` gives further results: the `next` of those before.
        Raises InvalidInput, also for a source that is not there.
        """
        from recollect.search.query.request import Filters

        where = {"source": source, "role": role, "kind": kind, "conversation": conversation}
        filters = Filters.of(**where, since=since, until=until, before=before, mode=mode)
        search = self.handle.read_search(
            query, filters, limit=limit, group_by=group_by, sort=sort, literal=literal, facets=facets, offset=offset
        )
        return self.handle.searcher(search)

    def conversations(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ConversationRow]:
        """Conversations with their numbers of messages, newest first; of a time as people say it, too.

        Raises InvalidInput, also for a source that is not there.
        """
        where = self.handle.listing(source, title, since, until)
        with self.handle.space.view() as view:
            return ConversationRow.read(view, list(islice(every(view, Conversation, where), offset, offset + limit)))

    def conversation(self, id: str) -> Thread:
        """A conversation with everything in it. Raises NotFound."""
        return self.handle.conversation(id)

    def latest(self, conversation_id: str, limit: int = 20, *, until: str = "", deleted: bool = False) -> list[Message]:
        """The newest messages that were said on the active path of a conversation, or with `until` on the way to that
        message and with it, oldest first; none where it is not there. With `deleted` also those that were deleted
        softly.
        """
        found: list[Message] = []
        with self.handle.space.view() as view:
            end = None if until else view.end(NodeId(conversation_id))
            path = view.get(Message, [NodeId(until)]) if until else [end.leaf] if end and end.leaf else []
            path = [message for message in path if message.conversation_id == conversation_id]
            while path and len(found) < limit:
                found += [m for m in path if m.kind is Kind.SAID and not (m.erased or (m.deleted and not deleted))]
                path = view.above(path[-1].id, min(max(limit, _ON_THE_WAY), _MOST_ON_THE_WAY))
        return found[:limit][::-1]

    def messages(self, ids: Iterable[str], *, forgotten: bool = False) -> list[Message]:
        """Those messages that are there, in the order asked for; also what is left of `forgotten` ones, without words,
        if that is asked for.
        """
        with self.handle.space.view() as view:
            found = view.get(Message, [NodeId(i) for i in ids])
        return [message for message in found if forgotten or not message.erased]

    def documents(self) -> Generator[Document, None, None]:
        """The documents of the namespace, but for those that are hidden, and reports, which `reports` lists."""
        with self.handle.space.view() as view:
            for found in every(view, Document, Where(deleted=False)):
                if not (found.hidden or found.source == REPORTS):
                    yield found

    def document(self, name: str, *, hidden_reports: bool = False) -> Document:
        """A document by its id, the end of one, its path or its title; with `hidden_reports` also research that is not
        finished, and reports that were made of something deleted. Raises NotFound, InvalidInput for several.
        """
        from recollect.ingest.documents.importing import named

        with self.handle.space.view() as view:
            return named(view, name, hidden_reports=hidden_reports)

    def resolve(self, name: str, *, deleted: bool = False) -> tuple[Thread, Message | None]:
        """What a person means by an id, the end of one, a source's id or a part of a title: the conversation, and the
        message. It is a guess: show it before you change anything by it. With `deleted` also titles of conversations
        that were deleted softly. Raises NotFound, or InvalidInput where several are meant.
        """
        return self.handle.resolve(name, deleted=None if deleted else False)

    # --- answers ---------------------------------------------------------------------------------------------------

    @cached_property
    def _answering(self) -> Answering:
        from recollect.memory.answering import Answering

        return Answering(self.handle)

    def ask(
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
    ) -> AskAnswer:
        """Answers a question from what was said, with numbered citations, or says that the conversations do not say.

        By the model, where one is set; without one, or where it fails (`notes` say so), the answer is an extract: the
        best sentences as they were said. The question may hold filters, as that of `search`. `intent` (RETRIEVAL, QA,
        DECISION, CODE_LOOKUP, SYNTHESIS) is read from the question, unless given. Nothing is written. Raises
        InvalidInput, StoreError.
        """
        from recollect.answer.results import AskAnswer
        from recollect.search.query.request import Filters

        where = {"source": source, "role": role, "conversation": conversation}
        filters = Filters.of(**where, since=since, until=until, before=before, mode=mode)
        return end_of(self._answering.ask(question, intent, filters), AskAnswer)

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
    ) -> Generator[AskEvent, None, None]:
        """As `ask`, told while it happens: each `Step`, the `AnswerWords` of a model as they come, with checked
        citations, that it broke off and is asked for `Again`, and last the `AskAnswer`.
        """
        from recollect.search.query.request import Filters

        where = {"source": source, "role": role, "conversation": conversation}
        filters = Filters.of(**where, since=since, until=until, before=before, mode=mode)
        return self._answering.ask(question, intent, filters)

    def chat(
        self,
        conversation_id: str | None,
        text: str,
        *,
        budget: int = 10_000,
        mode: Mode = "auto",
        title: str = "",
        tools: bool = True,
        save: Save = "now",
    ) -> ChatAnswer:
        """Answers within a conversation, from what was said in it, then from all the rest, and writes the turn [2].

        Without a `conversation_id`, or with one that is not there yet, a new conversation begins. `budget` is how many
        tokens the model is given, besides what its `tools` answer. The turn is written in one transaction, `save` now
        or behind the answer; the next turn sees it either way. Without a model, or where it fails, the answer says so
        and quotes the messages that may answer. Raises InvalidInput, StoreError; then nothing was written.
        """
        from recollect.answer.results import ChatAnswer

        stream = self.chat_stream(conversation_id, text, budget=budget, mode=mode, title=title, tools=tools, save=save)
        return end_of(stream, ChatAnswer)

    def chat_stream(
        self,
        conversation_id: str | None,
        text: str,
        *,
        budget: int = 10_000,
        mode: Mode = "auto",
        title: str = "",
        tools: bool = True,
        save: Save = "now",
    ) -> Generator[ChatEvent, None, None]:
        """As `chat`, told while it happens: the words as they come (`AnswerWords`), tools that are called (`ToolUsed`),
        that an answer broke off and is asked for `Again`, and last the `ChatAnswer`. Whoever stops before that has no
        turn written.
        """
        from recollect.answer.chat.session import Options

        options = Options(budget=budget, mode=mode, title=title, with_tools=tools, save=save)
        return self._answering.chat(conversation_id, text, partial(self.toolbox, read_only=True), options)

    def research(
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
    ) -> Report:
        """Takes a question apart, searches for each part, looks again for what is missing, and writes a report with
        headings and numbered sources, which is saved as a document of the memory.

        By the model, where one is set, within `rounds` (2), `calls` (6), `tokens` (40,000) and `seconds` (180); without
        one, or where it fails (`notes` say so), by rules, and the report quotes. The question may hold filters, as that
        of `search`. What was interrupted is gone on with by `resume`: the newest, or that of an id, with its question
        and filters, and with the limits that it was begun with where no others are given; no answer of a model is paid
        for twice. A report rests on what was said, never on other reports. One that found nothing is not saved. Raises
        InvalidInput, NotFound, StoreError.
        """
        from recollect.answer.results import Report
        from recollect.search.query.request import Filters

        limits = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds}
        where = {"source": source, "role": role, "conversation": conversation}
        filters = Filters.of(**where, since=since, until=until, before=before, mode=mode)
        return end_of(self._answering.research(question, resume, limits, filters), Report)

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
    ) -> Generator[ReportEvent, None, None]:
        """As `research`, told while it happens: each `Step`, the `AnswerWords` of a model's report as they come, with
        citations already checked, that it broke off and is asked for `Again`, and last the `Report`. Whoever stops
        before that can go on with `resume`.
        """
        from recollect.search.query.request import Filters

        limits = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds}
        where = {"source": source, "role": role, "conversation": conversation}
        filters = Filters.of(**where, since=since, until=until, before=before, mode=mode)
        return self._answering.research(question, resume, limits, filters)

    def reports(self) -> list[SavedReport]:
        """The reports that are kept and the research that was interrupted, the newest first. `document` of an id gives
        the text of a report.
        """
        return self._answering.desk.reports()

    def report(self, id: str) -> Report:
        """A report that is kept, by its id or the end of one, with what it cites and is there still. Raises NotFound,
        InvalidInput.
        """
        from recollect.answer.research.writing import report_of

        document = self._answering.desk.finished(id)
        with self.handle.space.view() as view:
            return report_of(view, document)

    @traced("search_memory", lambda context: records(context.named_ids()), query=True)
    def prepare_context(
        self,
        text: str,
        conversation_id: str | None = None,
        budget: int | None = None,
        *,
        config: IndexConfig | Mapping[str, Any] | None = None,
        patience: Patience | None = None,
        known: Iterable[str] = (),
        tools: bool | ToolNames = True,
    ) -> Context:
        """What a model needs of everything that was said to answer `text`, in at most `budget` tokens [1, 4].

        Your rules, the newest messages (of a conversation, or of all), summaries, current facts, what answers in full,
        and an index of the rest in the form that its size asks for. `config` (or INDEX_… in the environment) sets the
        index, `patience` (or VECTOR_SEARCH_TIMEOUT and INDEX_BUILD_TIMEOUT) how long is waited before less is handed
        out. `known` are messages that the model is sent anyway. Without `tools` nothing is named that only they could
        open; who has others than those of the `toolbox` names them. Raises InvalidInput where the text alone is over
        the budget, NotFound for an unknown conversation.
        """
        build = self._answering.context_builder(config, patience, tools=tools)
        return build(text, NodeId(conversation_id) if conversation_id else None, budget, frozenset(map(NodeId, known)))

    def brief(self, folder: str | Path | None = None, budget: int = 1_500) -> Brief:
        """What matters for work in a folder, for a coding agent at the start of a session: how the last session there
        ended, what was left open, what stands of the person in every context, what is known from there, and the
        sessions before, in at most `budget` tokens.

        Sessions belong to a folder where they ran in it, in its repository, or below. Without a folder it is the one of
        this process. Rules come first. Its `text` is empty where nothing was said there and there are none. Raises
        InvalidInput for a budget under 200.
        """
        from recollect.context.briefing import brief_of
        from recollect.context.standing import Read

        handle = self.handle
        with handle.space.view() as view:
            brief = brief_of(Read(view, handle.kept), Path(folder or Path.cwd()), budget, handle.clock(), Path.home())
            masked = handle.masking.of(view).all(brief)
            return replace(masked, folder=brief.folder, name=brief.name)

    # --- what is known ---------------------------------------------------------------------------------------------

    def facts(
        self,
        about: str | None = None,
        as_of: str | datetime | None = None,
        include_past: bool = False,
        *,
        conversation: str | None = None,
    ) -> list[Fact]:
        """What is held true, pinned facts first, then the newest. `about` is whom or what it concerns ("Luna", "me").

        `as_of` asks what was believed at a time ("2025-03", "last spring": at its end); `include_past` shows what no
        longer holds as well; with a `conversation` (its id) only what its messages prove, whomever it is about. Raises
        InvalidInput for what is no time.
        """
        from recollect.derive.facts.fact import find_facts, moment_of

        now = self.handle.clock()
        moment = None if as_of is None else moment_of(as_of, now)
        of = NodeId(conversation) if conversation else None
        with self.handle.space.view() as view:
            return find_facts(view, about, moment, now=now, include_past=include_past, conversation=of)

    def entities(self, *, type: str | None = None, limit: int = 50) -> list[Entity]:
        """The people, places, tools and other names that messages mention, the most salient first [2]."""
        from recollect.derive.entities.directory import Directory, salient
        from recollect.derive.entities.entity import as_type

        with self.handle.space.view() as view:
            found = self.handle.kept.of(view.stamp, "entities", Directory(view).all)
        return salient(found, self.handle.clock(), None if type is None else as_type(type), limit)

    def topics(self, limit: int = 50) -> list[Topic]:
        """What many conversations are about, the largest first, each with its period [4]."""
        from recollect.derive.topics import reading

        with self.handle.space.view() as view:
            return reading.topics(view, limit)

    def summaries(
        self,
        conversation_id: str | None = None,
        kind: str | None = None,
        *,
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> list[Summary]:
        """What messages come down to, by time: of a conversation, or of all; `kind` is conversation, l1, l2, segment,
        period or topic. `since` and `before` ask for those of what began in a time. Made in the background, or by
        `upkeep.consolidate`. Raises InvalidInput for another kind.
        """
        from recollect.derive.summaries.reading import summaries

        with self.handle.space.view() as view:
            return summaries(view, NodeId(conversation_id) if conversation_id else None, kind, since, before)

    # --- writing ---------------------------------------------------------------------------------------------------

    @property
    def _drafts(self) -> Drafts:
        from recollect.memory.drafts import Drafts

        return Drafts(self.handle.clock, self.handle.ids, self.handle.message)

    @traced("create_memory", lambda report: records(report.written.messages))
    @writes
    def import_file(
        self,
        *paths: str | Path,
        format: str | None = None,
        again: bool = False,
        progress: Callable[[Progress], None] | None = None,
        wanted: Callable[[Entry], Entry | None] | None = None,
    ) -> ImportReport:
        """Imports exports: files, folders, archives; the format is detected unless it is named.

        Importing again changes nothing; a newer export adds what is new. What was forgotten stays away, unless `again`
        brings it back. `wanted` gives each file as it is to be read, or None to keep it out. Raises
        NotFound, ImportProblem, StoreError.
        """
        importing = self.handle.importing(progress, wanted, again=again)
        return importing([Path(path).expanduser() for path in paths], format)

    @writes
    def import_documents(
        self,
        *paths: str | Path,
        again: bool = False,
        progress: Callable[[DocumentProgress], None] | None = None,
    ) -> DocumentReport:
        """Imports text, Markdown, HTML and PDF files and whole folders of them; searches find them beside messages [2].

        Importing again leaves alone what is unchanged, replaces what has changed, and reports what is gone. What was
        forgotten stays away under any name, unless `again` brings it back. Raises NotFound, ImportProblem, StoreError.
        """
        from recollect.ingest.documents.importing import DocumentImporting

        importing = DocumentImporting(self.handle.space, self.handle.ingest, progress, again=again)
        return importing([Path(path).expanduser() for path in paths])

    @traced("create_memory", one_record)
    @writes
    def store_message(
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
    ) -> Message:
        """Stores one message, durably, and finds it from then on; a long one is cut in chunks [4].

        `content` is a text, or content parts as OpenAI and Anthropic write them; a developer is the system. A day as
        the `timestamp` is its beginning, in UTC. Without a conversation that of `parent_id` goes on, or a new one
        begins. Below `parent_id` instead of the end it opens a branch. What Recollect itself handed out as context is
        cut out first. Raises InvalidInput, NotFound.
        """
        drafted = self._drafts.message(
            content,
            role,
            conversation_id=conversation_id,
            parent_id=parent_id,
            speaker=speaker,
            title=title,
            timestamp=timestamp,
            kind=kind,
            model=model,
            parts=parts,
            metadata=metadata,
            id=id,
        )
        return self.handle.ingest.append(*drafted)

    @traced("create_memory", records)
    @writes
    def store_messages(
        self, messages: Iterable[Mapping[str, Any]], *, conversation_id: str | None = None, title: str = ""
    ) -> list[Message]:
        """Stores several messages of one conversation in one transaction, in order: all of them, or none.

        Each is a mapping with `content`, and what else `store_message` takes: `role`, `speaker`, `parent_id`,
        `timestamp`, `kind`, `model`, `parts`, `metadata`, `id`; and `tool_calls`, the calls of tools that were made
        with it, each a mapping with what `store_tool_call` takes. A parent may be one of them. Raises InvalidInput,
        NotFound.
        """
        drafted = self._drafts.messages(messages, conversation_id, title)
        if not drafted:
            return []
        entries: list[tuple[Message, Sequence[ToolCall]]] = []
        for _, message, calls in drafted:
            entries += [(message, ()), *((result, [call]) for result, call in calls)]
        own = {message.id for _, message, _ in drafted}
        return [one for one in self.handle.ingest.append_all(drafted[0][0], entries) if one.id in own]

    @traced("create_memory", one_record)
    @writes
    def store_tool_call(
        self,
        name: str,
        arguments: str | Mapping[str, Any],
        result: object,
        message_id: str,
        *,
        timestamp: datetime | date | str | float | None = None,
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> ToolCall:
        """Stores a tool call with its result below a message, as a message of kind `tool` in the conversation [4].

        `arguments` and `result` that are no text are kept as JSON. What the tools of Recollect gave is stored already,
        and cut out. A call that is told late disturbs nothing: its result stands behind what was said since.
        Raises NotFound, InvalidInput.
        """
        call = {"name": name, "arguments": arguments, "result": result, "timestamp": timestamp, "metadata": metadata}
        return self._drafts.store_calls(self.handle, [{**call, "id": id}], message_id, at_end=True)[0]

    @traced("upsert_memory", one_record)
    @writes
    def store_fact(
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
    ) -> Fact:
        """Stores a fact as it is told [3]. It settles with what messages say: of what has one value at a time
        (`concept`: home, job, weight …) it takes the place of what was said before; the same again is the same fact.
        What is left out, rules read from `content`.

        It is evidence for the time at which it was said, `said_at` (now), or for as long as is told: it holds `since`
        a time, or held `until` one. What held `before` another value takes its place in the history, and what is
        `ended` holds no longer. Raises InvalidInput.
        """
        from recollect.derive.facts.stored import told_fact

        told = told_fact(
            content,
            concept=concept,
            entity=entity,
            value=value,
            category=category,
            confidence=confidence,
            tags=tags,
            said_by=said_by,
            since=since,
            until=until,
            said_at=said_at,
            before=before,
            ended=ended,
            now=self.handle.clock(),
            id=self.handle.ids(),
        )
        return self.handle.corrections.store(self.handle.as_left(told))

    @traced("update_memory", one_record)
    @writes
    def update_message(self, id: str, content: str) -> Message:
        """Gives a message a new wording; the old ones are kept. Same id, new chunks and vectors. Raises NotFound, and
        InvalidInput for a chunk: the message is edited as a whole [4].
        """
        rewordings = self._drafts.rewordings([{"id": id, "content": content}])
        return self.handle.ingest.edit_all(rewordings, Version("", self.handle.clock()))[0]

    # --- removing --------------------------------------------------------------------------------------------------

    @property
    def _removal(self) -> Removal:
        from recollect.memory.removal import Removal

        return Removal(self.handle)

    @traced("delete_memory", records)
    @writes
    def delete(self, *ids: str) -> int:
        """Deletes softly: no search or count shows it, the record keeps it. Returns how many messages.

        `ids` are whole ids of messages and conversations; `resolve` finds them by a title or the end of an id. Raises
        NotFound.
        """
        return self._removal.delete(ids)

    @traced("update_memory", records)
    @writes
    def restore(self, *ids: str) -> int:
        """Takes soft deletions back, by whole ids of messages and conversations; returns how many messages. Raises
        NotFound.
        """
        return self._removal.restore(ids)

    @traced("delete_memory", lambda gone: records(gone.messages))
    @writes
    def forget(
        self,
        *ids: str,
        sources: str | Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
        confirm: Callable[[Forgotten], bool] | None = None,
    ) -> Forgotten:
        """Erases for good: no table, index or file holds the words any longer, and importing does not bring them back.

        `ids` are whole ids of messages, conversations and documents; `resolve` and `document` find them by a title or
        the end of an id. `sources`, `since`, `until` and `before` choose among all messages, or among those named:
        `before="6 months ago"` is what is older. `everything` is the whole namespace. Returns what goes. `confirm` is
        shown it before anything does: unless it agrees, nothing goes, and what came in meanwhile stays. Raises
        NotFound, InvalidInput where nothing is named.
        """
        chosen = self._removal.selection(ids, sources, since, until, before, everything=everything)
        return self._removal.forget(chosen, dry_run=dry_run, confirm=confirm)

    @traced("delete_memory", lambda person: records(len(person.said)))
    @writes
    def forget_person(
        self,
        name: str,
        *,
        mentions: bool | Callable[[Person], bool] = False,
        dry_run: bool = False,
        confirm: Callable[[Person], bool] | None = None,
    ) -> Person:
        """Forgets a person under all names that the memory takes for theirs: what they said and all facts about them
        go for good, and they are listed no longer. With `mentions` so does every message of others and every document
        that names them, and no node holds the name any more; the title of a conversation that names them becomes the
        first words of a message that does not. Else all these stay.

        `confirm` is shown what there is before anything goes, and `mentions`, where it is a function, after that.
        Nothing goes that they were not shown. Raises NotFound, InvalidInput for you yourself.
        """
        return self._removal.forget_person(name, mentions, dry_run=dry_run, confirm=confirm)

    def export(
        self,
        target: str | Path | BinaryIO,
        *,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Writes the whole namespace as a dump that `import_file` reads back without loss; returns the records.

        A file appears whole or not at all, and is yours alone to read. Something else than a dump is replaced only
        where `overwrite` says so. Raises InvalidInput, StoreError, and Incomplete for a damaged memory, once everything
        that can be read is written: the last line counts what is lost.
        """
        from recollect.runtime.files import whole_file
        from recollect.store.transfer import dump

        if isinstance(target, str | Path):
            with whole_file(Path(target).expanduser(), overwrite=overwrite) as stream:
                dumped = dump(self.handle.space, stream, progress)
        else:
            dumped = dump(self.handle.space, target, progress)
        if dumped.lost is not None:
            raise Incomplete(
                f"{self.location} is damaged. Everything that can be read was exported.",
                records=dumped.records,
                lost=asdict(dumped.lost),
                hint="Import it into a new memory, then import the original exports again for what is lost.",
            )
        return dumped.records


def moved(memory: Any, name: str) -> Any:
    """What was a call of `Memory` or `AsyncMemory`, with a warning that says where it is now."""
    place = MOVED.get(name)
    if place is None:
        raise AttributeError(f"{type(memory).__name__!r} object has no attribute {name!r}")
    warnings.warn(f"memory.{name} goes with the next version: use memory.{place}", DeprecationWarning, stacklevel=3)
    group, _, own = place.rpartition(".")
    part = memory.toolbox() if group == "toolbox()" else getattr(memory, group) if group else memory
    return getattr(part, own)


def end_of(events: Iterable[object], kind: type[T]) -> T:
    """The last event of a stream, which is of this kind: what the call without a stream gives back."""
    *_, last = events
    assert isinstance(last, kind)
    return last
