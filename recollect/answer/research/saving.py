"""Research is kept as it goes, in the document that becomes its report: hidden until that is written.

So it survives a kill, it is copied and exported with the memory, and what it was drawn from leads to it: whoever
forgets a message forgets the reports that were made of it (recollect.ingest.forget). While somebody works on it,
nobody else can.
"""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.answer.research.plan import ResearchPlan, SubQuery
from recollect.answer.results import Report, SavedReport
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.importers.documents.markdown import headings
from recollect.ingest import Ingest
from recollect.ingest.changes import DRAWN_FROM
from recollect.models.language.base import NOTHING_USED, Usage, total_cost
from recollect.record import HIDDEN, REPORTS, Document, NodeId, iso, new_id, parse_time
from recollect.record.tree import outline
from recollect.runtime.processes import has_ended
from recollect.store import Space, Where
from recollect.store.transfer import every

#: Tokens that a report and the prompt for it have at least.
LEAST_TOKENS = 6_000

_TOLD = 2_500  # tokens of what a model is told besides the material
_ANSWER, _LONGEST = 0.25, 2_500  # of what is left, what a report may have, and tokens that it has at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits. `rounds`: 1 looks once, 2 looks again for what is missing. `calls` and `tokens` are of the model, the
    report's included; `seconds` is after how long nothing new is begun but the report.
    """

    rounds: int = 2
    calls: int = 6
    tokens: int = 40_000
    seconds: float = 180.0

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= 5:
            raise InvalidInput(f"{self.rounds} rounds are out of range.", hint="Use 1 to 5.")
        if self.calls < 1:
            raise InvalidInput("A report by a model takes one call at least.", hint="Use model none for no call.")
        if self.tokens < LEAST_TOKENS:
            raise InvalidInput(f"{self.tokens} tokens are too few for a report.", hint=f"Use {LEAST_TOKENS} or more.")
        if self.seconds <= 0:
            raise InvalidInput("There has to be some time.")


@dataclass(slots=True)
class Spending:
    """What was spent so far. Time counts from when this run began; calls and tokens from when the research did."""

    budget: Budget
    usage: Usage = NOTHING_USED
    cost: float | None = 0.0
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def take(self, usage: Usage, cost: float | None) -> None:
        """Counts a call."""
        self.usage += usage
        self.cost = total_cost((self.cost, cost))

    @property
    def in_time(self) -> bool:
        """Whether something new may be begun."""
        return self.clock() - self._began < self.budget.seconds

    def allows(self, tokens: int) -> bool:
        """Whether a call of so many tokens may be made, and the report after it."""
        left = self.budget.tokens - self.usage.tokens
        return self.in_time and self.budget.calls - self.usage.calls > 1 and left - tokens >= LEAST_TOKENS

    @property
    def allows_report(self) -> bool:
        """Whether there is a call and room left for the report."""
        return self.usage.calls < self.budget.calls and self.budget.tokens - self.usage.tokens >= LEAST_TOKENS

    @property
    def for_report(self) -> tuple[int, int]:
        """How many tokens the material of the report may have, and the report."""
        left = self.budget.tokens - self.usage.tokens
        answer = min(int(left * _ANSWER), _LONGEST)
        return left - _TOLD - answer, answer


# Who works on a piece of research: one at a time, so that nothing is paid for twice.

#: How long a claim holds without being renewed.
LENGTH = timedelta(seconds=60)

_HELD = "held"


def claimant() -> str:
    """A name for who works now: the machine, the process, and one of several in it."""
    return f"{platform.node()}/{os.getpid()}/{new_id()}"


def claimed(kept: Mapping[str, Any], by: str, now: datetime) -> dict[str, Any]:
    """What is kept of a piece of research, held by this claimant from now on."""
    return {**kept, _HELD: [by, iso(now + LENGTH)]}


def unclaimed(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The same, held by nobody."""
    return {name: value for name, value in kept.items() if name != _HELD}


def holder(kept: Mapping[str, Any], now: datetime) -> str:
    """Who holds it; nothing where nobody does any more."""
    name, until = kept.get(_HELD) or ("", None)
    ends = parse_time(until) if until else None
    return name if ends is not None and ends > now and not _is_over(name) else ""


def _is_over(name: str) -> bool:
    """Whether that process ran here and has ended. Where this cannot be told, it has not."""
    machine, _, rest = name.rpartition("/")[0].rpartition("/")
    return machine == platform.node() and rest.isdigit() and has_ended(int(rest))


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
    it was judged what is missing. `by` is who works on it.
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
    by: str = field(default_factory=claimant)


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
        metadata = {HIDDEN: True, KEPT: claimed(_as_kept(run), run.by, self.clock())}
        self._write(Document(run.id, REPORTS, title, run.question, None, run.created, metadata), sources, run.by)

    def finish(self, run: ResearchRun, report: Report, sources: Sequence[NodeId], now: datetime) -> None:
        """Makes the document the report. Raises what `keep` does."""
        cited = [[c.number, c.message.id, c.place, c.offset + c.end, c.cited] for c in report.citations]
        kept = {**_as_kept(run), "finished": iso(now), "model": report.model, "cited": cited, "known": report.known}
        parts = [heading for heading in headings(report.text) if heading[1] > 1]  # the title stands for the whole
        metadata = {KEPT: kept, **outline(headings=parts, lines=True)}
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
        while not ended.wait(LENGTH.total_seconds() / 3):
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
            kept = unclaimed(kept) if release else claimed(kept, run.by, self.clock())
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
        return holder(document.metadata[KEPT], self.clock())

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
