"""The store, copies of it, whether it is whole; the work in the background, what was given up, and doing it now."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT
from starlette.concurrency import run_in_threadpool

from recollect.derive.tasks.runs import Backlog
from recollect.derive.tasks.worker import Consolidated
from recollect.derive.worker import Done
from recollect.errors import Incomplete, InvalidInput, RecollectError
from recollect.faces.http.answers import ERROR, EVENTS, HEADERS, Stream, Tell, as_event, event, in_events, worked
from recollect.faces.http.once import ONCE, answers_of
from recollect.faces.http.scope import NAMES_FILES, WHOLE_STORE, AllMemories, Scoped, Served, reach, served
from recollect.faces.present.results import (
    BackedUp,
    CheckedView,
    Dropped,
    IndexView,
    Made,
    Maintained,
    Namespaces,
    PageView,
    Retried,
    StateView,
    StoreView,
    TaskView,
)
from recollect.faces.rest.base import Limit, Paged, calls, family
from recollect.faces.rest.bodies import RetryBody, ToBackUp, ToConsolidate, ToEmbed, ToMaintain, ToWork
from recollect.memory import Memory
from recollect.memory.upkeep import Probe
from recollect.store import Counts
from recollect.store.results import Violation

store_routes = family("the store")

_PROGRESS = "Each `progress` (done, total); last `result` or `error`."
_EXAMPLE = 'event: progress\ndata: {"done":500,"total":2000}\n\n'
_PIECE = 65_536


@store_routes.get("/stats")
def stats(memory: Scoped) -> Counts:
    """What is in the namespace."""
    return memory.upkeep.stats()


@store_routes.get("/index")
def index(memory: Scoped) -> IndexView:
    """What search reads, and whether another index is being built beside it."""
    return IndexView.of(memory)


@store_routes.get("/store", openapi_extra=calls("info", "stored_embedder", "embedder_name"))
def store(request: Request, memory: Scoped) -> StoreView:
    """About the whole store, and the namespace that this request is about. The token of a namespace is told neither
    the place nor the size.
    """
    return StoreView.of(memory, is_whole=not reach(request))


@store_routes.get("/namespaces", openapi_extra=calls("namespaces", "beside"))
def namespaces(memories: AllMemories) -> Namespaces:
    """Those that hold anything, and the server's own; of those that the token reaches."""
    return Namespaces(list(memories.names()))


@store_routes.delete("/namespace", dependencies=[ONCE])
def drop_namespace(
    request: Request, memory: Scoped, name: Annotated[str, Query(description="Its name, once more: to be sure.")]
) -> Dropped:
    """Removes the namespace that this request is about for good, with its name."""
    if name != memory.namespace:
        raise InvalidInput(
            f"This request is about {memory.namespace}, not {name}.", hint=f"Ask with namespace={name}, to be sure."
        )
    dropped = memory.upkeep.drop_namespace(name)
    answers_of(request).forget(memory.namespace)
    return Dropped(dropped)


@store_routes.get("/check")
def check(memory: Scoped) -> CheckedView:
    """Verifies every invariant of the namespace."""
    return _checked(memory.upkeep.check())


@store_routes.get("/health")
def probe(memory: Scoped) -> Probe:
    """Searches for one of the newest messages, and says whether it was found: whether search is well."""
    return memory.upkeep.probe()


@store_routes.post("/repair", responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[ONCE])
def repair(request: Request, memory: Scoped) -> CheckedView | Response:
    """Makes anew what is derived, where something is wrong with it; gives what is wrong then."""
    return worked(request, lambda tell: _checked(memory.upkeep.repair(progress=_of(tell))), to_the_end=True)


@store_routes.post("/reindex", responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[ONCE])
def reindex(request: Request, memory: Scoped) -> Made | Response:
    """Makes anew what search derives from the messages, beside what is in use; gives how many messages were read."""
    return worked(request, lambda tell: Made(memory.upkeep.reindex(progress=_of(tell))), to_the_end=True)


@store_routes.post("/maintain", dependencies=[WHOLE_STORE, ONCE])
def maintain(memory: Scoped, asked: ToMaintain) -> Maintained:
    """Does what is due of the store's own upkeep."""
    budget = None if asked.seconds is None else timedelta(seconds=asked.seconds)
    return Maintained(memory.upkeep.maintain(budget))


@store_routes.post("/backup", responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[NAMES_FILES, ONCE])
def backup(request: Request, memory: Scoped, asked: ToBackUp) -> BackedUp | Response:
    """Writes a verified copy of the whole store to a file of its machine, while it is in use. For a server with
    a token.
    """

    def work(tell: Tell) -> BackedUp:
        return BackedUp(asked.path, memory.upkeep.backup(asked.path, progress=_of(tell)))

    return worked(request, work, to_the_end=True)


@store_routes.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "JSON Lines, as they are read: the last line counts them.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    },
)
def export(memory: Scoped) -> StreamingResponse:
    """The whole namespace as a dump that an import reads back without loss."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in memory.namespace)
    return Stream(
        _dumped(memory),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="recollect-{plain}.jsonl"'},
    )


async def _dumped(memory: Memory) -> AsyncIterator[bytes]:
    """The dump through a pipe: never more of it in memory than a piece. What goes wrong breaks the answer off."""
    reading, writing = os.pipe()
    wrong: list[BaseException] = []

    def write() -> None:
        try:
            with os.fdopen(writing, "wb") as pipe:
                memory.export(pipe)
        except (BrokenPipeError, Incomplete):  # nobody reads any more; or the last line says what is lost
            pass
        except BaseException as error:
            wrong.append(error)

    writer = threading.Thread(target=write, name="recollect-export", daemon=True)
    writer.start()
    try:
        while piece := await run_in_threadpool(os.read, reading, _PIECE):
            yield piece
        await run_in_threadpool(writer.join)
        if wrong:
            raise wrong[0]
    finally:
        os.close(reading)


def _of(tell: Tell) -> Any:
    return lambda done, total: tell("progress", {"done": done, "total": total})


def _checked(violations: list[Violation]) -> CheckedView:
    return CheckedView(not violations, violations)


work_routes = family("background work")

_WORKING = "Each `progress`; last `result` or `error`. Who stops listening stops the work; it goes on where it was."
_WORKED = 'event: progress\ndata: {"messages":120,"tasks":3}\n\n'
_STATES = "A `state` at once, and another whenever it has changed."
_STATE = 'event: state\ndata: {"messages":4118,"due":31,"leased":1,"dead":0}\n\n'

_LOOK = 1.0  # seconds between two looks
_QUIET = 15  # looks without a change, after which it is said that the stream lives


@work_routes.get("/tasks")
def tasks(
    memory: Scoped, cursor: Paged, state: Literal["due", "leased", "dead"] = "due", limit: Limit = 100
) -> PageView[TaskView]:
    """What a worker has to do, is doing, or has given up, oldest first."""
    found = memory.upkeep.tasks(state, limit=cursor.offset + limit + 1)
    return cursor.page([TaskView.of(task, why) for task, why in found], limit)


@work_routes.post("/tasks/retry", dependencies=[ONCE])
def retry(memory: Scoped, which: RetryBody) -> Retried:
    """Has tasks that were given up tried again: those with these ids, or all."""
    return Retried(memory.upkeep.retry(*which.ids))


@work_routes.get("/backlog")
def backlog(memory: Scoped) -> Backlog | None:
    """What waits for the model that is set for background work, and about what it will take; null without one."""
    return memory.upkeep.backlog()


@work_routes.get(
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


@work_routes.post("/consolidate", responses=in_events(_WORKING, _WORKED), dependencies=[ONCE])
def consolidate(request: Request, memory: Scoped, asked: ToConsolidate) -> Consolidated | Response:
    """Derives what is due in the namespace: summaries, facts, entities, topics."""

    def work(tell: Tell) -> Consolidated:
        return memory.upkeep.consolidate(limit=asked.limit, again=asked.again, progress=partial(tell, "progress"))

    return worked(request, work)


@work_routes.post("/work", responses=in_events(_WORKING, _WORKED), dependencies=[WHOLE_STORE, ONCE])
def work(request: Request, memory: Scoped, asked: ToWork) -> Done | Response:
    """Does what the background worker does, until nothing is left to do: derives, makes quality vectors, keeps the
    store in shape.
    """

    def shift(tell: Tell) -> Done:
        return memory.upkeep.work(
            namespaces=asked.namespaces, once=True, again=asked.again, progress=partial(tell, "progress")
        )

    return worked(request, shift)


@work_routes.post("/embed", responses=in_events(_WORKING, _WORKED), dependencies=[ONCE])
def embed(request: Request, memory: Scoped, asked: ToEmbed) -> Made | Response:
    """Makes the vectors of the quality mode for what was said and has none yet, newest first."""
    return worked(request, lambda tell: Made(memory.upkeep.embed(limit=asked.limit, progress=_of(tell))))


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
            now = await run_in_threadpool(StateView.of, memory)
        except RecollectError as error:
            yield event(ERROR, as_event(here.public(error)))
            return
        if now != before:
            yield event("state", now)
            before, quiet = now, 0
        elif (quiet := quiet + 1) % _QUIET == 0:
            yield KEEPALIVE_COMMENT
        await asyncio.sleep(_LOOK)
