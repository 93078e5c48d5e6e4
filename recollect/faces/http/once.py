"""Writing once: a request with an `Idempotency-Key` that comes again gets the answer of the first, and nothing is done.

Answers are kept in memory alone, for a day: they hold words, and no file but the store may, or forgetting would not
reach them. Before one is given again, the store is asked whether what it names is there still as it was: another
process may have forgotten it. Else a request that comes again is only told that it was done. After a restart a key is
new. What a message or a tool call is stored under is made from its key, however, so that these are not written twice
even then.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from recollect.errors import InvalidInput, StoreError
from recollect.faces.http.answers import EventStream, problem, told
from recollect.faces.http.scope import asked_namespace, memories
from recollect.memory import Memory
from recollect.record import NodeId, stable_id

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"

_DAY = 86_400.0  # seconds
_MOST, _MOST_BYTES = 10_000, 64_000_000
_MAY_BE_ID = re.compile(rb'(?<=["\[])[^\s"\[\]]{1,200}(?=["\]])')  # alone in quotes or, in texts, in brackets

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Scope = tuple[str, str]  # namespace and key


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What was answered. `mark` is the fingerprint of what it names, as it was then."""

    status: int
    media_type: str
    body: bytes
    mark: str = ""

    def holds(self, memory: Memory) -> bool:
        """Whether nothing that it names was reworded, deleted or forgotten since."""
        return _mark(memory, self.body) == self.mark


@dataclass(slots=True)
class _Kept:
    digest: bytes
    begun: float
    done: bool = False
    answer: KeptAnswer | None = None  # None: it is being made, or may not be repeated


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
            if known is not None and self._clock() - known.begun > _DAY and known.done:
                self._drop(scope)
                known = None
            if known is None:
                self._kept[scope] = _Kept(digest, self._clock())
            return known

    def keep(self, scope: Scope, answer: KeptAnswer | None) -> None:
        """The answer is there, and may be repeated unless it is None; the oldest ones make room."""
        with self._lock:
            self._kept[scope].answer, self._kept[scope].done = answer, True
            self._bytes += len(answer.body) if answer is not None else 0
            done = [one for one, kept in self._kept.items() if kept.done and one != scope]
            for oldest in done:
                if len(self._kept) <= _MOST and self._bytes <= _MOST_BYTES:
                    break
                self._drop(oldest)

    def let_go(self, scope: Scope) -> None:
        """There was no answer that could be given again."""
        with self._lock:
            self._drop(scope)

    def forget(self, namespace: str) -> None:
        """Something of a namespace was forgotten: no answer repeats it, and what was done stays done."""
        with self._lock:
            for kept in [kept for (within, _), kept in self._kept.items() if within == namespace]:
                self._silence(kept)

    def silence(self, kept: _Kept) -> None:
        """What an answer names has changed: it is not repeated any more."""
        with self._lock:
            self._silence(kept)

    def _silence(self, kept: _Kept) -> None:
        if kept.answer is not None:
            self._bytes -= len(kept.answer.body)
            kept.answer = None

    def _drop(self, scope: Scope) -> None:
        kept = self._kept.pop(scope, None)
        if kept is not None:
            self._silence(kept)


class WrittenOnce(APIRoute):
    """A route that is done once for each key, if it takes one: uploads do not, which are too large to be compared, nor
    what only reads.
    """

    def get_route_handler(self) -> Handler:
        """The handler, behind the look at the key."""
        handle = super().get_route_handler()
        if all(needed.call is not _key for needed in self.dependant.dependencies):
            return handle

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            return await handle(request) if key is None else await _once(request, key, handle)

        return once


async def _once(request: Request, key: str, handle: Handler) -> Response:
    try:
        memory = _memory(request)
        scope = (str(memory.namespace), _checked(key))
    except InvalidInput as error:
        return told(error)
    answers = answers_of(request)
    known = answers.begin(scope, digest := _digest(request, await request.body()))
    if known is not None:
        return await run_in_threadpool(_again, known, digest, answers, memory)
    try:
        response = await handle(request)
        if isinstance(response, EventStream):
            response.kept_by(partial(_keep_told, answers, scope, response, memory))
        elif response.status_code < 400:
            await run_in_threadpool(_keep, answers, scope, response, bytes(response.body), memory)
        else:
            answers.let_go(scope)
    except BaseException:
        answers.let_go(scope)
        raise
    return response


def _again(known: _Kept, digest: bytes, answers: Answers, memory: Memory) -> Response:
    if known.digest != digest:
        return problem(409, "This key was used for another request.", code="key_reused", hint="Use a new key.")
    if not known.done:
        detail = "The first request with this key is not answered yet."
        return problem(409, detail, code="in_progress", hint="Ask again later.", headers={"Retry-After": "1"})
    kept = known.answer
    if kept is None or not kept.holds(memory):
        answers.silence(known)
        detail = "This was done; its answer is not repeated, since something was changed or forgotten in the meantime."
        return problem(
            410, detail, code="answer_gone", hint="Ask for what is there now. To do it again, use a new key."
        )
    return Response(kept.body, kept.status, {REPLAYED: "true"}, kept.media_type)


def _keep(answers: Answers, scope: Scope, response: Response, body: bytes, memory: Memory) -> None:
    """Keeps an answer; where it cannot be said by what it holds, only that it was given."""
    try:
        kept = KeptAnswer(response.status_code, _type(response), body, _mark(memory, body))
    except StoreError:
        kept = None
    answers.keep(scope, kept)


def _mark(memory: Memory, body: bytes) -> str:
    """The fingerprint of whatever an answer may name; empty where that is nothing."""
    ids = {found.decode(errors="replace") for found in _MAY_BE_ID.findall(body)}
    return memory.integration.fingerprint(sorted(ids)) if ids else ""


def _keep_told(answers: Answers, scope: Scope, response: Response, memory: Memory, events: list[bytes] | None) -> None:
    """Keeps a stream as it was told, also where nobody listened to its end: what was done is not done again."""
    if events is None:
        answers.let_go(scope)
    else:
        _keep(answers, scope, response, b"".join(events), memory)


def answers_of(request: Request) -> Answers:
    """Those of the server."""
    state = request.app.state
    if not hasattr(state, "rest_answers"):
        state.rest_answers = Answers()
    found: Answers = state.rest_answers
    return found


def _memory(request: Request) -> Memory:
    named = asked_namespace(request)
    return memories(request).of(named)


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
    return Key(str(_memory(request).namespace), key)


#: What handlers of writes take, or depend on.
Once = Annotated[Key, Depends(_key)]
ONCE = Depends(_key)
