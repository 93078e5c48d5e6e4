"""How a wrapped client's requests travel: with what the memory gives them, and what is answered listened to.

A request that is refused for its length is sent again, shorter.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import httpx2

from recollect.gateway.exchange import TRIES, Endless, Exchange
from recollect.gateway.refusals import Opening
from recollect.gateway.scope import CONVERSATION, OURS, STORE
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire

if TYPE_CHECKING:
    from recollect.memory import Memory

_WIRES: Mapping[str, tuple[Wire, ...]] = {"openai": (COMPLETIONS, RESPONSES), "anthropic": (MESSAGES,)}
_COUNTED = ("/messages/count_tokens", "/responses/input_tokens")
_HANDLES = 256  # on other namespaces, which are kept
_OF_CODING = ("content-encoding", "content-length", "transfer-encoding")


class Carrier:
    """What both transports do with a request."""

    def __init__(
        self,
        vendor: str,
        memory: Memory | None,
        conversation: str | None,
        budget: int,
        window: int | None,
        store: bool,
    ) -> None:
        from recollect.memory.opening import open as open_memory

        self._closes = memory is None
        self._memory, self._vendor = open_memory() if memory is None else memory, vendor
        self._endless = Endless(lru_cache(_HANDLES)(self._of), budget, window)
        self._told = {
            **({CONVERSATION: conversation} if conversation else {}),
            **({STORE: "no"} if not store else {}),
        }

    def begin(self, request: httpx2.Request, content: bytes) -> tuple[httpx2.Request, Exchange | None]:
        """The request as it is sent, and what listens to its answer."""
        path = request.url.path
        counts_only = path.endswith(_COUNTED)
        ends = path.rpartition("/")[0] if counts_only else path
        wire = next((wire for wire in _WIRES[self._vendor] if ends.endswith(wire.path)), None)
        if wire is None or request.method != "POST":
            return _sent(request, content), None
        body = json.loads(content)
        told = {**self._told, **{name.lower(): value for name, value in request.headers.items()}}
        exchange = self._endless.begin(
            wire,
            body,
            told,
            address=str(self._memory.namespace),
            counts_only=counts_only,
            upstream=request.url.netloc.decode(),
        )
        return _asked(request, content, exchange), exchange

    def close(self) -> None:
        """Closes the memory, if it was opened here."""
        if self._closes:
            self._memory.close()

    def _of(self, namespace: str) -> Memory:
        return self._memory if namespace == self._memory.namespace else self._memory.beside(namespace)


class _Attempt:
    """A request on its way, which is sent again, shorter, when it is refused for its length."""

    def __init__(self, request: httpx2.Request, content: bytes, carrier: Carrier) -> None:
        self._request, self._content = request, content
        self.sent, self.exchange = carrier.begin(request, content)
        self._opening, self._left = Opening(200), TRIES

    def listens(self, response: httpx2.Response) -> bool:
        """Whether the first words of an answer are to be read before it is passed on."""
        self._opening = Opening(response.status_code)
        self._left -= 1
        return self.exchange is not None and _streams(response)

    def hear(self, piece: bytes) -> bool:
        """Takes in a piece of the beginning of a stream. Whether that was enough."""
        return self._opening.feed(piece)

    def hear_whole(self, content: bytes) -> None:
        """Takes in an answer that is no stream."""
        self._opening.whole(content)

    def goes_on(self) -> bool:
        """Whether the request is to be sent again."""
        refusal = self._opening.refusal
        if self.exchange is None or refusal is None or not self._left:
            return False
        shorter = self.exchange.shorter(refusal)
        if shorter is None:
            return False
        self.exchange, self.sent = shorter, _asked(self._request, self._content, shorter)
        return True


class _Ear:
    """Listens to an answer, streamed or whole."""

    def __init__(self, exchange: Exchange | None, response: httpx2.Response) -> None:
        self.exchange = exchange if exchange is not None and response.is_success else None
        self._streams = _streams(response)
        self._pieces: list[bytes] = []

    def hear(self, piece: bytes) -> bool:
        """Takes in a piece. Whether the answer is to be kept before that is passed on."""
        if self.exchange is None:
            return False
        if self._streams:
            return self.exchange.hear(piece)
        self._pieces.append(piece)
        return False

    def end(self) -> None:
        """Keeps the answer."""
        if self.exchange is None:
            return
        if self._pieces:
            try:
                self.exchange.hear_whole(json.loads(b"".join(self._pieces)))
            except ValueError:
                return
        self.exchange.keep()


class Transport(httpx2.BaseTransport):
    """Carries the requests of a client."""

    def __init__(self, inner: httpx2.Client, carrier: Carrier) -> None:
        self._inner, self._carrier = inner, carrier

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request with what the memory gives it."""
        attempt = _Attempt(request, request.read(), self._carrier)
        while True:
            response = self._inner.send(attempt.sent, stream=True)
            pieces, rest = list[bytes](), response.iter_bytes()
            try:
                if attempt.listens(response) and response.is_success:
                    for piece in rest:
                        pieces.append(piece)
                        if attempt.hear(piece):
                            break
                elif not response.is_success:
                    attempt.hear_whole(response.read())
            except BaseException:
                response.close()
                raise
            if not attempt.goes_on():
                break
            response.close()
        ear = _Ear(attempt.exchange, response)
        return _answer(response, _Heard(response, chain(pieces, rest), ear), attempt.exchange)

    def close(self) -> None:
        """Closes the client, and the memory if it was opened for it."""
        self._inner.close()
        self._carrier.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """Carries the requests of a client that is awaited."""

    def __init__(self, inner: httpx2.AsyncClient, carrier: Carrier) -> None:
        self._inner, self._carrier = inner, carrier

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request with what the memory gives it."""
        content = await request.aread()
        attempt = await anyio.to_thread.run_sync(_Attempt, request, content, self._carrier)
        while True:
            response = await self._inner.send(attempt.sent, stream=True)
            pieces, rest = list[bytes](), response.aiter_bytes()
            try:
                if attempt.listens(response) and response.is_success:
                    async for piece in rest:
                        pieces.append(piece)
                        if attempt.hear(piece):
                            break
                elif not response.is_success:
                    attempt.hear_whole(await response.aread())
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
                raise
            if not await anyio.to_thread.run_sync(attempt.goes_on):
                break
            await response.aclose()
        ear = _Ear(attempt.exchange, response)
        return _answer(response, _AsyncHeard(response, pieces, rest, ear), attempt.exchange)

    async def aclose(self) -> None:
        """Closes the client, and the memory if it was opened for it."""
        await self._inner.aclose()
        await anyio.to_thread.run_sync(self._carrier.close)


class _Heard(httpx2.SyncByteStream):
    def __init__(self, response: httpx2.Response, pieces: Iterator[bytes], ear: _Ear) -> None:
        self._response, self._pieces, self._ear = response, pieces, ear

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if self._ear.hear(piece):
                self._ear.end()
            yield piece
        self._ear.end()

    def close(self) -> None:
        self._response.close()
        self._ear.end()


class _AsyncHeard(httpx2.AsyncByteStream):
    def __init__(
        self, response: httpx2.Response, pieces: Sequence[bytes], rest: AsyncIterator[bytes], ear: _Ear
    ) -> None:
        self._response, self._pieces, self._rest, self._ear = response, pieces, rest, ear

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield await self._heard(piece)
        async for piece in self._rest:
            yield await self._heard(piece)
        await anyio.to_thread.run_sync(self._ear.end)

    async def _heard(self, piece: bytes) -> bytes:
        if self._ear.hear(piece):
            await anyio.to_thread.run_sync(self._ear.end)
        return piece

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._response.aclose()
            await anyio.to_thread.run_sync(self._ear.end)


def _streams(response: httpx2.Response) -> bool:
    return bool(response.headers.get("content-type", "").startswith("text/event-stream"))


def _asked(request: httpx2.Request, content: bytes, exchange: Exchange) -> httpx2.Request:
    """The request as the memory has it sent."""
    if exchange.changed:
        # Half of a pair that stands for one character goes on as the escape that it came as.
        content = json.dumps(exchange.body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return _sent(request, content)


def _sent(request: httpx2.Request, content: bytes) -> httpx2.Request:
    """The request to the vendor: nothing of ours goes along, and the answer comes as it is read."""
    headers = [(k, v) for k, v in request.headers.multi_items() if not k.lower().startswith(OURS)]
    kept = httpx2.Headers([(k, v) for k, v in headers if k.lower() not in ("content-length", "accept-encoding")])
    kept["Accept-Encoding"] = "identity"
    return httpx2.Request(
        request.method, request.url, headers=kept, content=content or None, extensions=request.extensions
    )


def _answer(
    response: httpx2.Response, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream, exchange: Exchange | None
) -> httpx2.Response:
    """The answer, with what it says of the memory in its headers."""
    headers = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _OF_CODING]
    headers += list(exchange.headers.items()) if exchange else []
    return httpx2.Response(response.status_code, headers=headers, stream=stream, extensions=response.extensions)
