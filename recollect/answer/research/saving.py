"""Research is kept as it goes, in the document that becomes its report: hidden until that is written.

So it survives a kill, it is copied and exported with the memory, and what it was drawn from leads to it: whoever
forgets a message forgets the reports that were made of it (recollect.ingest.forget). While somebody works on it,
nobody else can (claim.py).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.answer.research import claim
from recollect.answer.research.budget import Budget
from recollect.answer.research.plan import ResearchPlan, SubQuery
from recollect.answer.research.report import Report, SavedReport
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.importers.documents.markdown import headings
from recollect.ingest import Ingest
from recollect.ingest.drawn import DRAWN_FROM
from recollect.models.language.usage import NOTHING_USED, Usage
from recollect.record import HIDDEN, REPORTS, Document, NodeId, iso, parse_time
from recollect.record.tree import Heading, outline
from recollect.store import Space, Where
from recollect.store.transfer import every

#: What is kept of research, in the metadata of its document.
KEPT = "research"

_log = logging.getLogger("recollect.research")
_ALL = 1_000_000
_TRIES = 10
_SHORT = 6  # characters of an id, from its end, that tell it apart


class _Changed(Exception):
    """It was written meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchRun:
    """Research under way: what was asked, and what was learned of it so far, model answers above all.

    `filters` are those of the search, as they were given; relative dates are told from `created`. After `looked` rounds
    it was judged what is missing. `by` is who works on it (claim.py).
    """

    id: NodeId
    question: str
    created: datetime
    filters: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    plan: ResearchPlan | None = None
    looked: int = 0
    missing: tuple[str, ...] = ()
    usage: Usage = NOTHING_USED
    cost: float | None = 0.0
    by: str = field(default_factory=claim.claimant)


@dataclass(frozen=True, slots=True)
class ResearchStore:
    """Keeps research in one space."""

    space: Space
    ingest: Ingest
    clock: Callable[[], datetime]

    def keep(self, run: ResearchRun, sources: Sequence[NodeId] = ()) -> None:
        """Keeps how far it has come. `sources` are the messages and documents that what was learned may tell of.

        Raises NotFound where one of them, or the research itself, was deleted meanwhile.
        """
        title = run.plan.title if run.plan is not None else run.question
        metadata = {HIDDEN: True, KEPT: claim.claimed(_as_kept(run), run.by, self.clock())}
        self._write(Document(run.id, REPORTS, title, run.question, None, run.created, metadata), sources, run.by)

    def finish(self, run: ResearchRun, report: Report, sources: Sequence[NodeId], now: datetime) -> None:
        """Makes the document the report. Raises what `keep` does."""
        cited = [[c.number, c.message.id, c.place, c.offset + c.end, c.cited] for c in report.citations]
        kept = {**_as_kept(run), "finished": iso(now), "model": report.model, "cited": cited, "known": report.known}
        metadata = {KEPT: kept, **outline(headings=_below_title(report.text), lines=True)}
        self._write(Document(run.id, REPORTS, report.title, report.text, None, run.created, metadata), sources, run.by)

    def drop(self, run: ResearchRun) -> None:
        """Removes what is kept: it came to nothing."""
        self.space.erase([run.id])

    @contextmanager
    def holding(self, run: ResearchRun) -> Iterator[None]:
        """Holds the research for as long as the block runs. Raises InvalidInput where somebody else does."""
        self._hold(run)
        ended = threading.Event()
        beating = threading.Thread(target=self._beat, args=(run, ended), name="recollect-research-claim", daemon=True)
        beating.start()
        try:
            yield
        finally:
            ended.set()
            beating.join()
            self._quietly(lambda: self._hold(run, release=True))

    def _beat(self, run: ResearchRun, ended: threading.Event) -> None:
        while not ended.wait(claim.LENGTH.total_seconds() / 3):
            self._quietly(lambda: self._hold(run))

    def _hold(self, run: ResearchRun, *, release: bool = False) -> None:
        """Claims it, or claims it for longer, or lets it go, where it is there and not finished."""
        for _ in range(_TRIES):
            with self.space.view() as view:
                document = next(iter(view.get(Document, [run.id])), None)
                sources = [edge.target_id for edge in view.edges([run.id], (DRAWN_FROM,), "out", _ALL)]
            if document is None or document.erased or _is_finished(document):
                return
            kept = document.metadata[KEPT]
            kept = claim.unclaimed(kept) if release else claim.claimed(kept, run.by, self.clock())
            held = replace(document, metadata={**document.metadata, KEPT: kept})
            try:
                self.ingest.made(held, sources, self._same(document, run.by))
            except _Changed:
                continue
            return

    def _quietly(self, do: Callable[[], None]) -> None:
        try:
            do()
        except RecollectError as problem:  # whoever works on finds out by writing
            _log.warning("A claim on research could not be written: %s", problem.message)

    def _free(self, by: str) -> Callable[[Document | None], None]:
        """Raises InvalidInput for what somebody else works on."""

        def check(known: Document | None) -> None:
            if known is not None and not known.erased and self._holder(known) not in ("", by):
                raise InvalidInput(
                    f"Somebody else is at work on this research: {known.title}.",
                    hint="Wait for it, or stop it. To see what there is: recollect research --list",
                )

        return check

    def _same(self, document: Document, by: str) -> Callable[[Document | None], None]:
        """Raises _Changed where it is not what it was, else as `_free`."""

        def check(known: Document | None) -> None:
            self._free(by)(known)
            if known is None or known.metadata != document.metadata:
                raise _Changed

        return check

    def _holder(self, document: Document) -> str:
        return claim.holder(document.metadata[KEPT], self.clock())

    def unfinished(self, name: str | None = None) -> ResearchRun:
        """The research that was interrupted: the newest that nobody works on, or that of an id or the end of one.
        Raises NotFound, InvalidInput where it is finished, or several are meant.
        """
        found = [document for document in self._all() if name is None or _is_named(document, name)]
        waiting = [document for document in found if not _is_finished(document)]
        if name is not None and len(found) > 1:
            raise InvalidInput(f"{name!r} is the end of several ids.", hint="Use more of the one that is meant.")
        if found and not waiting and name is not None:
            raise InvalidInput(f"This research is finished: {found[0].title}.", hint=f"recollect show {name}")
        if not waiting:
            hint = "To see what there is: recollect research --list"
            raise NotFound("No research was interrupted." if name is None else f"No research is {name!r}.", hint=hint)
        free = [document for document in waiting if not self._holder(document)]
        newest = max(free or waiting, key=lambda one: (one.created is not None, one.created, one.id))
        self._free("")(newest)
        return _as_run(newest)

    def finished(self, name: str) -> Document:
        """The document of a report, by its id or the end of one. Raises NotFound, InvalidInput for several."""
        found = [document for document in self._all() if _is_named(document, name)]
        if len(found) > 1:
            raise InvalidInput(f"{name!r} is the end of several ids.", hint="Use more of the one that is meant.")
        if not found or not _is_finished(found[0]):
            raise NotFound(f"No report is {name!r}.", hint="To see what there is: recollect research --list")
        return found[0]

    def reports(self) -> list[SavedReport]:
        """What is kept, the newest first."""
        found = [_as_saved(document, under_way=bool(self._holder(document))) for document in self._all()]
        return sorted(found, key=lambda one: one.created, reverse=True)

    def _all(self) -> Iterator[Document]:
        with self.space.view() as view:
            for document in every(view, Document, Where(sources=(REPORTS,), deleted=False)):
                if KEPT in document.metadata and not (document.hidden and _is_finished(document)):
                    yield document  # what is finished and hidden was made of something deleted

    def _write(self, document: Document, sources: Sequence[NodeId], by: str) -> None:
        if not self.ingest.made(document, sources, self._free(by)):
            raise NotFound(
                "What this research is about was deleted while it was under way; nothing of it was saved.",
                hint='Begin again: recollect research "…"',
            )


def _below_title(text: str) -> list[Heading]:
    """The headings of the parts: the title stands for the whole anyway."""
    return [heading for heading in headings(text) if heading[1] > 1]


def _is_finished(document: Document) -> bool:
    return bool(document.metadata[KEPT].get("finished"))


def _is_named(document: Document, name: str) -> bool:
    folded = name.strip().casefold()
    return document.id.casefold() == folded or (len(folded) >= _SHORT and document.id.casefold().endswith(folded))


def _as_kept(run: ResearchRun) -> dict[str, Any]:
    plan = run.plan
    return {
        "question": run.question,
        "filters": dict(run.filters),
        "budget": asdict(run.budget),
        "title": plan.title if plan else "",
        "planned_by": plan.made_by if plan else "",
        "queries": [
            [q.text, q.heading, q.round, list(q.joins), q.inside, list(q.besides), q.widens] for q in plan.queries
        ]
        if plan
        else [],
        "looked": run.looked,
        "missing": list(run.missing),
        "usage": [run.usage.calls, run.usage.input_tokens, run.usage.output_tokens],
        "cost": run.cost,
    }


def _as_run(document: Document) -> ResearchRun:
    kept = document.metadata[KEPT]
    queries = tuple(
        SubQuery(text, heading, round_, tuple(joins), inside, tuple(besides), *widens)
        for text, heading, round_, joins, inside, besides, *widens in kept["queries"]
    )
    assert document.created is not None
    return ResearchRun(
        id=document.id,
        question=kept["question"],
        created=document.created,
        filters=kept["filters"],
        budget=Budget(**kept["budget"]),
        plan=ResearchPlan(kept["title"], queries, kept["planned_by"]) if queries else None,
        looked=kept["looked"],
        missing=tuple(kept["missing"]),
        usage=Usage(*kept["usage"]),
        cost=kept["cost"],
    )


def _as_saved(document: Document, *, under_way: bool) -> SavedReport:
    kept = document.metadata[KEPT]
    assert document.created is not None
    return SavedReport(
        id=document.id,
        title=document.title,
        question=kept["question"],
        created=document.created,
        finished=parse_time(kept["finished"]) if kept.get("finished") else None,
        sources=len(kept.get("cited", ())),
        model=kept.get("model"),
        under_way=under_way,
    )


def with_queries(run: ResearchRun, queries: Sequence[SubQuery]) -> ResearchRun:
    """The run with further searches in its plan."""
    assert run.plan is not None
    return replace(run, plan=replace(run.plan, queries=(*run.plan.queries, *queries)))
