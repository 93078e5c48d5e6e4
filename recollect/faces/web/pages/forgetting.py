"""Forget, delete, restore: what goes, with all that goes with it, is shown before anything does."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from recollect.errors import InvalidInput, RecollectError
from recollect.faces.http.once import answers_of
from recollect.faces.http.scope import Scoped
from recollect.faces.present.names import beginning, meant
from recollect.faces.web.page import address, page
from recollect.faces.web.pages.importing import state_of
from recollect.faces.web.runs import RUN_PAGES, RunPage, WebRun, run_view, runs_of, sources_known

if TYPE_CHECKING:
    from recollect.ingest.forget import Forgotten
    from recollect.memory import Memory

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What somebody wants to have forgotten, as the form says it."""

    what: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    everything: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is chosen yet."""
        return not (self.what or self.source or self.since or self.until or self.everything)

    def of(self, memory: Memory, *, dry_run: bool) -> Forgotten:
        """Forgets it, or says what would go. Raises NotFound, InvalidInput."""
        return memory.forget(
            *self.what,
            sources=self.source,
            since=self.since or None,
            until=self.until or None,
            everything=self.everything,
            dry_run=dry_run,
        )


@router.get("/forget")
def forget(
    request: Request,
    memory: Scoped,
    what: Annotated[list[str] | None, Query()] = None,
    source: Annotated[list[str] | None, Query()] = None,
    since: str = "",
    until: str = "",
    everything: str = "",
) -> Response:
    """What would go; without a choice, the form for one. Changes nothing."""
    chosen = _chosen(what, source, since, until, everything)
    plan, problem = None, None
    if not chosen.is_empty:
        try:
            # What is shown goes, whatever a name may mean by then.
            chosen = replace(chosen, what=tuple(meant(memory, name).id for name in chosen.what))
            plan = chosen.of(memory, dry_run=True)
        except RecollectError as wrong:
            problem = wrong
    return page(
        request,
        "forget.html",
        fragment="plan",
        here="/status",
        status=200 if problem is None else 400,
        data=lambda: asdict(plan) if plan else {"problem": str(problem) if problem else None},
        chosen=chosen,
        plan=plan,
        problem=problem,
        named=_named(memory, chosen, plan),
        sources_known=sources_known(request, memory),
    )


@router.post("/forget")
def forget_now(
    request: Request,
    memory: Scoped,
    what: Annotated[list[str] | None, Form()] = None,
    source: Annotated[list[str] | None, Form()] = None,
    since: Annotated[str, Form()] = "",
    until: Annotated[str, Form()] = "",
    everything: Annotated[str, Form()] = "",
    sure: Annotated[str, Form()] = "",
) -> Response:
    """Forgets what the page before has shown."""
    chosen = _chosen(what, source, since, until, everything)
    if chosen.everything and sure.strip() != str(memory.namespace):
        raise InvalidInput("Nothing was forgotten.", hint=f"To forget everything, type the name: {memory.namespace}")
    chosen.of(memory, dry_run=True)  # what is wrong with it is said at once
    runs, state = runs_of(request), state_of(request, memory)

    def work(tell: Any) -> Forgotten:
        done = chosen.of(memory, dry_run=False)
        runs.drop(str(memory.namespace))  # answers may repeat what is gone
        state.forget()
        answers_of(request).forget(str(memory.namespace))
        return replace(done, titles=())

    run = runs.begin("forget", str(memory.namespace), chosen, "", work)
    run.wait(0.5)
    return RedirectResponse(_where(request, run), 303)


@router.get("/forget/{id}")
def forgotten(request: Request, memory: Scoped, id: str) -> Response:
    """What has gone."""
    run = runs_of(request).get(id, str(memory.namespace))
    data = asdict(run.result) if run.result else {"running": run.ended is None}
    return page(request, "forgotten.html", here="/status", data=data, **run_view(request, run))


@router.get("/deleted")
def deleted(request: Request, memory: Scoped, done: str = "", restored: str = "") -> Response:
    """What was deleted, and can be restored."""
    rows = memory.upkeep.deleted(limit=200)
    return page(
        request,
        "deleted.html",
        here="/status",
        data=lambda: {
            "deleted": [
                {"id": row.conversation.id, "title": row.conversation.title, "messages": len(row.messages)}
                for row in rows
            ]
        },
        rows=rows,
        done=done,
        restored=_place_of(memory, restored),
    )


@router.post("/delete")
def delete(request: Request, memory: Scoped, what: Annotated[list[str], Form()]) -> Response:
    """Hides messages and conversations, until they are restored."""
    memory.delete(*what)
    return RedirectResponse(address("/deleted", request, done=what[0]), 303)


@router.post("/restore")
def restore(request: Request, memory: Scoped, what: Annotated[list[str], Form()]) -> Response:
    """Takes that back."""
    memory.restore(*what)
    return RedirectResponse(address("/deleted", request, restored=what[0]), 303)


def _chosen(what: list[str] | None, source: list[str] | None, since: str, until: str, everything: str) -> Chosen:
    """Empty fields of a form choose nothing."""
    return Chosen(
        tuple(name.strip() for name in what or () if name.strip()),
        tuple(name for name in source or () if name),
        since.strip(),
        until.strip(),
        everything == "yes",
    )


def _named(memory: Memory, chosen: Chosen, plan: Forgotten | None) -> str:
    """What a person calls it: a title, or the first words of a message."""
    if plan is None or len(chosen.what) != 1:
        return ""
    try:
        thread, message = memory.resolve(chosen.what[0])
    except RecollectError:
        return plan.titles[0] if plan.titles else ""
    if message is not None:
        return beginning(message.content, 60)
    return thread.conversation.title


def _place_of(memory: Memory, name: str) -> str:
    """Where something that was restored can be seen."""
    if not name:
        return ""
    try:
        thread, message = memory.resolve(name)
    except RecollectError:
        return ""
    return f"/c/{thread.conversation.id}" + (f"#m-{message.id}" if message else "")


def _where(request: Request, run: WebRun) -> str:
    return address(f"/forget/{run.id}", request)


RUN_PAGES["forget"] = RunPage("forgotten.html", ("progress",), run_view, _where)
