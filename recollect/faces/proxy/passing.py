"""An answer on its way through: passed on piece by piece as it comes, listened to, and kept when it has ended."""

from __future__ import annotations

from collections.abc import Mapping

import anyio
import anyio.to_thread
import httpx2
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.endless.exchange import Exchange
from recollect.faces.proxy import problems


class Streamed(Response):
    """A stream of events. A client that hangs up ends it at the upstream, too; what was said until then is kept."""

    def __init__(
        self,
        upstream: httpx2.Response,
        headers: Mapping[str, str],
        exchange: Exchange | None,
        vendor: str,
        streaming: set[Exchange],
    ) -> None:
        super().__init__(status_code=upstream.status_code, headers=dict(headers))
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        self._upstream, self._exchange, self._vendor = upstream, exchange, vendor
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
                await self._pass(send)
                await self._end()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                group.cancel_scope.cancel()
        finally:
            await self._end()

    async def _pass(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for piece in self._upstream.aiter_bytes():
                if self._exchange is not None and self._exchange.hear(piece):
                    await anyio.to_thread.run_sync(self._exchange.keep)  # who reads the end can rely on it
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except httpx2.HTTPError as error:
            told = problems.event(self._vendor, f"The upstream broke off in the middle of an answer: {error!r}.")
            await send({"type": "http.response.body", "body": told, "more_body": True})

    async def _end(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._upstream.aclose()
            if self._exchange is not None:
                await anyio.to_thread.run_sync(self._exchange.keep)
                self._streaming.discard(self._exchange)
