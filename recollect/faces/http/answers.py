"""What a server answers besides documents: problem details (RFC 9457), and events while an answer is made."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import closing, suppress
from http import HTTPStatus
from typing import Any, TypeVar

import anyio
import orjson
from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.types import Receive, Scope, Send

from recollect.errors import (
    ImportProblem,
    InvalidInput,
    ModelError,
    NotAllowed,
    NotFound,
    RecollectError,
    StoreBusy,
    StoreError,
)
from recollect.faces.http.scope import served
from recollect.faces.present.views import as_json

#: What is said of a request that would take the stack of whoever reads it.
TOO_DEEP = "The request is nested too deeply."
MEDIA_TYPE = "application/problem+json"

_STATUS = {
    InvalidInput: 400,
    NotAllowed: 403,
    NotFound: 404,
    ImportProblem: 400,
    StoreBusy: 503,
    StoreError: 500,
    ModelError: 502,
}
_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def problem(
    status: int, detail: str, *, code: str = "", hint: str = "", headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    """An answer that says what is wrong, and what to do."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code or _CODES.get(status, "error"),
        "hint": hint,
        **more,
    }
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def status_of(error: RecollectError) -> int:
    """The status that says the same as an error. A model that is not there is 503 rather than a bad gateway."""
    if isinstance(error, ModelError) and not error.again and not error.outage:
        return 503
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def told(error: RecollectError) -> JSONResponse:
    """An error of ours."""
    after = getattr(error, "retry_after", None)
    headers = {"Retry-After": str(max(1, round(after)))} if after else {}
    return problem(status_of(error), error.message, code=error.code, hint=error.hint, headers=headers)


# Answers while they are made: the same call gives one JSON document, or server-sent events to who accepts them.

EVENTS = "text/event-stream"
RESULT, ERROR = "result", "error"  # the last event of a stream is one of them

_PING = 15.0  # seconds of silence
_MOST = 64  # streams at once
_AHEAD = 200  # events that are not read yet
_MOST_KEPT = 1_000_000  # bytes of what was told; of more only the result
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

#: Tells an event: its name and its data. Raises Gone where nobody listens any more.
Tell = Callable[[str, object], None]
#: Gets all that was told once the work has come to its result, whoever listens; None where it did not come to one.
Keep = Callable[[list[bytes] | None], None]
R = TypeVar("R")

_log = logging.getLogger("recollect.http")
_open: set[threading.Event] = set()  # one for each stream


class Gone(Exception):
    """Nobody listens any more."""


class Stream(StreamingResponse):
    """An answer whose source, an async generator, is closed as soon as nobody listens, rather than some time later."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, and closes it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            source: Any = self.body_iterator
            with anyio.CancelScope(shield=True):
                await source.aclose()


class EventStream(Stream):
    """What some work tells, as events. The work begins with the answer, even where the listener is gone before the
    first event.
    """

    def __init__(self, work: Callable[[Tell], object], *, to_the_end: bool) -> None:
        self._telling = _Telling(work, to_the_end=to_the_end)
        super().__init__(self._telling.events(), media_type=EVENTS, headers=HEADERS)

    def kept_by(self, keep: Keep) -> None:
        """Has what is told kept. To be called before it begins."""
        self._telling.keep = keep

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Begins, and answers."""
        self._telling.begin()
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._telling.leave()


def wants_events(request: Request) -> bool:
    """Whether the answer is to be told while it is made."""
    accepted = (kind.partition(";")[0].strip().lower() for kind in request.headers.get("accept", "").split(","))
    return EVENTS in accepted


def in_events(summary: str, example: str) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI is told of a route that gives events as well."""
    events = {"schema": {"type": "string", "description": summary}, "example": example}
    return {200: {"description": "With `Accept: text/event-stream` in events.", "content": {EVENTS: events}}}


def answered(
    request: Request,
    begin: Callable[[], Generator[Any, None, None]],
    told: Mapping[type, str],
    last: type[R],
) -> R | Response:
    """The last thing that an iterator gives, or all of it as it comes. `told` names the events that come before."""

    def work(tell: Tell) -> R:
        with closing(begin()) as things:
            for thing in things:
                if isinstance(thing, last):
                    return thing
                tell(told[type(thing)], thing)
        raise RuntimeError("it ended without an answer")

    return worked(request, work)


def worked(request: Request, work: Callable[[Tell], R], *, to_the_end: bool = False) -> R | Response:
    """What some work gives, or its progress and then that. Work that is done `to_the_end` goes on where nobody listens
    any more, unless the server stops; and where somebody does not read, who then misses some of its progress.
    """
    if not wants_events(request):
        return work(lambda name, data: None)

    def told(tell: Tell) -> None:
        try:
            result = work(tell)
        except RecollectError as error:
            raise served(request).public(error) from error
        tell(RESULT, result)

    return stream(told, to_the_end=to_the_end)


def stream(work: Callable[[Tell], object], *, to_the_end: bool = False) -> Response:
    """What some work tells, as events."""
    if len(_open) >= _MOST:
        hint = "Close some of them, or ask without text/event-stream."
        return problem(503, "Too many streams are open.", code="too_many", hint=hint, headers={"Retry-After": "10"})
    return EventStream(work, to_the_end=to_the_end)


class _Telling:
    """Work in a thread, and the events that it tells, which a loop reads."""

    def __init__(self, work: Callable[[Tell], object], *, to_the_end: bool) -> None:
        self._work, self._to_the_end = work, to_the_end
        self._ready: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        self._gone = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None  # None: it has not begun
        self._told: list[bytes] = []
        self._size, self._is_done = 0, False
        self.keep: Keep | None = None

    def begin(self) -> None:
        """Starts the work, once."""
        if self._loop is not None:
            return
        self._loop = asyncio.get_running_loop()
        _open.add(self._gone)
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), name="recollect-events", daemon=True).start()

    def leave(self) -> None:
        """Nobody listens any more."""
        self._gone.set()
        self._room.release()

    async def events(self) -> AsyncIterator[bytes]:
        """The events as they come, and signs of life between them."""
        self.begin()
        try:
            while True:
                try:
                    following = await asyncio.wait_for(self._ready.get(), _PING)
                except TimeoutError:
                    yield KEEPALIVE_COMMENT
                    continue
                if following is None:
                    return
                self._room.release()
                yield following
        finally:
            self.leave()

    def _run(self) -> None:
        try:
            with suppress(Gone):
                _run(self._work, self._tell)
        finally:
            _open.discard(self._gone)
            if self.keep is not None:  # before the stream ends: who asks again then gets it
                self.keep(self._told if self._is_done else None)
            with suppress(Gone):
                self._put(None)

    def _tell(self, name: str, data: object) -> None:
        self._is_done = name == RESULT  # by then it is done, and nobody's going away undoes it
        if name not in (RESULT, ERROR) and not self._waits_for_room():
            return
        told = event(name, data)
        self._size += len(told)
        if self.keep is not None:
            if self._size > _MOST_KEPT:
                self._told.clear()
            self._told.append(told)
        self._put(told)

    def _waits_for_room(self) -> bool:
        """Whether there is room for one more event. Raises Gone where nobody listens to work that ends then."""
        if not self._to_the_end and not self._gone.is_set():
            self._room.acquire()  # who reads slowly is waited for
        if self._gone.is_set():
            if self._to_the_end:
                return False
            raise Gone
        return not self._to_the_end or self._room.acquire(blocking=False)  # what comes later tells more

    def _put(self, event: bytes | None) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._ready.put_nowait, event)
        except RuntimeError:  # the loop is closed: the server has stopped
            raise Gone from None


def _run(work: Callable[[Tell], object], tell: Tell) -> None:
    """Does it; what goes wrong is told, too."""
    try:
        work(tell)
    except Gone:
        raise
    except RecollectError as error:
        tell(ERROR, as_event(error))
    except Exception as bug:
        _log.error("Something went wrong inside Recollect while it streamed", exc_info=bug)
        detail = f"Something went wrong inside Recollect ({type(bug).__name__})."
        tell(ERROR, {"status": 500, "detail": detail, "code": "internal", "hint": "The server's log says where."})


def as_event(error: RecollectError) -> dict[str, object]:
    """The data of the event that tells an error."""
    return {"status": status_of(error), "detail": error.message, "code": error.code, "hint": error.hint}


def event(name: str, data: object) -> bytes:
    """An event as it is sent."""
    return format_sse_event(event=name, data_str=orjson.dumps(as_json(data)).decode())
