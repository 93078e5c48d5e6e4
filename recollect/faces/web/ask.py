"""Ask: a question above, an answer that comes word by word, and beside it the sentences that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from starlette.responses import RedirectResponse

from recollect.faces.http.scope import Scoped, served
from recollect.faces.web.cited import answer as as_html
from recollect.faces.web.cited import extract
from recollect.faces.web.live import drawn_by, run_address
from recollect.faces.web.page import address, fragments, page, wants_json
from recollect.faces.web.runs import Run, runs_of
from recollect.faces.web.sources import as_text, grouped, place
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


@router.get("/ask")
def ask(
    request: Request,
    memory: Scoped,
    q: str = "",
    source: Annotated[list[str] | None, Query()] = None,
    since: str = "",
    until: str = "",
    in_: Annotated[str, Query(alias="in")] = "",
    intent: str = "",
) -> Response:
    """The answer to a question, as far as it has come; without one the box."""
    question = q.strip()
    filters = _filters(source, since, until, in_, intent)
    runs, namespace = runs_of(request), str(memory.namespace)
    if question and wants_json(request):
        return page(request, "ask.html", data=lambda: memory.ask(question, **filters).to_json())
    key = _key(question, filters)
    run = runs.last("ask", namespace, key) if question else None
    if run is not None and not _still_holds(memory, run):
        run = None
    if question and run is None and _asked_here(request):
        run = runs.begin("ask", namespace, key, question, _work(memory, question, filters))
        run.wait(0.2)  # without a model most answers are there by then
    if run is not None:
        return page(request, "ask.html", **_view(request, run))
    lately = [(one.title, _where(request, one)) for one in reversed(runs.all("ask", namespace))]
    return page(
        request,
        "ask.html",
        run=None,
        q=question,
        running=False,
        filters=filters,
        lately=list(dict.fromkeys(lately))[:6],
        model=served(request).model,
        sources_known=sorted(memory.stats().by_source),
    )


@router.post("/ask")
def ask_again(request: Request, memory: Scoped, q: Annotated[str, Form()]) -> Response:
    """Asks once more, whatever was answered before; the filters are those of the address."""
    question = q.strip()
    query = {name: request.query_params.getlist(name) for name in ("source", "since", "until", "in", "intent")}
    one = {name: values[0] if values else "" for name, values in query.items()}
    filters = _filters(query["source"], one["since"], one["until"], one["in"], one["intent"])
    if question:
        key = _key(question, filters)
        runs_of(request).begin("ask", str(memory.namespace), key, question, _work(memory, question, filters))
    return RedirectResponse(address("/ask", request, q=question, **query), 303)


def _filters(source: list[str] | None, since: str, until: str, in_: str, intent: str) -> dict[str, Any]:
    """As `Memory.ask` takes them; empty fields of a form are none."""
    return {
        "source": [name for name in source or () if name],
        "since": since.strip() or None,
        "until": until.strip() or None,
        "conversation": in_.strip() or None,
        "intent": intent.strip() or None,
    }


def _key(question: str, filters: Mapping[str, Any]) -> tuple[object, ...]:
    return (question, *(tuple(value) if isinstance(value, list) else value for value in filters.values()))


def _asked_here(request: Request) -> bool:
    """Whether the question comes from a page of ours or the address bar: a link elsewhere must not spend money."""
    return request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def _work(memory: Memory, question: str, filters: Mapping[str, Any]) -> Any:
    def work(tell: Any) -> Any:
        last: Any = None
        with closing(memory.ask_stream(question, **filters)) as events:  # type: ignore[type-var]
            for last in events:
                tell(last)
        return last

    return work


def _still_holds(memory: Memory, run: Run) -> bool:
    """Whether what an answer cites is in the memory as it was."""
    if run.result is None:
        return not run.stopped or run.ended is None
    cited = [c.message for c in run.result.citations if c.conversation is not None]
    there = {message.id: message for message in memory.messages([message.id for message in cited])}
    return all(
        (found := there.get(message.id)) is not None and not found.deleted and found.content == message.content
        for message in cited
    )


def _view(request: Request, run: Run) -> dict[str, Any]:
    """What the template shows of a run."""
    found = run.result
    citations = found.citations if found else ()
    links = {one.number: place(request, one) for one in citations}
    if found:
        html = as_html(found.text, links) if found.model else extract(found.text, links)
    else:
        html = as_html(words_so_far(run.events))
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


def _parts(request: Request, run: Run) -> Mapping[str, str]:
    return fragments(request, "ask.html", _PARTS, **_view(request, run))


def _where(request: Request, run: Run) -> str:
    question, sources, since, until, conversation, intent = run.key  # type: ignore[misc]
    filters = {"source": sources, "since": since, "until": until, "in": conversation, "intent": intent}
    return address("/ask", request, q=question, **filters)


drawn_by("ask", _parts, _where)
