"""Research: a report on a question that takes several searches, with its sources [0]."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.memory.asking import Asking
from recollect.memory.ends import end_of
from recollect.memory.reading import several
from recollect.record import RoleName, iso

if TYPE_CHECKING:
    from recollect.answer.research.saving import ResearchRun, ResearchStore
    from recollect.answer.results import Report, ReportEvent, SavedReport
    from recollect.search.query.request import Mode, Search


class Researching(Asking):
    """Reports."""

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

        filters = Filters.of(
            source=source, role=role, conversation=conversation, since=since, until=until, before=before, mode=mode
        )
        stream = self.research_stream(
            question,
            resume=resume,
            rounds=rounds,
            calls=calls,
            tokens=tokens,
            seconds=seconds,
            **filters.given,
        )
        return end_of(stream, Report)

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
        from recollect.answer.research.saving import Budget, ResearchRun
        from recollect.answer.research.session import Researcher
        from recollect.text.clean import clean_text

        self._written()
        given = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds}
        limits: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        filters = {
            "sources": several(source),
            "roles": several(role),
            "conversation": conversation,
            "since": _told(since),
            "until": _told(until),
            "before": _told(before),
            "mode": mode,
        }
        if resume:
            if question.strip() or any(value for name, value in filters.items() if (name, value) != ("mode", "auto")):
                raise InvalidInput(
                    "Research goes on with the question and the filters that it was begun with.",
                    hint="Leave them out, or begin anew.",
                )
            run = self._desk.unfinished(resume if isinstance(resume, str) else None)
            run = replace(run, budget=replace(run.budget, **limits))
        else:
            run = ResearchRun(
                id=self._ids(),
                question=clean_text(question),
                created=self._clock(),
                filters=filters,
                budget=Budget(**limits),
            )
        search = self._research_search(run)
        searcher = self._searcher.as_of(run.created.date())
        try:
            by = Researcher(searcher, self._space, self._desk, self._clock)
            yield from by.events(run, search, self._answering(run.question))
        finally:
            if self._background is not None:
                self._background.wrote()

    def reports(self) -> list[SavedReport]:
        """The reports that are kept and the research that was interrupted, the newest first. `document` of an id gives
        the text of a report.
        """
        return self._desk.reports()

    def report(self, id: str) -> Report:
        """A report that is kept, by its id or the end of one, with what it cites and is there still. Raises NotFound,
        InvalidInput.
        """
        from recollect.answer.research.writing import report_of

        document = self._desk.finished(id)
        with self._space.view() as view:
            return report_of(view, document)

    def _research_search(self, run: ResearchRun) -> Search:
        from recollect.answer.research import NO_QUESTION
        from recollect.search.query.request import Filters

        kept = dict(run.filters)
        filters = Filters.of(source=kept.pop("sources"), role=kept.pop("roles"), **kept)
        return self._read_search(
            run.question, filters, now=run.created, limit=10, group_by="message", otherwise=NO_QUESTION
        )

    @cached_property
    def _desk(self) -> ResearchStore:
        from recollect.answer.research.saving import ResearchStore

        return ResearchStore(self._space, self._ingest, self._clock)


def _told(when: str | datetime | None) -> str | None:
    return iso(when) if isinstance(when, datetime) else when
