"""Answers while they are made: the same call gives one JSON document, or server-sent events to who accepts them.

A thread does the work and hands over what it has; when nobody listens any more it is told at its next word.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import closing, suppress
from typing import Any, TypeVar

import anyio
import orjson
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from recollect.errors import RecollectError
from recollect.faces.http.problems import problem, status_of

EVENTS = "text/event-stream"
RESULT, ERROR = "result", "error"  # the last event of a stream is one of them

_PING = 15.0  # seconds of silence
_MOST = 64  # streams at once
_AHEAD = 200  # events that are not read yet
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

#: Tells an event: its name and its data. Raises Gone where nobody listens any more.
Tell = Callable[[str, object], None]
R = TypeVar("R", bound=BaseModel)

_log = logging.getLogger("recollect.http")
_open: set[threading.Event] = set()  # one for each stream


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


class Gone(Exception):
    """Nobody listens any more."""


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
    told: Mapping[type, tuple[str, Callable[[Any], object]]],
    last: Callable[[Any], R],
) -> R | Response:
    """The last thing that an iterator gives, or all of it as it comes. `told` names the events that come before."""

    def work(tell: Tell) -> R:
        with closing(begin()) as things:
            for thing in things:
                if type(thing) not in told:
                    return last(thing)
                name, plain = told[type(thing)]
                tell(name, plain(thing))
        raise RuntimeError("it ended without an answer")

    return worked(request, work)


def worked(request: Request, work: Callable[[Tell], R], *, to_the_end: bool = False) -> R | Response:
    """What some work gives, or its progress and then that. Work that is done `to_the_end` goes on where nobody listens
    any more, unless the server stops.
    """
    if not wants_events(request):
        return work(lambda name, data: None)
    return stream(lambda tell: tell(RESULT, work(tell)), to_the_end=to_the_end)


def stream(work: Callable[[Tell], object], *, to_the_end: bool = False) -> Response:
    """What some work tells, as events."""
    if len(_open) >= _MOST:
        hint = "Close some of them, or ask without text/event-stream."
        return problem(503, "Too many streams are open.", code="too_many", hint=hint, headers={"Retry-After": "10"})
    return Stream(_events(work, to_the_end=to_the_end), media_type=EVENTS, headers=HEADERS)


async def _events(work: Callable[[Tell], object], *, to_the_end: bool) -> AsyncIterator[bytes]:
    loop, gone = asyncio.get_running_loop(), threading.Event()
    ready: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = threading.Semaphore(_AHEAD)

    def put(event: bytes | None) -> None:
        try:
            loop.call_soon_threadsafe(ready.put_nowait, event)
        except RuntimeError:  # the loop is closed: the server has stopped
            raise Gone from None

    def tell(name: str, data: object) -> None:
        if gone.is_set():
            if to_the_end:
                return
            raise Gone
        room.acquire()  # who reads slowly is waited for
        put(event(name, data))

    def run() -> None:
        try:
            with suppress(Gone):
                _run(work, tell)
        finally:
            _open.discard(gone)
            with suppress(Gone):
                put(None)

    _open.add(gone)
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="recollect-events", daemon=True).start()
    try:
        while True:
            try:
                following = await asyncio.wait_for(ready.get(), _PING)
            except TimeoutError:
                yield KEEPALIVE_COMMENT
                continue
            if following is None:
                return
            room.release()
            yield following
    finally:
        gone.set()
        room.release()


def _run(work: Callable[[Tell], object], tell: Tell) -> None:
    """Does it; what goes wrong is told, too."""
    try:
        work(tell)
    except Gone:
        raise
    except RecollectError as error:
        tell(ERROR, {"status": status_of(error), "detail": error.message, "code": error.code, "hint": error.hint})
    except Exception as bug:
        _log.error("Something went wrong inside Recollect while it streamed", exc_info=bug)
        detail = f"Something went wrong inside Recollect ({type(bug).__name__})."
        tell(ERROR, {"status": 500, "detail": detail, "code": "internal", "hint": "The server's log says where."})


def event(name: str, data: object) -> bytes:
    """An event as it is sent."""
    raw = data.model_dump_json() if isinstance(data, BaseModel) else orjson.dumps(data).decode()
    return format_sse_event(event=name, data_str=raw)
