"""Ask: a question above, an answer that comes word by word, and beside it the sentences that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from starlette.responses import RedirectResponse

from recollect.faces.http.scope import Scoped, served
from recollect.faces.web.cited import answer as as_html
from recollect.faces.web.cited import extract, with_caret
from recollect.faces.web.live import drawn_by, run_address
from recollect.faces.web.page import address, fragments, page, wants_json
from recollect.faces.web.runs import WebRun, runs_of, sources_known
from recollect.faces.web.sources import as_text, grouped, hold, place
from recollect.faces.web.steps import steps, words_so_far

if TYPE_CHECKING:
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
        return {
            "source": self.source,
            "since": self.since or None,
            "until": self.until or None,
            "conversation": self.conversation or None,
            "intent": self.intent or None,
        }

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
    def work(tell: Callable[[Any], None]) -> Any:
        last: Any = None
        with closing(memory.ask_stream(asked.question, **asked.options)) as events:
            for last in events:
                tell(last)
        return last

    return runs_of(request).begin("ask", str(memory.namespace), asked, asked.question, work)


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
    return run.result is None or hold(memory, run.result.citations)


def _view(request: Request, run: WebRun) -> dict[str, Any]:
    """What the template shows of a run."""
    found = run.result
    citations = found.citations if found else ()
    links = {one.number: place(request, one) for one in citations}
    if found:
        html = as_html(found.text, links) if found.model else extract(found.text, links)
    else:
        html = as_html(words_so_far(run.events))
        html = with_caret(html) if run.ended is None else html
    return {
        "running": run.ended is None,
        "done": found,
        "problem": run.problem,
        "steps": steps(run, _wording(), _FOLLOWING),
        "html": html,
        "groups": grouped(request, citations),
        "copy": as_text(found.text, citations) if found else "",
        "stopped": run.stopped,
        "again": _where(request, run),
        "events": run_address(request, run, "events"),
        "stop": run_address(request, run, "stop"),
        "run": run,
        "q": run.title,
    }


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


def _parts(request: Request, run: WebRun) -> Mapping[str, str]:
    return fragments(request, "ask.html", _PARTS, **_view(request, run))


def _where(request: Request, run: WebRun) -> str:
    asked: AskParameters = run.key  # type: ignore[assignment]
    return asked.address(request)


drawn_by("ask", _parts, _where, _still_holds)
