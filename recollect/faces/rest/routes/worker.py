"""The work in the background: what is due, what was given up, and doing it now."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Literal

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT
from starlette.concurrency import run_in_threadpool

from recollect.errors import RecollectError
from recollect.faces.http.events import ERROR, EVENTS, HEADERS, Stream, Tell, as_event, event, in_events, worked
from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import WHOLE_STORE, Scoped, served
from recollect.faces.http.served import Served
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, calls, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.upkeep import (
    Backlog,
    Consolidated,
    Made,
    Retried,
    Retry,
    State,
    Task,
    ToConsolidate,
    ToEmbed,
    ToWork,
    Worked,
)
from recollect.memory import Memory

routes = family("background work")

_PROGRESS = "Each `progress`; last `result` or `error`. Who stops listening stops the work; it goes on where it was."
_EXAMPLE = 'event: progress\ndata: {"messages":120,"tasks":3}\n\n'
_STATES = "A `state` at once, and another whenever it has changed."
_STATE = 'event: state\ndata: {"messages":4118,"due":31,"leased":1,"dead":0}\n\n'

_LOOK = 1.0  # seconds between two looks
_QUIET = 15  # looks without a change, after which it is said that the stream lives


@routes.get("/tasks")
def tasks(
    memory: Scoped, cursor: Paged, state: Literal["due", "leased", "dead"] = "due", limit: Limit = 100
) -> Page[Task]:
    """What a worker has to do, is doing, or has given up, oldest first."""
    found = memory.upkeep.tasks(state, limit=cursor.offset + limit + 1)
    items, following = cursor.page(found, limit)
    shown = [
        Task(id=task.id, kind=task.kind, subject=task.subject, due=task.due, reason=why or None) for task, why in items
    ]
    return Page[Task](items=shown, next=following)


@routes.post("/tasks/retry", dependencies=[ONCE])
def retry(memory: Scoped, which: Retry) -> Retried:
    """Has tasks that were given up tried again: those with these ids, or all."""
    return Retried(retried=memory.upkeep.retry(*which.ids))


@routes.get("/backlog")
def backlog(memory: Scoped) -> Backlog | None:
    """What waits for the model that is set for background work, and about what it will take; null without one."""
    found = memory.upkeep.backlog()
    return None if found is None else Backlog.model_validate(found)


@routes.get(
    "/worker/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": _STATES,
            "content": {EVENTS: {"schema": {"type": "string", "description": _STATES}, "example": _STATE}},
        }
    },
    openapi_extra=calls("stats", "index"),
)
async def worker_events(request: Request, memory: Scoped) -> StreamingResponse:
    """How far the background work is, as it goes on: whichever process does it."""
    return Stream(_states(memory, served(request), _ending(request)), media_type=EVENTS, headers=HEADERS)


@routes.post("/consolidate", response_model=Consolidated, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[ONCE])
def consolidate(request: Request, memory: Scoped, asked: ToConsolidate) -> Consolidated | Response:
    """Derives what is due in the namespace: summaries, facts, entities, topics."""

    def work(tell: Tell) -> Consolidated:
        done = memory.upkeep.consolidate(
            limit=asked.limit,
            again=asked.again,
            progress=lambda so_far: tell("progress", Consolidated.model_validate(so_far)),
        )
        return Consolidated.model_validate(done)

    return worked(request, work)


@routes.post("/work", response_model=Worked, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[WHOLE_STORE, ONCE])
def work(request: Request, memory: Scoped, asked: ToWork) -> Worked | Response:
    """Does what the background worker does, until nothing is left to do: derives, makes quality vectors, keeps the
    store in shape.
    """

    def shift(tell: Tell) -> Worked:
        done = memory.upkeep.work(
            namespaces=asked.namespaces,
            once=True,
            again=asked.again,
            progress=lambda so_far: tell("progress", Worked.model_validate(so_far)),
        )
        return Worked.model_validate(done)

    return worked(request, shift)


@routes.post("/embed", response_model=Made, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[ONCE])
def embed(request: Request, memory: Scoped, asked: ToEmbed) -> Made | Response:
    """Makes the vectors of the quality mode for what was said and has none yet, newest first."""

    def make(tell: Tell) -> Made:
        made = memory.upkeep.embed(
            limit=asked.limit, progress=lambda done, total: tell("progress", {"done": done, "total": total})
        )
        return Made(made=made)

    return worked(request, make)


def _ending(request: Request) -> Callable[[], bool]:
    """Whether the server is about to end, which a stream without an end has to ask."""
    state = request.app.state
    if not hasattr(state, "rest_ending"):
        state.rest_ending = threading.Event()
        state.at_end = [*getattr(state, "at_end", ()), state.rest_ending.set]
    told: threading.Event = state.rest_ending
    return told.is_set


async def _states(memory: Memory, here: Served, stopping: Callable[[], bool]) -> AsyncIterator[bytes]:
    before, quiet = None, 0
    while not stopping():
        try:
            now = await run_in_threadpool(_state, memory)
        except RecollectError as error:
            yield event(ERROR, as_event(here.public(error)))
            return
        if now != before:
            yield event("state", now)
            before, quiet = now, 0
        elif (quiet := quiet + 1) % _QUIET == 0:
            yield KEEPALIVE_COMMENT
        await asyncio.sleep(_LOOK)


def _state(memory: Memory) -> State:
    counts, index = memory.upkeep.stats(), memory.upkeep.index()
    return State(
        messages=counts.messages,
        said_passages=counts.said_passages,
        quality=counts.quality,
        due=counts.tasks.get("due", 0),
        leased=counts.tasks.get("leased", 0),
        dead=counts.tasks.get("dead", 0),
        rebuilding=index.building is not None,
    )
