"""Ask and research: a question, and an answer or report with its sources beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from recollect.faces.http.scope import Scoped, served
from recollect.faces.web.page import address, page, wants_json
from recollect.faces.web.runs import RUN_PAGES, RunPage, WebRun, Work, existing_run, run_view, runs_of, sources_known
from recollect.faces.web.views.citations import (
    answer_html,
    are_unchanged,
    as_text,
    displayed_steps,
    extract_html,
    grouped_sources,
    quotation_address,
    text_so_far,
    with_caret,
)
from recollect.search.query.request import Filters

if TYPE_CHECKING:
    from recollect.answer.results import AskAnswer, Report
    from recollect.memory import Memory


router = APIRouter()

_KINDS = {
    "RETRIEVAL": "a search for a conversation",
    "QA": "a question",
    "DECISION": "a question about a decision",
    "CODE_LOOKUP": "a question for code",
    "SYNTHESIS": "a question across conversations",
}
_FOLLOWING = {"": "Reading the question", "understood": "Searching", "searched": "Answering", "answering": "Writing"}
_PARTS = ("steps", "answer", "after", "sources")
_NOT_KNOWN_FOR = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class AskParameters:
    """A question with what it is narrowed to, as the address says it."""

    question: str
    source: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    conversation: str = ""
    intent: str = ""

    @classmethod
    def read(cls, request: Request, question: str) -> AskParameters:
        """From the address; empty fields of a form narrow nothing."""
        given = request.query_params
        one = {name: given.get(name, "").strip() for name in ("since", "until", "in", "intent")}
        sources = tuple(name for name in given.getlist("source") if name)
        return cls(question.strip(), sources, one["since"], one["until"], one["in"], one["intent"])

    @property
    def options(self) -> dict[str, Any]:
        """What `Memory.ask` takes besides the question."""
        narrowed = Filters.of(source=self.source, since=self.since, until=self.until, conversation=self.conversation)
        return narrowed.given | {"intent": self.intent or None}

    def address(self, request: Request) -> str:
        """The page of its answer."""
        narrowed = {"since": self.since, "until": self.until, "in": self.conversation, "intent": self.intent}
        return address("/ask", request, q=self.question, source=self.source, **narrowed)


@router.get("/ask")
def ask(request: Request, memory: Scoped, q: str = "") -> Response:
    """The answer to a question, as far as it has come; without one the box."""
    asked = AskParameters.read(request, q)
    runs, namespace = runs_of(request), str(memory.namespace)
    if asked.question and wants_json(request):
        return page(request, "ask.html", data=lambda: memory.ask(asked.question, **asked.options))
    run = runs.last("ask", namespace, asked) if asked.question else None
    if run is not None and not (_still_holds(memory, run) and _answers(run)):
        run = None
    if asked.question and run is None and _asked_here(request):
        run = _begin(request, memory, asked)
        run.wait(0.2)  # without a model most answers are there by then
    if run is not None:
        return page(request, "ask.html", **_view(request, run))
    lately = [(one.title, _where(request, one)) for one in reversed(runs.all("ask", namespace))]
    return page(
        request,
        "ask.html",
        data={"question": None},
        run=None,
        q=asked.question,
        running=False,
        filters=asked,
        lately=list(dict.fromkeys(lately))[:6],
        model=served(request).model,
        destination=served(request).destination,
        sources_known=sources_known(request, memory),
    )


@router.post("/ask")
def ask_again(request: Request, memory: Scoped, q: Annotated[str, Form()]) -> Response:
    """Asks once more, whatever was answered before; what it is narrowed to stands in the address."""
    asked = AskParameters.read(request, q)
    if asked.question:
        _begin(request, memory, asked)
    return RedirectResponse(asked.address(request), 303)


def _begin(request: Request, memory: Memory, asked: AskParameters) -> WebRun:
    work = _work(lambda: memory.ask_stream(asked.question, **asked.options))
    return runs_of(request).begin("ask", str(memory.namespace), asked, asked.question, work)


def _work(events: Callable[[], Generator[Any, None, None]]) -> Work:
    """Tells the events of a stream; the last one is what came of it."""

    def work(tell: Callable[[Any], None]) -> Any:
        last: Any = None
        with closing(events()) as stream:
            for last in stream:
                tell(last)
        return last

    return work


def _asked_here(request: Request) -> bool:
    """Whether the question comes from a page of ours or the address bar: a link elsewhere must not spend money."""
    return request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _answers(run: WebRun) -> bool:
    """Whether it has an answer or may come to one. What was stopped is asked anew, and after a while what was not
    known: somebody may have filled the memory meanwhile.
    """
    if run.result is not None:
        return bool(run.result.known) or run.seconds < _NOT_KNOWN_FOR
    return not run.stopped or run.ended is None


def _still_holds(memory: Memory, run: WebRun) -> bool:
    """Whether what an answer cites is in the memory as it was."""
    return run.result is None or are_unchanged(memory, run.result.citations)


def _view(request: Request, run: WebRun) -> dict[str, Any]:
    """What the template shows of a question."""
    found, where = run.result, _where(request, run)
    if found:
        shown = _written(request, found, found.text) | {"copy": as_text(found.text, found.citations)}
    else:
        shown = _so_far(run, text_so_far(run.events))
    return run_view(request, run, **shown, steps=displayed_steps(run, _wording(), _FOLLOWING), again=where, q=run.title)


def _written(request: Request, found: AskAnswer | Report, text: str) -> dict[str, Any]:
    """An answer or report with its sources."""
    links = {one.number: quotation_address(request, one) for one in found.citations}
    drawn = (answer_html if found.model else extract_html)(text, links)
    return {"html": drawn, "groups": grouped_sources(request, found.citations), "copy": text}


def _so_far(run: WebRun, text: str) -> dict[str, Any]:
    """The same of one that is being written, or was left unfinished."""
    drawn = answer_html(text)
    return {"html": with_caret(drawn) if run.ended is None else drawn, "groups": (), "copy": ""}


def _wording() -> dict[str, Any]:
    def understood(detail: str) -> str:
        kind, _, more = detail.partition("; also searched: ")
        told = f"Understood as {_KINDS.get(kind, kind)}"
        return f"{told}; searched also: {more}" if more else told

    return {
        "understood": understood,
        "searched": lambda detail: f"Searched {detail}",
        "answering": lambda name: f"Gave them to {name}",
    }


def _where(request: Request, run: WebRun) -> str:
    asked: AskParameters = run.key  # type: ignore[assignment]
    return asked.address(request)


RUN_PAGES["ask"] = RunPage("ask.html", _PARTS, _view, _where, _still_holds)


_RESEARCH_FOLLOWING = {
    "": "Taking the question apart",
    "planned": "Searching",
    "resumed": "Searching",
    "searched": "Reading what was found",
    "missing": "Looking again",
    "writing": "Writing",
}
_TITLE = re.compile(r"\A\s*# [^\n]*\n+")
_SOURCES = re.compile(r"\n## Sources\n(?:.|\n)*\Z")


@router.get("/research")
def research(request: Request, memory: Scoped, q: str = "") -> Response:
    """What was researched, what was interrupted, and the box for more."""
    if wants_json(request):
        return page(request, "research.html", data=lambda: {"reports": memory.reports()})
    under_way = [run for run in runs_of(request).all("research", str(memory.namespace)) if run.ended is None]
    reports = memory.reports()
    busy = {run.title for run in under_way}
    return page(
        request,
        "research.html",
        here="/ask",
        q=q,
        model=served(request).model,
        destination=served(request).destination,
        under_way=[(run.title, _where_research(request, run)) for run in under_way],
        reports=[one for one in reports if one.finished],
        interrupted=[one for one in reports if not (one.finished or one.under_way) and one.question not in busy],
        sources_known=sources_known(request, memory),
        filters={"source": [], "since": "", "until": "", "conversation": ""},
    )


@router.post("/research")
def begin(
    request: Request,
    memory: Scoped,
    q: Annotated[str, Form()] = "",
    resume: Annotated[str, Form()] = "",
    source: Annotated[str, Form()] = "",
    since: Annotated[str, Form()] = "",
    until: Annotated[str, Form()] = "",
    in_: Annotated[str, Form(alias="in")] = "",
) -> Response:
    """Begins, or goes on with what was interrupted."""
    question = q.strip()
    if not (question or resume):
        return RedirectResponse(address("/research", request), 303)
    options: dict[str, Any] = (
        {"resume": resume}
        if resume
        else {
            "source": [source] if source else [],
            "since": since.strip() or None,
            "until": until.strip() or None,
            "conversation": in_.strip() or None,
        }
    )
    key = (question, *map(str, options.values()))
    title = question or next((one.question for one in memory.reports() if one.id == resume), resume)
    work = _work(lambda: memory.research_stream("" if resume else question, **options))
    run = runs_of(request).begin("research", str(memory.namespace), key, title, work)
    run.wait(0.3)
    return RedirectResponse(_where_research(request, run), 303)


@router.get("/research/run/{id}")
def under_way(request: Request, memory: Scoped, id: str) -> Response:
    """Research as it goes; when it is done, its report."""
    run = existing_run(request, memory, id)
    if run.result is None:
        return page(request, "report.html", here="/ask", **_view_research(request, run))
    if run.result.known:
        return RedirectResponse(_where_research(request, run), 303)
    return page(request, "report.html", here="/ask", data=run.result, **_view_report(request, run.result))


@router.get("/research/{id}")
def report(request: Request, memory: Scoped, id: str) -> Response:
    """A report that is kept."""
    found = memory.report(id.removesuffix(".md"))
    if id.endswith(".md"):
        return Response(found.text, media_type="text/markdown; charset=utf-8")
    return page(request, "report.html", here="/ask", data=found, **_view_report(request, found))


def _body(text: str) -> str:
    """A report without its title and its list of sources, which the page shows by itself."""
    return _SOURCES.sub("\n", _TITLE.sub("", text))


def _view_research(request: Request, run: WebRun) -> dict[str, Any]:
    """What the template shows of research under way, or that ended without a report."""
    steps = displayed_steps(run, _WORDING, _RESEARCH_FOLLOWING)
    shown = _so_far(run, _body(text_so_far(run.events)))
    return run_view(request, run, **shown, question=run.title, steps=steps) | {"done": None}


def _view_report(request: Request, found: Report) -> dict[str, Any]:
    """The same of a report."""
    still = {"running": False, "stopped": False, "problem": None, "steps": ()}
    shown = _written(request, found, _body(found.text)) | still
    return shown | {"title": found.title, "question": found.question, "done": found, "copy": found.text}


def _counted(what: str) -> str:
    query, _, count = what.rpartition(": ")
    return f"Searched “{query}”: {count}" if query else f"Searched {what}"


_WORDING = {
    "planned": lambda detail: f"Took it apart: {detail}",
    "resumed": lambda detail: f"Goes on with: {detail}",
    "searched": _counted,
    "missing": lambda detail: f"Still missing: {detail}",
    "writing": lambda name: "Puts quotations together" if name == "quotations" else f"Gave it to {name}",
}


def _where_research(request: Request, run: WebRun) -> str:
    if run.result is not None and run.result.known:  # one that found nothing is not kept
        return address(f"/research/{run.result.id}", request)
    return address(f"/research/run/{run.id}", request)


def _still_holds_research(memory: Memory, run: WebRun) -> bool:
    """Whether what it has told is in the memory: as a report, or kept to be gone on with; of nothing found, what is
    nearest.
    """
    if run.result is not None and not run.result.known:
        return are_unchanged(memory, run.result.citations)
    kept = {one.id: one for one in memory.reports()}
    if run.result is not None:
        return run.result.id in kept
    return not text_so_far(run.events) or any(run.title == one.question for one in kept.values())


RUN_PAGES["research"] = RunPage("report.html", _PARTS, _view_research, _where_research, _still_holds_research)
