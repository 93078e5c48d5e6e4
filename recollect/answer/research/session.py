"""From a question to its report: planned, searched, looked over for what is missing, and written [0]."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from recollect.answer.ask import Generated
from recollect.answer.chat.loop import failure, usage_of
from recollect.answer.evidence import first_conversations
from recollect.answer.research import plan
from recollect.answer.research.plan import Finding, Findings, SubQuery, search_all, shown
from recollect.answer.research.saving import ResearchRun, ResearchStore, Spending, with_queries
from recollect.answer.research.writing import quoted, sources, write
from recollect.answer.results import Again, AnswerWords, Report, ReportEvent, ReportPart, Step
from recollect.errors import ModelError
from recollect.models.language.base import Completion, LanguageModel, Usage
from recollect.models.language.talk import TalkingModel, talking
from recollect.record import NodeId
from recollect.search.find import Find
from recollect.search.query.request import Search
from recollect.store import Space

_UNSAVED = "This report is not saved: it proves nothing."
_PLAN, _GAPS = 3_000, 6_000  # tokens that these calls take at most, about

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Researcher:
    """Researches what `find` searches in a space."""

    find: Find
    space: Space
    desk: ResearchStore
    clock: Callable[[], datetime]

    def events(
        self, run: ResearchRun, search: Search, model: LanguageModel | None
    ) -> Generator[ReportEvent, None, None]:
        """The steps, the words of a model's report as they come, and last the report, which is then saved.

        What was learned is kept as it goes: whoever stops, and whatever fails, `run` can be gone on with. Where the
        model fails, rules plan and the report quotes. Raises StoreError, InvalidInput where somebody else is at work
        on it, NotFound where what it is about was deleted meanwhile.
        """
        talker = talking(model, "a report") if model is not None else None
        with self.desk.holding(run):
            yield from _Work(self, run, search, talker).events()


@dataclass(slots=True)
class _Work:
    """One run."""

    by: Researcher
    run: ResearchRun
    search: Search
    model: TalkingModel | None
    findings: Findings = field(default_factory=Findings)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self.spending = Spending(self.run.budget, self.run.usage, self.run.cost)

    def events(self) -> Generator[ReportEvent, None, None]:
        began = time.perf_counter()
        if self.run.plan is None:
            self._plan()
            yield self._step("planned", "; ".join(map(shown, self._queries(1))))
        else:
            yield self._step("resumed", "; ".join(map(shown, self.run.plan.queries)))
        for round_ in range(1, self.run.budget.rounds + 1):
            yield from self._search(self._queries(round_))
            if round_ == self.run.budget.rounds or not self.spending.in_time:
                break
            if self.run.looked < round_:
                self._look(round_)
            if self.run.missing:
                yield self._step("missing", "; ".join(self.run.missing))
            if not self._queries(round_ + 1):
                break
        report: Report | None = None
        for event in self._report():
            if isinstance(event, Report):
                report = event
            else:
                yield event
        assert report is not None
        yield replace(report, steps=tuple(self.steps), took_ms=(time.perf_counter() - began) * 1000)

    # --- planning and looking ---------------------------------------------------------------------------------------
    def _plan(self) -> None:
        question = self.search.query.text
        is_wide = self.search.filter.conversation_ids is None
        found = first_conversations(self.by.find, self.search) if is_wide else []
        made: plan.ResearchPlan | None = None
        if self.model is not None and self.spending.allows(_PLAN):
            model = self.model
            made = self._asked(lambda: plan.plan_by_model(model, question, found), "a plan")
        self._keep(replace(self.run, plan=made or plan.plan_by_rules(question, found)))

    def _look(self, round_: int) -> None:
        """Judges what is missing, and adds the searches that may find it to the plan."""
        question = self.search.query.text
        made: plan.Gaps | None = None
        if self.model is not None and self.findings.passages and self.spending.allows(_GAPS):
            model = self.model
            made = self._asked(
                lambda: plan.gaps_by_model(model, question, self.findings, round_ + 1), "what is missing"
            )
        made = made or plan.gaps_by_rules(question, self.findings, round_ + 1)
        run = replace(with_queries(self.run, made.queries), looked=round_, missing=made.missing)
        self._keep(run)

    def _asked(self, ask: Callable[[], tuple[T, Completion]], what: str) -> T | None:
        """What a model answers; None where it gives no answer that can be used, and rules have to do. One that cannot
        be reached at all is not asked again.
        """
        try:
            made, answer = ask()
        except ModelError as problem:
            if problem.outage:
                self._fail(problem)
            else:
                self._pay(problem)
                self.notes.append(f"The model gave no answer on {what} that can be used; rules did it.")
            return None
        self.spending.take(Usage(answer.calls, answer.input_tokens, answer.output_tokens), answer.cost)
        return made

    def _fail(self, problem: ModelError) -> None:
        """Goes on without the model."""
        self._pay(problem)
        self.model = None
        self.notes.append(failure(problem, "This report quotes your conversations."))

    def _pay(self, problem: ModelError) -> None:
        used = usage_of(problem)
        self.spending.take(used, None if used.calls else 0.0)

    # --- searching --------------------------------------------------------------------------------------------------
    def _queries(self, round_: int) -> list[SubQuery]:
        assert self.run.plan is not None
        return [query for query in self.run.plan.queries if query.round == round_]

    def _search(self, queries: Sequence[SubQuery]) -> Generator[Step, None, None]:
        """Searches for all of them; each is told when it is done, and counted in the order of the plan."""
        found: dict[SubQuery, Finding] = {}
        for query, evidence in search_all(self.by.find, self.by.space, self.search, queries):
            found[query] = finding = self.findings.of_query(query, evidence)
            count = len(finding.evidence.passages) if finding.is_known else 0
            yield self._step("searched", f"{shown(query)}: {count} passage{'' if count == 1 else 's'}")
        self.findings.of += [found[query] for query in queries]

    # --- the report -------------------------------------------------------------------------------------------------
    def _report(self) -> Generator[ReportEvent, None, None]:
        if self.model is not None and self.findings.passages and self.spending.allows_report:
            yield self._step("writing", self.model.name)
            shown = False
            try:
                for event in self._written(self.model):
                    shown = shown or isinstance(event, AnswerWords)
                    yield event
                return
            except ModelError as problem:
                self._fail(problem)
            if shown:
                yield Again("The model broke off.", asks=False)
        elif self.model is not None and self.findings.passages:
            self.notes.append("The budget was spent before the report: it quotes, and no model wrote it.")
        yield self._step("writing", "quotations")
        yield self._quoted()

    def _written(self, model: TalkingModel) -> Generator[ReportEvent, None, None]:
        assert self.run.plan is not None
        title = _Title(self.run.plan.title)
        for event in write(model, self.search.query.text, self.findings, self.spending.for_report):
            match event:
                case Generated():
                    made = event
                case AnswerWords(text):
                    if piece := title.feed(text):
                        yield AnswerWords(piece)
                case _:
                    title = _Title(self.run.plan.title)
                    yield event
        rest = title.end()
        self.spending.take(made.ended.usage, made.ended.cost)
        if made.removed:
            told = "1 citation" if made.removed == 1 else f"{made.removed} citations"
            self.notes.append(f"{told} of the model pointed to nothing that was found: removed.")
        if made.ended.cut:
            self.notes.append("The report was cut off at the limit of its tokens.")
        listed = sources(made.citations)
        report = Report(
            id=self.run.id,
            question=self.run.question,
            title=self.run.plan.title,
            text="\n\n".join(filter(None, (title.added.strip(), made.text, listed))),
            known=not made.unknown and bool(made.citations),
            created=self.run.created,
            citations=made.citations,
            model=made.ended.model,
            removed=made.removed,
        )
        saved = self._saved(report, self.findings.ids)  # whoever stops at the last words has paid for the report
        if rest:
            yield AnswerWords(rest)
        if listed:
            yield AnswerWords(f"\n\n{listed}")
        yield saved

    def _quoted(self) -> Report:
        assert self.run.plan is not None
        made = quoted(self.run.plan, self.findings, self.run.missing)
        report = Report(
            id=self.run.id,
            question=self.run.question,
            title=self.run.plan.title,
            text="\n\n".join(filter(None, (made.text, sources(made.citations)))),
            known=self.findings.known,
            created=self.run.created,
            citations=made.citations,
        )
        return self._saved(report, list(dict.fromkeys(citation.message.id for citation in made.citations)))

    def _saved(self, report: Report, drawn_from: Sequence[NodeId]) -> Report:
        """The whole report, kept where it is known: one that says nothing would be found beside what was said, in the
        very words of its question, and stay when the memory has grown.
        """
        assert self.run.plan is not None
        known = self.findings.as_evidence(self.run.question).notes
        whole = replace(
            report,
            parts=tuple(_part(finding) for finding in self.findings.of),
            missing=tuple(one for one in self.run.missing if one not in self.findings.answered),
            planned_by=self.run.plan.made_by,
            usage=self.spending.usage,
            cost=self.spending.cost if self.spending.usage.calls else None,
            notes=(*known, *self.notes, *([] if report.known else [_UNSAVED])),
        )
        self.run = replace(self.run, usage=self.spending.usage, cost=self.spending.cost)
        if whole.known:
            self.by.desk.finish(self.run, whole, drawn_from, self.by.clock())
        else:
            self.by.desk.drop(self.run)
        return whole

    def _keep(self, run: ResearchRun) -> None:
        self.run = replace(run, usage=self.spending.usage, cost=self.spending.cost)
        self.by.desk.keep(self.run, self.findings.ids)

    def _step(self, name: str, detail: str) -> Step:
        self.steps.append(Step(name, detail))
        return self.steps[-1]


class _Title:
    """Puts a title before a report whose model gave it none. `added` is what was put there."""

    def __init__(self, title: str) -> None:
        self.added, self._title, self._held, self._began = "", f"# {title}\n\n", "", False

    def feed(self, words: str) -> str:
        """The next words to show: the first two characters tell whether they are a title."""
        if self._began:
            return words
        self._held += words
        return self.end() if len(self._held) > 1 else ""

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        if not self._began and held:
            self._began = True
            self.added = "" if held.startswith("# ") else self._title
            return self.added + held
        return held


def _part(finding: Finding) -> ReportPart:
    query = finding.query
    return ReportPart(query.text, query.heading, query.round, len(finding.evidence.passages), finding.is_known)
