"""`recollect.wrap`: a client of OpenAI or Anthropic with an endless memory, in one line.

The client is the vendor's own; only what carries its requests is another. Whatever it can do it can still do: streams,
tools, helpers, retries.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import httpx2

from recollect.errors import InvalidInput
from recollect.gateway.events import AnswerStart
from recollect.gateway.exchange import BUDGET, TRIES, Endless, ProxiedExchange
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
        before: Carrier | None = None,
    ) -> None:
        """`before`: whose place this takes, to be closed together."""
        from recollect.memory.opening import open as open_memory

        self._closes, self._before = memory is None, before
        self._memory, self._vendor = open_memory() if memory is None else memory, vendor
        self._endless = Endless(lru_cache(_HANDLES)(self._of), budget, window, by="wrap")
        self._told = {
            **({CONVERSATION: conversation} if conversation else {}),
            **({STORE: "no"} if not store else {}),
        }

    def listens(self, request: httpx2.Request) -> bool:
        """Whether a request may be part of a talk, so that it is given a memory; all others pass as they are."""
        if request.method == "GET":
            return self._fetched(request) is not None
        # What is compressed is passed on unread.
        return (
            request.method == "POST" and self._wire(request) is not None and "content-encoding" not in request.headers
        )

    def begin(self, request: httpx2.Request, content: bytes) -> ProxiedExchange | None:
        """What a request is given, and what listens to its answer; None where it is no talk after all."""
        if request.method == "GET":
            return self._fetched(request)
        wire = self._wire(request)
        assert wire is not None
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return None
        return self._endless.begin(
            wire,
            body,
            self._headers(request),
            address=str(self._memory.namespace),
            counts_only=request.url.path.rstrip("/").endswith(_COUNTED),
            upstream=_server(request),
        )

    def _fetched(self, request: httpx2.Request) -> ProxiedExchange | None:
        return self._endless.fetched(request.url.path, self._headers(request), _server(request))

    def _headers(self, request: httpx2.Request) -> dict[str, str]:
        return {**self._told, **{name.lower(): value for name, value in request.headers.items()}}

    def _wire(self, request: httpx2.Request) -> Wire | None:
        path = request.url.path.rstrip("/")  # some servers redirect to one with a slash
        ends = path.rpartition("/")[0] if path.endswith(_COUNTED) else path
        return next((wire for wire in _WIRES[self._vendor] if ends.endswith(wire.path)), None)

    def close(self) -> None:
        """Closes the memory, if it was opened here."""
        if self._closes:
            self._memory.close()
        if self._before is not None:
            self._before.close()

    def _of(self, namespace: str) -> Memory:
        return self._memory if namespace == self._memory.namespace else self._memory.beside(namespace)


class _Attempt:
    """A request on its way, which is sent again, shorter, when it is refused for its length."""

    def __init__(self, request: httpx2.Request, content: bytes, exchange: ProxiedExchange) -> None:
        self._request, self._content, self.exchange = request, content, exchange
        self._left = TRIES
        self.opening = AnswerStart(200)

    @property
    def sent(self) -> httpx2.Request:
        """The request as the memory has it sent. Raises InvalidInput where that cannot be written."""
        return _bare(self._request, self.exchange.content if self.exchange.changed else self._content)

    def begin(self, response: httpx2.Response) -> bool:
        """Whether an answer may come as a stream, of which the beginning is to be read before it is passed on."""
        self.opening = self.exchange.opening(response.status_code)
        self._left -= 1
        return response.is_success and self.exchange.streams(response.headers.get("content-type", ""))

    def goes_on(self) -> bool:
        """Whether the request is to be sent again."""
        refusal = self.opening.refusal
        shorter = self.exchange.shorter(refusal) if refusal is not None and self._left else None
        self.exchange = shorter or self.exchange
        return shorter is not None


class Transport(httpx2.BaseTransport):
    """Carries the requests of a client."""

    def __init__(self, inner: httpx2.Client, carrier: Carrier) -> None:
        self.inner, self.carrier = inner, carrier

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request with what the memory gives it."""
        if not self.carrier.listens(request):
            return self.inner.send(_bare(request), stream=True, follow_redirects=False)
        content = request.read()
        exchange = self.carrier.begin(request, content)
        if exchange is None:
            return self.inner.send(_bare(request), stream=True, follow_redirects=False)
        attempt = _Attempt(request, content, exchange)
        try:
            return self._answered(attempt)
        except BaseException:
            attempt.exchange.keep()
            raise

    def _answered(self, attempt: _Attempt) -> httpx2.Response:
        while True:
            response = self.inner.send(attempt.sent, stream=True, follow_redirects=False)
            pieces, rest = list[bytes](), response.iter_bytes()
            try:
                if is_stream := attempt.begin(response):
                    for piece in rest:
                        pieces.append(piece)
                        if attempt.opening.feed(piece):
                            break
                    else:
                        attempt.opening.end()
                else:
                    pieces.append(response.read())
                    attempt.opening.whole(pieces[0])
            except BaseException:
                response.close()
                raise
            if not attempt.goes_on():
                break
            response.close()
        exchange = attempt.exchange
        if is_stream and not attempt.opening.is_whole:
            exchange.begun(attempt.opening)
            return _answer(response, _Listening(response, chain(pieces, rest), exchange), exchange)
        content = b"".join(pieces)
        exchange.answered(content, is_success=response.is_success)
        return _answer(response, httpx2.ByteStream(content), exchange)

    def close(self) -> None:
        """Closes the client, and the memory if it was opened for it."""
        self.inner.close()
        self.carrier.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """Carries the requests of a client that is awaited."""

    def __init__(self, inner: httpx2.AsyncClient, carrier: Carrier) -> None:
        self.inner, self.carrier = inner, carrier

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request with what the memory gives it."""
        if not self.carrier.listens(request):
            return await self.inner.send(_bare(request), stream=True, follow_redirects=False)
        content = await request.aread()
        exchange = await anyio.to_thread.run_sync(self.carrier.begin, request, content)
        if exchange is None:
            return await self.inner.send(_bare(request), stream=True, follow_redirects=False)
        attempt = _Attempt(request, content, exchange)
        try:
            return await self._answered(attempt)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(attempt.exchange.keep)
            raise

    async def _answered(self, attempt: _Attempt) -> httpx2.Response:
        while True:
            response = await self.inner.send(attempt.sent, stream=True, follow_redirects=False)
            pieces, rest = list[bytes](), response.aiter_bytes()
            try:
                if is_stream := attempt.begin(response):
                    async for piece in rest:
                        pieces.append(piece)
                        if attempt.opening.feed(piece):
                            break
                    else:
                        attempt.opening.end()
                else:
                    pieces.append(await response.aread())
                    attempt.opening.whole(pieces[0])
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
                raise
            if not await anyio.to_thread.run_sync(attempt.goes_on):
                break
            await response.aclose()
        exchange = attempt.exchange
        if is_stream and not attempt.opening.is_whole:
            exchange.begun(attempt.opening)
            return _answer(response, _AsyncHeard(response, pieces, rest, exchange), exchange)
        content = b"".join(pieces)
        await anyio.to_thread.run_sync(partial(exchange.answered, content, is_success=response.is_success))
        return _answer(response, httpx2.ByteStream(content), exchange)

    async def aclose(self) -> None:
        """Closes the client, and the memory if it was opened for it."""
        await self.inner.aclose()
        await anyio.to_thread.run_sync(self.carrier.close)


class _Listening(httpx2.SyncByteStream):
    """A stream on its way, which is kept before its end is passed on."""

    def __init__(self, response: httpx2.Response, pieces: Iterator[bytes], exchange: ProxiedExchange) -> None:
        self._response, self._pieces, self._exchange = response, pieces, exchange

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if self._exchange.hear(piece):
                self._exchange.keep()
            yield piece
        self._exchange.ended()
        self._exchange.keep()

    def close(self) -> None:
        self._response.close()
        self._exchange.keep()


class _AsyncHeard(httpx2.AsyncByteStream):
    """The same for a client that is awaited."""

    def __init__(
        self, response: httpx2.Response, pieces: Sequence[bytes], rest: AsyncIterator[bytes], exchange: ProxiedExchange
    ) -> None:
        self._response, self._pieces, self._rest, self._exchange = response, pieces, rest, exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield await self._heard(piece)
        async for piece in self._rest:
            yield await self._heard(piece)
        self._exchange.ended()
        await anyio.to_thread.run_sync(self._exchange.keep)

    async def _heard(self, piece: bytes) -> bytes:
        if self._exchange.hear(piece):
            await anyio.to_thread.run_sync(self._exchange.keep)
        return piece

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._response.aclose()
            await anyio.to_thread.run_sync(self._exchange.keep)


def _server(request: httpx2.Request) -> str:
    return request.url.netloc.decode()


def _bare(request: httpx2.Request, content: bytes | None = None) -> httpx2.Request:
    """The request to the vendor: nothing of ours goes along. With a `content` of ours the answer comes as it is read;
    without one the body goes on as it comes, and so does the answer.
    """
    headers = httpx2.Headers([(k, v) for k, v in request.headers.multi_items() if not k.lower().startswith(OURS)])
    if content is None:
        return httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )
    headers.pop("Content-Length", None)
    headers["Accept-Encoding"] = "identity"
    return httpx2.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)


def _answer(
    response: httpx2.Response, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream, exchange: ProxiedExchange
) -> httpx2.Response:
    """The answer, with what it says of the memory in its headers."""
    theirs = response.headers.multi_items()
    headers = [(k, v) for k, v in theirs if k.lower() not in _OF_CODING and not k.lower().startswith(OURS)]
    headers += exchange.headers.items()
    return httpx2.Response(response.status_code, headers=headers, stream=stream, extensions=response.extensions)


C = TypeVar("C")


def wrap(
    client: C,
    memory: Memory | None = None,
    *,
    conversation: str | None = None,
    budget: int = BUDGET,
    window: int | None = None,
    store: bool = True,
) -> C:
    """A copy of an `openai` or `anthropic` client that remembers, sync or async; use it in the place of the client.

    Each request is given what the memory knows of it, in at most `budget` tokens; what is said is stored, unless
    `store` is False. A request of more than `window` tokens, or than its model allows, is sent without its oldest
    exchanges; 0 leaves out nothing. Without a `memory` it is the one of the command line, closed with the client.
    `conversation` is a name of your own; with one, sending only the newest message is enough. A request may say
    otherwise: `extra_headers={"X-Recollect-Conversation": "…"}`. Of a client that is wrapped already the new wrapping
    takes the place of the old one. Raises InvalidInput for another client, or for fewer than 0 tokens.
    """
    if budget < 0 or (window or 0) < 0:
        raise InvalidInput("A budget or a window of fewer than 0 tokens.", hint="Use 0 for none, or leave it out.")
    vendor, inner = _vendor(client), getattr(client, "_client", None)
    if not vendor or not isinstance(inner, httpx2.Client | httpx2.AsyncClient):
        others = "Give an OpenAI, AsyncOpenAI, Anthropic or AsyncAnthropic client; for others: recollect serve."
        is_old = vendor and any(kind.__module__.partition(".")[0] == "httpx" for kind in type(inner).__mro__)
        raise InvalidInput(
            f"{type(client).__module__}.{type(client).__qualname__} cannot be wrapped.",
            hint=f"This one is too old: pip install -U {vendor}; or use recollect serve." if is_old else others,
        )
    transport = getattr(inner, "_transport", None)  # of a client that is wrapped already
    before = transport.carrier if isinstance(transport, Transport | AsyncTransport) else None
    carrier = Carrier(vendor, memory, conversation, budget, window, store, before)
    copy: Any = client
    kept: dict[str, Any] = {
        "headers": inner.headers,
        "cookies": inner.cookies,
        "timeout": inner.timeout,
        "follow_redirects": inner.follow_redirects,
    }
    http: httpx2.Client | httpx2.AsyncClient
    if isinstance(inner, httpx2.Client):
        bare = transport.inner if isinstance(transport, Transport) else inner
        http = httpx2.Client(transport=Transport(bare, carrier), **kept)
    else:
        awaited = transport.inner if isinstance(transport, AsyncTransport) else inner
        http = httpx2.AsyncClient(transport=AsyncTransport(awaited, carrier), **kept)
    return copy.with_options(http_client=http)  # type: ignore[no-any-return]


def _vendor(client: object) -> str:
    """Whose client it is; empty for those of other clouds, which write their requests differently."""
    modules = [kind.__module__ for kind in type(client).__mro__]
    if any(module.startswith("anthropic.lib.") for module in modules):
        return ""
    return next((module.partition(".")[0] for module in modules if module.startswith(("openai.", "anthropic."))), "")
