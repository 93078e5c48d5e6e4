"""An answer on its way through: passed on piece by piece, listened to, and kept; and errors in the vendor's form."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from fastapi.responses import JSONResponse
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.errors import ModelError, RecollectError
from recollect.faces.proxy.upstream import Upstream, place_of
from recollect.gateway.events import Refusal, is_event_stream
from recollect.gateway.exchange import ProxiedExchange

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    421: "invalid_request_error",
    429: "rate_limit_error",
    508: "invalid_request_error",
}
#: What only OpenAI has below /v1. Both have models, files and more.
_OF_OPENAI = {
    "assistants",
    "audio",
    "batches",
    "chat",
    "completions",
    "containers",
    "conversations",
    "embeddings",
    "engines",
    "evals",
    "fine_tuning",
    "images",
    "moderations",
    "realtime",
    "responses",
    "threads",
    "uploads",
    "vector_stores",
    "videos",
}
_UNREACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


def client_of(path: str, headers: Mapping[str, str]) -> str | None:
    """Whose client asks at an address of the server; None where that is none of the proxy's."""
    place = place_of(path)
    return vendor_of(place.path, headers) if place is not None else None


def vendor_of(path: str, headers: Mapping[str, str]) -> str:
    """Whose client asks for a path below /v1: it says so by that, else by the header that Anthropic asks for. A key may
    be called alike by other servers.
    """
    first = path.partition("/")[0]
    if first == "messages":
        return "anthropic"
    return "anthropic" if first not in _OF_OPENAI and "anthropic-version" in headers else "openai"


def problem(vendor: str, status: int, error: RecollectError) -> JSONResponse:
    """An answer that says what is wrong, and what to do. To ask again is of no use."""
    return JSONResponse(_body(vendor, status, str(error), error.code), status, {"X-Should-Retry": "false"})


def failure(to: Upstream, error: Exception) -> JSONResponse:
    """The answer where the upstream has none. Without this proxy the client would meet the same, and ask again: nothing
    here keeps it from that.
    """
    kind = type(error).__name__
    if isinstance(error, httpx2.TransportError) and not isinstance(error, _UNREACHED):
        late = isinstance(error, httpx2.TimeoutException)
        told = "did not answer in time" if late else "dropped the connection before its answer was whole"
        status, hint = 504 if late else 502, "Send the request again."
    elif isinstance(error, httpx2.DecodingError):
        told, status, hint = "sent an answer that cannot be decompressed", 502, "Look at the server's log."
    else:
        told, status = "cannot be reached", 502
        hint = f"Check {to.vendor.upper()}_BASE_URL, or {to.vendor}_upstream."
    problem = ModelError(f"{to.base} {told}: {kind}.", hint=hint)
    return JSONResponse(_body(to.vendor, status, str(problem), problem.code), status)


def retold(vendor: str, details: Mapping[str, Any], headers: Mapping[str, str]) -> JSONResponse:
    """Problem details of the server, in that shape."""
    message = f"{details['detail']} {details['hint']}".strip()
    return JSONResponse(_body(vendor, details["status"], message, details["code"]), details["status"], dict(headers))


def event(vendor: str, message: str) -> bytes:
    """The same within a stream that has begun."""
    body = json.dumps(_body(vendor, 502, message, "upstream_failed"))
    return (f"event: error\ndata: {body}\n\n" if vendor == "anthropic" else f"data: {body}\n\n").encode()


def _body(vendor: str, status: int, message: str, code: str) -> dict[str, Any]:
    kind = _KINDS.get(status, "api_error")
    if vendor == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@dataclass(slots=True)
class Begun:
    """An answer of which the beginning may have been read: `pieces` and what `rest` brings. `refusal`: it says that the
    request was too long.
    """

    answer: httpx2.Response
    rest: AsyncIterator[bytes]
    is_stream: bool  # it comes event by event
    pieces: list[bytes] = field(default_factory=list)
    refusal: Refusal | None = None

    async def whole(self) -> bytes:
        """All of it. Raises HTTPError."""
        return b"".join([*self.pieces, *[piece async for piece in self.rest]])


async def begin_reading(answer: httpx2.Response, exchange: ProxiedExchange | None) -> Begun:
    """Reads so much of an answer as tells what it is, and whether the request was too long: a refusal, or the beginning
    of a stream, before any of it is passed on. Raises HTTPError.
    """
    kind = answer.headers.get("content-type", "")
    if exchange is None:
        return Begun(answer, answer.aiter_raw(), is_event_stream(kind))
    begun = Begun(answer, answer.aiter_bytes(), exchange.streams(kind))
    if answer.is_success and not begun.is_stream:
        return begun
    opening = exchange.opening(answer.status_code)
    try:
        if not answer.is_success:
            begun.pieces.append(await begun.whole())
            opening.whole(begun.pieces[0])
        else:
            async for piece in begun.rest:
                begun.pieces.append(piece)
                if opening.feed(piece):
                    break
            else:
                opening.end()
            begun.is_stream = not opening.is_whole
            exchange.begun(opening)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await answer.aclose()
        raise
    begun.refusal = opening.refusal
    return begun


class Streamed(Response):
    """An answer that goes on as it comes. A client that hangs up ends it at the upstream, too; what was said until then
    is kept.
    """

    def __init__(
        self,
        begun: Begun,
        headers: Mapping[str, str],
        exchange: ProxiedExchange | None,
        vendor: str,
        streaming: set[ProxiedExchange],
    ) -> None:
        super().__init__(status_code=begun.answer.status_code, headers=dict(headers))
        if exchange is not None or "content-length" not in headers:  # the length of what is not there yet is unknown
            self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        self._begun, self._exchange, self._vendor = begun, exchange, vendor
        self._streaming = streaming  # all that are not kept yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it."""
        if self._exchange is not None:
            self._streaming.add(self._exchange)
        try:
            async with anyio.create_task_group() as group:

                async def hung_up() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    group.cancel_scope.cancel()

                group.start_soon(hung_up)
                is_whole = await self._pass(send)
                await self._end()
                if is_whole:  # else the server breaks off, too
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                group.cancel_scope.cancel()
        finally:
            await self._end()

    async def _pass(self, send: Send) -> bool:
        """Whether what went on has an end."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            for piece in self._begun.pieces:
                await self._pass_piece(piece, send)
            async for piece in self._begun.rest:
                await self._pass_piece(piece, send)
            if self._exchange is not None:
                self._exchange.ended()
        except httpx2.HTTPError as error:
            if not self._begun.is_stream:
                return False
            told = event(self._vendor, f"The upstream broke off in the middle of an answer: {error!r}.")
            await send({"type": "http.response.body", "body": told, "more_body": True})
        return True

    async def _pass_piece(self, piece: bytes, send: Send) -> None:
        if self._exchange is not None and self._exchange.hear(piece):
            await anyio.to_thread.run_sync(self._exchange.keep)  # who reads the end can rely on it
        await send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _end(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._begun.answer.aclose()
            if self._exchange is not None:
                await anyio.to_thread.run_sync(self._exchange.keep)
                self._streaming.discard(self._exchange)
