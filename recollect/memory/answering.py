"""Contexts, answers, chats and reports: each is put together here of the parts of a handle."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.memory.handle import LIVE_SOURCE, Handle
from recollect.record import checked_id, iso

if TYPE_CHECKING:
    from recollect.answer.ask import Remembered
    from recollect.answer.chat.session import Chat, Options
    from recollect.answer.research.saving import ResearchRun, ResearchStore
    from recollect.answer.results import AskEvent, ChatEvent, ReportEvent
    from recollect.answer.tools import Toolbox
    from recollect.context import IndexConfig, Patience, ToolNames
    from recollect.context.building import ContextBuilder
    from recollect.search.query.request import Filters, Search

_FIRST = 6


class Answering:
    """What answers, on one handle; the calls are described where they are offered, in recollect/memory/memory.py."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def context_builder(
        self,
        config: IndexConfig | Mapping[str, Any] | None = None,
        patience: Patience | None = None,
        *,
        tools: bool | ToolNames = True,
    ) -> ContextBuilder:
        """What builds every context: of `prepare_context`, of chats, of the proxy and of MCP."""
        from recollect.context.building import ContextBuilder
        from recollect.context.settings import IndexConfig, Patience, ToolNames

        handle = self._handle
        return ContextBuilder(
            handle.space,
            handle.kept,
            handle.embedder,
            handle.make_quality,
            handle.clock,
            IndexConfig.of(config),
            patience or Patience.from_environment(),
            tools=ToolNames() if tools is True else tools or None,
            masking=handle.masking,
        )

    # --- ask -------------------------------------------------------------------------------------------------------

    def ask(self, question: str, intent: str | None, filters: Filters) -> Generator[AskEvent, None, None]:
        """The events of an answer."""
        from recollect.answer.ask import NO_QUESTION, Asker
        from recollect.answer.intents import named_intent

        handle = self._handle
        search = handle.read_search(question, filters, limit=10, group_by="message", otherwise=NO_QUESTION)
        yield from Asker(handle.searcher, handle.space, self._remembered).events(
            search, handle.answering(question), named_intent(intent)
        )

    @cached_property
    def _remembered(self) -> Remembered:
        """What models made of questions."""
        from recollect.answer.ask import Remembered

        return Remembered()

    # --- chat ------------------------------------------------------------------------------------------------------

    def chat(
        self, conversation_id: str | None, text: str, tools: Callable[[], Toolbox], options: Options
    ) -> Generator[ChatEvent, None, None]:
        """The events of a turn, which is written."""
        own = checked_id(conversation_id, "conversation_id") if conversation_id else None
        try:
            yield from self.chats(tools).turn(own, text, self._handle.answering(text), options)
        finally:
            self._handle.wrote()

    def chats(self, tools: Callable[[], Toolbox]) -> Chat:
        """What answers within conversations."""
        from recollect.answer.chat.session import Chat, Parts
        from recollect.answer.chat.sources import extract_of
        from recollect.memory.integration import Integration

        handle = self._handle
        return Chat(
            Parts(
                space=handle.space,
                ingest=handle.ingest,
                find=handle.searcher,
                builder=lambda tools: self.context_builder(tools=tools),
                tools=tools,
                extract=lambda question, sources, failed: extract_of(handle.space, question, sources, failed=failed),
                behind=handle.behind,
                record=partial(Integration(handle).record_request, "chat"),
                clock=handle.clock,
                ids=handle.ids,
                source=LIVE_SOURCE,
            )
        )

    # --- research --------------------------------------------------------------------------------------------------

    def research(
        self, question: str, resume: bool | str, limits: Mapping[str, float | None], filters: Filters
    ) -> Generator[ReportEvent, None, None]:
        """The events of a report, which is saved."""
        from recollect.answer.research.saving import Budget, ResearchRun
        from recollect.answer.research.session import Researcher
        from recollect.text.clean import clean_text

        handle = self._handle
        given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
        if resume:
            if question.strip() or filters.given:
                raise InvalidInput(
                    "Research goes on with the question and the filters that it was begun with.",
                    hint="Leave them out, or begin anew.",
                )
            run = self.desk.unfinished(resume if isinstance(resume, str) else None)
            run = replace(run, budget=replace(run.budget, **given))
        else:
            run = ResearchRun(
                id=handle.ids(),
                question=clean_text(question),
                created=handle.clock(),
                filters=_kept(filters),
                budget=Budget(**given),
            )
        searcher = handle.searcher.as_of(run.created.date())
        try:
            by = Researcher(searcher, handle.space, self.desk, handle.clock)
            yield from by.events(run, self.research_search(run), handle.answering(run.question))
        finally:
            handle.wrote()

    @cached_property
    def desk(self) -> ResearchStore:
        """Where research is saved."""
        from recollect.answer.research.saving import ResearchStore

        return ResearchStore(self._handle.space, self._handle.ingest, self._handle.clock)

    def research_search(self, run: ResearchRun) -> Search:
        """What is searched for a report."""
        from recollect.answer.research import NO_QUESTION
        from recollect.search.query.request import Filters

        kept = dict(run.filters)
        filters = Filters.of(source=kept.pop("sources"), role=kept.pop("roles"), **kept)
        return self._handle.read_search(
            run.question, filters, now=run.created, limit=10, group_by="message", otherwise=NO_QUESTION
        )


def _kept(filters: Filters) -> dict[str, Any]:
    """The filters as a run keeps them."""
    times = {"since": filters.since, "until": filters.until, "before": filters.before}
    told = {name: iso(one) if isinstance(one, datetime) else one for name, one in times.items()}
    where = {"sources": filters.source, "roles": filters.role, "conversation": filters.conversation}
    return where | told | {"mode": filters.mode}
