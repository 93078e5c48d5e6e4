"""Research: a report on a question that takes several searches, with its sources [0]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recollect.memory.asking import Asking
from recollect.memory.reading import several
from recollect.record import iso
from recollect.text.clean import clean_text

if TYPE_CHECKING:
    from recollect.ask.evidence import Evidence
    from recollect.ask.intents import Intent, Settings
    from recollect.research.plan import Found
    from recollect.research.report import Event, Report, SavedReport
    from recollect.research.saving import Desk, Run
    from recollect.search.request import Search

_FIRST = 6


class Researching(Asking):
    """Reports."""

    def research(
        self,
        question: str = "",
        *,
        resume: bool | str = False,
        rounds: int = 2,
        calls: int = 6,
        tokens: int = 40_000,
        seconds: float = 180.0,
        source: str | Sequence[str] = (),
        role: str | Sequence[str] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: str = "auto",
    ) -> Report:
        """Takes a question apart, searches for each part, looks again for what is missing, and writes a report with
        headings and numbered sources, which is saved as a document of the memory.

        By the model, where one is set, within `calls` and `tokens`; else by rules, and the report quotes. The question
        may hold filters, as that of `search`. What was interrupted is gone on with by `resume`: the newest, or that of
        an id; no answer of a model is paid for twice. A report rests on what was said, never on other reports. Raises
        InvalidInput, NotFound, StoreError, ModelError.
        """
        *_, last = self.research_stream(
            question,
            resume=resume,
            rounds=rounds,
            calls=calls,
            tokens=tokens,
            seconds=seconds,
            source=source,
            role=role,
            conversation=conversation,
            since=since,
            until=until,
            before=before,
            mode=mode,
        )
        report: Report = last  # type: ignore[assignment]
        return report

    def research_stream(
        self,
        question: str = "",
        *,
        resume: bool | str = False,
        rounds: int = 2,
        calls: int = 6,
        tokens: int = 40_000,
        seconds: float = 180.0,
        source: str | Sequence[str] = (),
        role: str | Sequence[str] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: str = "auto",
    ) -> Iterator[Event]:
        """As `research`, told while it happens: each `Step`, the `Words` of a model's report as they come, with
        citations already checked, that it broke off and is asked for `Again`, and last the `Report`. Whoever stops
        before that can go on with `resume`.
        """
        from recollect.research.budget import Budget
        from recollect.research.saving import Run
        from recollect.research.session import Researcher

        self._written()
        if resume:
            run = self._desk.unfinished(resume if isinstance(resume, str) else None)
        else:
            limits = Budget(rounds=rounds, calls=calls, tokens=tokens, seconds=seconds)
            filters = {
                "sources": several(source),
                "roles": several(role),
                "conversation": conversation,
                "since": _told(since),
                "until": _told(until),
                "before": _told(before),
                "mode": mode,
            }
            now = self._clock()
            run = Run(id=self._ids(), question=clean_text(question), created=now, filters=filters, budget=limits)
        search = self._research_search(run)
        try:
            yield from Researcher(self._gathered, self._first_found, self._desk, self._clock).events(
                run, search, self._answering()
            )
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
        from recollect.research.kept import report_of

        document = self._desk.finished(id)
        with self._space.view() as view:
            return report_of(view, document)

    def _research_search(self, run: Run) -> Search:
        filters: Mapping[str, Any] = run.filters
        return self._read_search(run.question, limit=10, group_by="message", **filters)

    def _gathered(self, search: Search, intent: Intent, settings: Settings) -> Evidence:
        from recollect.ask.evidence import gather

        return gather(self._searcher, self._space, search, intent, settings)

    def _first_found(self, search: Search) -> list[Found]:
        """The conversations that a question finds first, but for those far behind the best."""
        from dataclasses import replace

        from recollect.research.findings import NEAR_BEST
        from recollect.research.plan import Found

        if search.filter.conversation_ids is not None:
            return []
        results = self._searcher(replace(search, limit=_FIRST, group_by="conversation", with_reports=False))
        near = [hit for hit in results if hit.score >= NEAR_BEST * results[0].score] if results.close else []
        return [Found(hit.conversation.id, hit.conversation.title) for hit in near if hit.conversation.title]

    @cached_property
    def _desk(self) -> Desk:
        from recollect.research.saving import Desk

        return Desk(self._space, self._ingest)


def _told(when: str | datetime | None) -> str | None:
    return iso(when) if isinstance(when, datetime) else when
