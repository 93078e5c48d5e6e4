"""Writing once: a request with an `Idempotency-Key` that comes again gets the answer of the first, and nothing is done.

Answers are kept in memory alone, for a day: they hold words, and no file but the store may, or forgetting would not
reach them. After a restart a key is new. What a message or a tool call is stored under is made from its key, however,
so that these are not written twice even then.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute

from recollect.errors import InvalidInput
from recollect.faces.http.problems import problem, told
from recollect.faces.http.scope import HEADER as NAMESPACE
from recollect.faces.rest.events import ERROR
from recollect.record import NodeId, stable_id

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"

_DAY = 86_400.0  # seconds
_MOST, _MOST_BYTES, _LONGEST = 10_000, 64_000_000, 1_000_000
_SAFE = ("GET", "HEAD", "OPTIONS")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Scope = tuple[str, str]  # namespace and key


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered."""

    status: int
    media_type: str
    body: bytes


@dataclass(slots=True)
class _Kept:
    digest: bytes
    begun: float
    answer: Answer | None = None  # None: it is being made


class Answers:
    """The answers of a server. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock, self._clock = threading.Lock(), clock
        self._kept: OrderedDict[Scope, _Kept] = OrderedDict()
        self._bytes = 0

    def begin(self, scope: Scope, digest: bytes) -> _Kept | None:
        """What is known of a key; None: nothing was, and the answer is now being made."""
        with self._lock:
            known = self._kept.get(scope)
            if known is not None and self._clock() - known.begun > _DAY and known.answer is not None:
                self._drop(scope)
                known = None
            if known is None:
                self._kept[scope] = _Kept(digest, self._clock())
            return known

    def keep(self, scope: Scope, answer: Answer) -> None:
        """The answer is there; the oldest ones make room."""
        with self._lock:
            self._kept[scope].answer = answer
            self._bytes += len(answer.body)
            done = [one for one, kept in self._kept.items() if kept.answer is not None and one != scope]
            for oldest in done:
                if len(self._kept) <= _MOST and self._bytes <= _MOST_BYTES:
                    break
                self._drop(oldest)

    def let_go(self, scope: Scope) -> None:
        """There was no answer that could be given again."""
        with self._lock:
            self._drop(scope)

    def forget(self, namespace: str) -> None:
        """Something of a namespace was forgotten: no answer repeats it."""
        with self._lock:
            for scope in [one for one, kept in self._kept.items() if one[0] == namespace and kept.answer is not None]:
                self._drop(scope)

    def _drop(self, scope: Scope) -> None:
        kept = self._kept.pop(scope, None)
        if kept is not None and kept.answer is not None:
            self._bytes -= len(kept.answer.body)


class WrittenOnce(APIRoute):
    """A route whose writes are done once for each key."""

    def get_route_handler(self) -> Handler:
        """The handler, behind the look at the key."""
        handle = super().get_route_handler()
        if self.methods and not self.methods.isdisjoint(_SAFE):
            return handle

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if key is None or not self._takes_json:
                return await handle(request)
            return await _once(request, key, handle)

        return once

    @property
    def _takes_json(self) -> bool:
        """An upload is too large to be compared; importing twice changes nothing in any case."""
        return not (self.openapi_extra or {}).get("x-upload", False)


async def _once(request: Request, key: str, handle: Handler) -> Response:
    try:
        scope = (_namespace(request), _checked(key))
    except InvalidInput as error:
        return told(error)
    answers = answers_of(request)
    known = answers.begin(scope, digest := _digest(request, await request.body()))
    if known is not None:
        return _again(known, digest)
    try:
        response = await handle(request)
    except BaseException:
        answers.let_go(scope)
        raise
    if isinstance(response, StreamingResponse):
        response.body_iterator = _listening(response, response.body_iterator, answers, scope)
    elif response.status_code < 400:
        answers.keep(scope, Answer(response.status_code, _type(response), bytes(response.body)))
    else:
        answers.let_go(scope)
    return response


def _again(known: _Kept, digest: bytes) -> Response:
    if known.digest != digest:
        return problem(422, "This key was used for another request.", code="key_reused", hint="Use a new key.")
    if known.answer is None:
        detail = "The first request with this key is not answered yet."
        return problem(409, detail, code="in_progress", hint="Ask again later.", headers={"Retry-After": "1"})
    kept = known.answer
    return Response(kept.body, kept.status, {REPLAYED: "true"}, kept.media_type)


async def _listening(response: Response, parts_of: Any, answers: Answers, scope: Scope) -> AsyncIterator[Any]:
    """The stream as it is, and what it said, to be said again; nothing of one that broke off or failed."""
    parts: list[bytes] = []
    size, whole = 0, False
    try:
        async with aclosing(parts_of):
            async for part in parts_of:
                raw = part.encode() if isinstance(part, str) else bytes(part)
                size += len(raw)
                if size <= _LONGEST:
                    parts.append(raw)
                yield part
        whole = size <= _LONGEST and not any(raw.startswith(f"event: {ERROR}\n".encode()) for raw in parts[-1:])
    finally:
        if whole:
            answers.keep(scope, Answer(response.status_code, _type(response), b"".join(parts)))
        else:
            answers.let_go(scope)


def answers_of(request: Request) -> Answers:
    """Those of the server."""
    state = request.app.state
    if not hasattr(state, "rest_answers"):
        state.rest_answers = Answers()
    found: Answers = state.rest_answers
    return found


def _namespace(request: Request) -> str:
    named = request.headers.get(NAMESPACE) or request.query_params.get("namespace")
    return str(request.app.state.memories.of(named).namespace)


def _checked(key: str) -> str:
    if not 1 <= len(key) <= 255 or not key.isprintable():
        raise InvalidInput(f"{HEADER} cannot be used.", hint="Use 1 to 255 characters, such as a UUID.")
    return key


def _digest(request: Request, body: bytes) -> bytes:
    told = hashlib.blake2b(digest_size=16)
    kind = request.headers.get("accept", "")
    for part in (request.method, request.url.path, request.url.query, kind):
        told.update(part.encode() + b"\0")
    told.update(body)
    return told.digest()


def _type(response: Response) -> str:
    return response.headers.get("content-type", "application/json")


class Key:
    """The key of a request, from which ids are made."""

    def __init__(self, namespace: str, key: str | None) -> None:
        self._namespace, self._key = namespace, key

    def id(self, what: str, number: int = 0) -> NodeId | None:
        """The id of what this request writes; None without a key."""
        return stable_id("idempotency key", self._namespace, self._key, what, number) if self._key else None


def _key(
    request: Request,
    key: Annotated[
        str | None,
        Header(
            alias=HEADER,
            max_length=255,
            description="The same key with the same request gives the same answer, for a day, and is done once.",
        ),
    ] = None,
) -> Key:
    return Key(_namespace(request), key)


#: What handlers of writes take, or depend on.
Once = Annotated[Key, Depends(_key)]
ONCE = Depends(_key)
