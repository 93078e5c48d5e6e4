"""Work that a page starts and can come back to: a question, research, an import.

Whoever closes the page, goes back or loads it again finds the run where it is, and nothing is asked or paid for twice.
Runs live as long as the server; what they made is in the memory.

A page has each part of a run whole, whenever it is loaded. With a script it also gets the parts that have changed, as
server-sent events; without one it loads itself again. Either way a part is a function of the state of the run.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from recollect.errors import NotFound, RecollectError
from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import address, fragments, scope_of
from recollect.memory import Memory
from recollect.record import new_id, utc_now

_KEPT = 40  # finished runs of a kind
_TOLD_AGAIN = 3600.0  # seconds for which a finished run is shown instead of being done again

_log = logging.getLogger("recollect.web")


class Stopped(Exception):
    """Somebody has asked for the end of a run."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that a run has told, so many seconds after its beginning."""

    event: Any
    at: float


#: What a run does: it is given what takes its events, and returns what came of it.
Work = Callable[[Callable[[Any], None]], Any]
#: What is told of an error.
Public = Callable[[RecollectError], RecollectError]


class WebRun:
    """One piece of work. Its events only grow; `result` or `problem` is there once `ended` is."""

    def __init__(self, kind: str, namespace: str, key: Hashable, title: str, work: Work, public: Public) -> None:
        self.id, self.kind, self.namespace, self.key, self.title = new_id(), kind, namespace, key, title
        self.began: datetime = utc_now()
        self.ended: datetime | None = None
        self.events: list[RunEvent] = []
        self.result: Any = None
        self.problem: RecollectError | None = None
        self.stopped = False
        self._work, self._public, self._clock = work, public, time.monotonic()
        self._listeners: list[Callable[[], None]] = []
        self._lock, self._over = threading.Lock(), threading.Event()

    def start(self) -> None:
        """Begins."""
        threading.Thread(target=self._run, name=f"recollect-{self.kind}", daemon=True).start()

    def stop(self) -> None:
        """Has it end at the next event."""
        if self.ended is None:
            self.stopped = True

    def wait(self, seconds: float) -> bool:
        """Whether it ended within so long."""
        return self._over.wait(seconds)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._clock

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` whenever there is something new, until what is returned is called."""
        with self._lock:
            self._listeners.append(changed)

        def deaf() -> None:
            with self._lock, suppress(ValueError):
                self._listeners.remove(changed)

        return deaf

    def _tell(self, event: Any) -> None:
        if self.stopped:
            raise Stopped
        self.events.append(RunEvent(event, self.seconds))
        self.wake()

    def wake(self) -> None:
        """Has who listens look again."""
        with self._lock:
            listeners = list(self._listeners)
        for changed in listeners:
            with suppress(RuntimeError):  # the loop of the listener is closed
                changed()

    def _run(self) -> None:
        try:
            self.result = self._work(self._tell)
        except Stopped:
            pass
        except RecollectError as problem:
            self.problem = self._public(problem)
        except Exception as bug:  # its message may quote what was said
            _log.error("A run has failed: %s", type(bug).__name__, exc_info=_log.isEnabledFor(logging.DEBUG))
            self.problem = RecollectError(f"This has failed, by a mistake of Recollect: {type(bug).__name__}.")
        finally:
            self.ended = utc_now()
            self._over.set()
            self.wake()


class WebRuns:
    """The runs of a server. Thread-safe."""

    def __init__(self, public: Public = lambda problem: problem) -> None:
        self._public = public
        self._runs: dict[str, WebRun] = {}
        self._lock = threading.Lock()
        self.is_over = False

    def begin(self, kind: str, namespace: str, key: Hashable, title: str, work: Work) -> WebRun:
        """Begins a run, unless one of this key is under way."""
        with self._lock:
            for run in self._runs.values():
                if (run.kind, run.namespace, run.key) == (kind, namespace, key) and run.ended is None:
                    return run
            run = WebRun(kind, namespace, key, title, work, self._public)
            self._runs[run.id] = run
            ended = [one.id for one in self._runs.values() if one.ended is not None and one.kind == kind]
            for old in ended[: max(0, len(ended) - _KEPT)]:
                del self._runs[old]
        run.start()
        return run

    def fresh(self, kind: str, namespace: str, work: Work, *, seconds: float, patience: float) -> WebRun:
        """A run that is not older than so many seconds; who asks waits no longer than `patience` for a new one."""
        run = self.last(kind, namespace, None)
        if run is None or (run.ended is not None and run.seconds > seconds):
            run = self.begin(kind, namespace, None, "", work)
            run.wait(patience)
        return run

    def last(self, kind: str, namespace: str, key: Hashable) -> WebRun | None:
        """The newest run of a key that is under way, or has ended well and not long ago."""
        for run in reversed(self.all(kind, namespace)):
            if run.key == key and (run.ended is None or (run.problem is None and run.seconds < _TOLD_AGAIN)):
                return run
        return None

    def get(self, id: str, namespace: str) -> WebRun:
        """A run by its id. Raises NotFound."""
        found = self._runs.get(id)
        if found is None or found.namespace != namespace:
            raise NotFound("That is over: the server has been started again since, or it was long ago.")
        return found

    def all(self, kind: str, namespace: str) -> list[WebRun]:
        """Those of a kind, oldest first."""
        with self._lock:
            return [run for run in self._runs.values() if (run.kind, run.namespace) == (kind, namespace)]

    def drop(self, namespace: str) -> None:
        """Forgets what has ended: it may repeat words that are gone from the memory."""
        with self._lock:
            kept = (run for run in self._runs.values() if run.namespace != namespace or run.ended is None)
            self._runs = {run.id: run for run in kept}

    def end(self) -> None:
        """The server ends: what is under way stops at its next event, and nobody is told of it any longer."""
        self.is_over = True
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.stop()
            run.wake()

    def close(self, seconds: float = 5.0) -> None:
        """Stops everything, and waits so long for what is in the middle of something."""
        with self._lock:
            waiting = [run for run in self._runs.values() if run.ended is None]
        for run in waiting:
            run.stop()
        until = time.monotonic() + seconds
        for run in waiting:
            run.wait(max(0.0, until - time.monotonic()))


def runs_of(request: Request) -> WebRuns:
    """The runs of the server that answers this request."""
    state = request.app.state
    with _making:
        if not hasattr(state, "runs"):
            state.runs = WebRuns(state.served.public)
            state.at_end = (*getattr(state, "at_end", ()), state.runs.end)
    found: WebRuns = state.runs
    return found


_making = threading.Lock()


def sources_known(request: Request, memory: Memory) -> list[str]:
    """The sources of a namespace, for a form; none while they are still being counted, of very many messages."""

    def work(tell: Callable[[Any], None]) -> list[str]:
        return sorted(memory.upkeep.stats().by_source)

    run = runs_of(request).fresh("sources", str(memory.namespace), work, seconds=60.0, patience=0.3)
    return run.result or []


@asynccontextmanager
async def _stopped_at_the_end(app: FastAPI) -> AsyncIterator[None]:
    """When the server ends, what is under way is told to: an import keeps what is in, research what it has learned."""
    yield
    if runs := getattr(app.state, "runs", None):
        await run_in_threadpool(runs.close)


router = APIRouter(lifespan=_stopped_at_the_end)

_PAUSE = 0.08  # seconds between two drawings
_STILL_THERE = 15.0  # seconds after which something is sent in any case


@dataclass(frozen=True, slots=True)
class RunPage:
    """How runs of a kind are shown: the blocks of a template that change, what the template is given, the address of
    the page, and whether what a run has told is in the memory still, as it was.
    """

    template: str
    parts: Sequence[str]
    view: Callable[[Request, WebRun], Mapping[str, Any]]
    address: Callable[[Request, WebRun], str]
    holds: Callable[[Memory, WebRun], bool] = lambda memory, run: True

    def draw(self, request: Request, run: WebRun) -> Mapping[str, str]:
        """The parts of a run: the id of each element, and what is in it."""
        return fragments(request, self.template, self.parts, **self.view(request, run))


#: The page of each kind of run that has one.
RUN_PAGES: dict[str, RunPage] = {}


def run_view(request: Request, run: WebRun, **more: Any) -> dict[str, Any]:
    """What every template of a run is given."""
    return {
        "run": run,
        "title": run.title,
        "running": run.ended is None,
        "done": run.result,
        "problem": run.problem,
        "stopped": run.stopped,
        "events": address(f"/runs/{run.id}/events", request),
        "stop": address(f"/runs/{run.id}/stop", request),
    } | more


def existing_run(request: Request, memory: Memory, id: str) -> WebRun:
    """A run that may be shown. Raises NotFound, also where it has told what was changed or forgotten since."""
    run = runs_of(request).get(id, scope_of(request))
    if run.ended is not None and not RUN_PAGES[run.kind].holds(memory, run):
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
    return RedirectResponse(RUN_PAGES[run.kind].address(request, run), 303)


async def _changes(request: Request, run: WebRun) -> AsyncIterator[bytes]:
    shown_on, runs = RUN_PAGES[run.kind], runs_of(request)
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        loop.call_soon_threadsafe(changed.set)

    deaf = run.listen(tell)
    shown: dict[str, str] = {}
    try:
        while True:
            changed.clear()
            over = run.ended is not None
            drawn = await run_in_threadpool(shown_on.draw, request, run)
            new = {name: html for name, html in drawn.items() if shown.get(name) != html}
            shown |= new
            if new:
                yield _event("parts", new)
            if over:
                yield _event("end", {"address": shown_on.address(request, run)})
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
