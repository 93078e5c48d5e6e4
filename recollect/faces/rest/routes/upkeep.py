"""The store: what is in it, whether it is whole, copies of it."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from recollect.errors import Incomplete, InvalidInput
from recollect.faces.http.events import Stream, Tell, in_events, worked
from recollect.faces.http.once import ONCE, answers_of
from recollect.faces.http.scope import NAMES_FILES, WHOLE_STORE, AllMemories, Scoped, reach
from recollect.faces.rest.routes.family import calls, family
from recollect.faces.rest.schemas.upkeep import (
    BackedUp,
    Checked,
    Counts,
    Dropped,
    Health,
    Index,
    Made,
    Maintained,
    Namespaces,
    Store,
    ToBackUp,
    ToMaintain,
    Violation,
)
from recollect.memory import Memory
from recollect.version import VERSION

routes = family("the store")

_PROGRESS = "Each `progress` (done, total); last `result` or `error`."
_EXAMPLE = 'event: progress\ndata: {"done":500,"total":2000}\n\n'
_PIECE = 65_536


@routes.get("/stats")
def stats(memory: Scoped) -> Counts:
    """What is in the namespace."""
    return Counts.model_validate(memory.upkeep.stats())


@routes.get("/index")
def index(memory: Scoped) -> Index:
    """What search reads, and whether another index is being built beside it."""
    found = memory.upkeep.index()
    return Index(
        generation=found.generation,
        embedder=found.embedder.name if found.embedder else None,
        quality=found.quality,
        rebuilding=found.building is not None,
    )


@routes.get("/store", openapi_extra=calls("info", "stored_embedder", "location", "embedder_name"))
def store(request: Request, memory: Scoped) -> Store:
    """About the whole store, and the namespace that this request is about. The token of a namespace is told neither
    the place nor the size.
    """
    info, is_whole = memory.upkeep.info(), not reach(request)
    return Store(
        location=memory.location if is_whole else None,
        engine=info.engine,
        layout=info.schema,
        bytes=(info.bytes or None) if is_whole else None,
        namespace=memory.namespace,
        embedder=memory.upkeep.embedder_name,
        stored_embedder=memory.upkeep.stored_embedder(),
        version=VERSION,
    )


@routes.get("/namespaces", openapi_extra=calls("namespaces", "beside"))
def namespaces(memories: AllMemories) -> Namespaces:
    """Those that hold anything, and the server's own; of those that the token reaches."""
    return Namespaces(namespaces=list(memories.names()))


@routes.delete("/namespace", dependencies=[ONCE])
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
    return Dropped(dropped=dropped)


@routes.get("/check")
def check(memory: Scoped) -> Checked:
    """Verifies every invariant of the namespace."""
    return _checked(memory.upkeep.check())


@routes.get("/health")
def probe(memory: Scoped) -> Health:
    """Searches for one of the newest messages, and says whether it was found: whether search is well."""
    return Health.model_validate(memory.upkeep.probe())


@routes.post("/repair", response_model=Checked, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[ONCE])
def repair(request: Request, memory: Scoped) -> Checked | Response:
    """Makes anew what is derived, where something is wrong with it; gives what is wrong then."""
    return worked(request, lambda tell: _checked(memory.upkeep.repair(progress=_of(tell))), to_the_end=True)


@routes.post("/reindex", response_model=Made, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[ONCE])
def reindex(request: Request, memory: Scoped) -> Made | Response:
    """Makes anew what search derives from the messages, beside what is in use; gives how many messages were read."""
    return worked(request, lambda tell: Made(made=memory.upkeep.reindex(progress=_of(tell))), to_the_end=True)


@routes.post("/maintain", dependencies=[WHOLE_STORE, ONCE])
def maintain(memory: Scoped, asked: ToMaintain) -> Maintained:
    """Does what is due of the store's own upkeep."""
    budget = None if asked.seconds is None else timedelta(seconds=asked.seconds)
    return Maintained(more=memory.upkeep.maintain(budget))


@routes.post(
    "/backup", response_model=BackedUp, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[NAMES_FILES, ONCE]
)
def backup(request: Request, memory: Scoped, asked: ToBackUp) -> BackedUp | Response:
    """Writes a verified copy of the whole store to a file of its machine, while it is in use. For a server with
    a token.
    """

    def work(tell: Tell) -> BackedUp:
        return BackedUp(file=asked.path, bytes=memory.upkeep.backup(asked.path, progress=_of(tell)))

    return worked(request, work, to_the_end=True)


@routes.get(
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


def _checked(violations: list[Any]) -> Checked:
    return Checked(ok=not violations, violations=[Violation.model_validate(one) for one in violations])
