"""A run as a page shows it: parts that are drawn from its state, sent again when they change.

The page has each part whole, whenever it is loaded. With a script it also gets, as server-sent events, those parts
that have changed; without one it loads itself again. Either way a part is a function of the state of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import orjson
from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import address, scope_of
from recollect.faces.web.runs import WebRun, runs_of
from recollect.memory import Memory


@asynccontextmanager
async def _stopped_at_the_end(app: FastAPI) -> AsyncIterator[None]:
    """When the server ends, what is under way is told to: an import keeps what is in, research what it has learned."""
    yield
    if runs := getattr(app.state, "runs", None):
        await run_in_threadpool(runs.close)


router = APIRouter(lifespan=_stopped_at_the_end)

#: Draws the parts of a run: the id of each element, and what stands in it.
Parts = Callable[[Request, WebRun], Mapping[str, str]]
#: Whether what a run has told is in the memory still, as it was.
Holds = Callable[[Memory, WebRun], bool]

_PAUSE = 0.08  # seconds between two drawings
_STILL_THERE = 15.0  # seconds after which something is sent in any case

_drawn_by: dict[str, tuple[Parts, Callable[[Request, WebRun], str]]] = {}
_holds: dict[str, Holds] = {}


def drawn_by(
    kind: str, parts: Parts, where: Callable[[Request, WebRun], str], holds: Holds = lambda memory, run: True
) -> None:
    """Says how runs of a kind are drawn, the address of the page where one is shown, and until when it may be."""
    _drawn_by[kind], _holds[kind] = (parts, where), holds


def existing_run(request: Request, memory: Memory, id: str) -> WebRun:
    """A run that may be shown. Raises NotFound, also where it has told what was changed or forgotten since."""
    run = runs_of(request).get(id, scope_of(request))
    if run.ended is not None and not _holds[run.kind](memory, run):
        raise NotFound("What this has told was changed or forgotten since.", hint="Ask again for what is there now.")
    return run


@router.get("/runs/{id}/events")
async def events(request: Request, memory: Scoped, id: str) -> Response:
    """The parts of a run that change, until it has ended."""
    run = await run_in_threadpool(existing_run, request, memory, id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_changes(request, run), media_type="text/event-stream", headers=headers)


@router.post("/runs/{id}/stop")
def stop(request: Request, id: str) -> Response:
    """Ends a run, and leads back to its page."""
    run = runs_of(request).get(id, scope_of(request))
    run.stop()
    run.wait(1.0)
    return RedirectResponse(_drawn_by[run.kind][1](request, run), 303)


async def _changes(request: Request, run: WebRun) -> AsyncIterator[bytes]:
    (parts, where), runs = _drawn_by[run.kind], runs_of(request)
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        loop.call_soon_threadsafe(changed.set)

    deaf = run.listen(tell)
    shown: dict[str, str] = {}
    try:
        while True:
            changed.clear()
            over = run.ended is not None
            drawn = await run_in_threadpool(parts, request, run)
            new = {name: html for name, html in drawn.items() if shown.get(name) != html}
            shown |= new
            if new:
                yield _event("parts", new)
            if over:
                yield _event("end", {"address": where(request, run)})
                return
            if runs.is_over:
                return
            try:
                await asyncio.wait_for(changed.wait(), _STILL_THERE)
                await asyncio.sleep(_PAUSE)
            except TimeoutError:
                yield b": still there\n\n"
    finally:
        deaf()


def _event(name: str, data: Mapping[str, str]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))


def run_address(request: Request, run: WebRun, path: str) -> str:
    """Where the events of a run are, as `events` or `stop`."""
    return address(f"/runs/{run.id}/{path}", request)
