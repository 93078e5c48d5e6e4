"""Research: a question taken apart, looked up step by step, and written down as a report that is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from starlette.responses import RedirectResponse

from recollect.faces.http.scope import Scoped, served
from recollect.faces.web.cited import answer as as_html
from recollect.faces.web.cited import extract, with_caret
from recollect.faces.web.live import drawn_by, run_address, shown
from recollect.faces.web.page import address, fragments, page, wants_json
from recollect.faces.web.runs import WebRun, runs_of, sources_known
from recollect.faces.web.sources import grouped, hold, place
from recollect.faces.web.steps import steps, words_so_far

if TYPE_CHECKING:
    from recollect.answer.research.report import Report
    from recollect.memory import Memory

router = APIRouter()

_PARTS = ("steps", "answer", "after", "sources")
_FOLLOWING = {
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
        under_way=[(run.title, _where(request, run)) for run in under_way],
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
    asked = "" if resume else question
    run = runs_of(request).begin("research", str(memory.namespace), key, title, _work(memory, asked, options))
    run.wait(0.3)
    return RedirectResponse(_where(request, run), 303)


@router.get("/research/run/{id}")
def under_way(request: Request, memory: Scoped, id: str) -> Response:
    """Research as it goes; when it is done, its report."""
    run = shown(request, memory, id)
    if run.result is None:
        return page(request, "report.html", here="/ask", **_view(request, run))
    if run.result.known:
        return RedirectResponse(_where(request, run), 303)
    return page(request, "report.html", here="/ask", data=run.result, **_kept(request, run.result))


@router.get("/research/{id}")
def report(request: Request, memory: Scoped, id: str) -> Response:
    """A report that is kept."""
    found = memory.report(id.removesuffix(".md"))
    if id.endswith(".md"):
        return Response(found.text, media_type="text/markdown; charset=utf-8")
    return page(request, "report.html", here="/ask", data=found, **_kept(request, found))


def _work(memory: Memory, question: str, options: Mapping[str, Any]) -> Any:
    def work(tell: Any) -> Any:
        last: Any = None
        with closing(memory.research_stream(question, **options)) as events:
            for last in events:
                tell(last)
        return last

    return work


def _view(request: Request, run: WebRun) -> dict[str, Any]:
    """What the template shows of research under way, or that ended without a report."""
    text = _TITLE.sub("", words_so_far(run.events))
    drawn = as_html(_SOURCES.sub("\n", text))
    return {
        "title": run.title,
        "question": run.title,
        "running": run.ended is None,
        "done": None,
        "stopped": run.stopped,
        "problem": run.problem,
        "steps": steps(run, _WORDING, _FOLLOWING),
        "html": with_caret(drawn) if run.ended is None else drawn,
        "groups": (),
        "copy": "",
        "events": run_address(request, run, "events"),
        "stop": run_address(request, run, "stop"),
    }


def _kept(request: Request, found: Report) -> dict[str, Any]:
    """The same of a report."""
    links = {one.number: place(request, one) for one in found.citations}
    return {
        "title": found.title,
        "question": found.question,
        "running": False,
        "done": found,
        "stopped": False,
        "problem": None,
        "steps": (),
        "html": (as_html if found.model else extract)(_SOURCES.sub("\n", _TITLE.sub("", found.text)), links),
        "groups": grouped(request, found.citations),
        "copy": found.text,
    }


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


def _parts(request: Request, run: WebRun) -> Mapping[str, str]:
    return fragments(request, "report.html", _PARTS, **_view(request, run))


def _where(request: Request, run: WebRun) -> str:
    if run.result is not None and run.result.known:  # one that found nothing is not kept
        return address(f"/research/{run.result.id}", request)
    return address(f"/research/run/{run.id}", request)


def _still_holds(memory: Memory, run: WebRun) -> bool:
    """Whether what it has told is in the memory: as a report, or kept to be gone on with; of nothing found, what is
    nearest.
    """
    if run.result is not None and not run.result.known:
        return hold(memory, run.result.citations)
    kept = {one.id: one for one in memory.reports()}
    if run.result is not None:
        return run.result.id in kept
    return not words_so_far(run.events) or any(run.title == one.question for one in kept.values())


drawn_by("research", _parts, _where, _still_holds)
