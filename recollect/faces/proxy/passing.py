"""An answer on its way through: passed on piece by piece as it comes, listened to, and kept when it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
import httpx2
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.faces.proxy import problems
from recollect.gateway.events import Refusal, is_event_stream
from recollect.gateway.exchange import ProxiedExchange


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
            told = problems.event(self._vendor, f"The upstream broke off in the middle of an answer: {error!r}.")
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
