"""`recollect.wrap`: a client of OpenAI or Anthropic with an endless memory, in one line.

The client is the vendor's own; only what carries its requests is another. Whatever it can do it can still do: streams,
tools, helpers, retries.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import httpx2

from recollect.endless.exchange import BUDGET, Endless, Exchange
from recollect.endless.scope import BUDGET as BUDGET_HEADER
from recollect.endless.scope import CONVERSATION, OURS, STORE
from recollect.endless.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.memory import Memory

C = TypeVar("C")

_WIRES: Mapping[str, tuple[Wire, ...]] = {"openai": (COMPLETIONS, RESPONSES), "anthropic": (MESSAGES,)}
_COUNTED = ("/messages/count_tokens", "/responses/input_tokens")
_OF_CODING = ("content-encoding", "content-length", "transfer-encoding")


def wrap(
    client: C,
    memory: Memory | None = None,
    *,
    conversation: str | None = None,
    budget: int = BUDGET,
    store: bool = True,
) -> C:
    """A copy of an `openai` or `anthropic` client that remembers, sync or async; use it in the place of the client.

    Each request is given what the memory knows of it, in at most `budget` tokens; what is said is stored, unless
    `store` is False. Without a `memory` it is the one that the command line uses, closed with the client.
    `conversation` is a name of your own; with one, sending only the newest message is enough. A request may say
    otherwise: `extra_headers={"X-Recollect-Conversation": "…"}`. Raises InvalidInput for another client.
    """
    vendor, inner = _vendor(client), getattr(client, "_client", None)
    if not vendor or not isinstance(inner, httpx2.Client | httpx2.AsyncClient):
        raise InvalidInput(
            f"{type(client).__module__}.{type(client).__qualname__} cannot be wrapped.",
            hint="Give an OpenAI, AsyncOpenAI, Anthropic or AsyncAnthropic client; for others: recollect serve.",
        )
    carrier = _Carrier(vendor, memory, conversation, budget, store)
    copy: Any = client
    kept: dict[str, Any] = {"headers": inner.headers, "cookies": inner.cookies, "timeout": inner.timeout}
    if isinstance(inner, httpx2.Client):
        return copy.with_options(http_client=httpx2.Client(transport=_Transport(inner, carrier), **kept))  # type: ignore[no-any-return]
    return copy.with_options(http_client=httpx2.AsyncClient(transport=_AsyncTransport(inner, carrier), **kept))  # type: ignore[no-any-return]


def _vendor(client: object) -> str:
    """Whose client it is; empty for those of other clouds, which write their requests differently."""
    modules = [kind.__module__ for kind in type(client).__mro__]
    if any(module.startswith("anthropic.lib.") for module in modules):
        return ""
    return next((module.partition(".")[0] for module in modules if module.startswith(("openai.", "anthropic."))), "")


class _Carrier:
    """What both transports do with a request."""

    def __init__(self, vendor: str, memory: Memory | None, conversation: str | None, budget: int, store: bool) -> None:
        from recollect.opening import open as open_memory

        self._closes = memory is None
        self._memory, self._vendor = open_memory() if memory is None else memory, vendor
        self._endless = Endless(cache(self._of), budget=max(budget, 1))
        self._told = {
            **({CONVERSATION: conversation} if conversation else {}),
            **({STORE: "no"} if not store else {}),
            **({BUDGET_HEADER: "0"} if budget == 0 else {}),
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
        exchange = self._endless.begin(wire, body, told, address=str(self._memory.namespace), counts_only=counts_only)
        if exchange.changed:
            # Half of a pair that stands for one character goes on as the escape that it came as.
            content = json.dumps(exchange.body, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return _sent(request, content), exchange

    def close(self) -> None:
        """Closes the memory, if it was opened here."""
        if self._closes:
            self._memory.close()

    def _of(self, namespace: str) -> Memory:
        return self._memory if namespace == self._memory.namespace else self._memory.beside(namespace)


class _Ear:
    """Listens to an answer, streamed or whole."""

    def __init__(self, exchange: Exchange | None, response: httpx2.Response) -> None:
        self.exchange = exchange if exchange is not None and response.is_success else None
        self._streams = response.headers.get("content-type", "").startswith("text/event-stream")
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


class _Transport(httpx2.BaseTransport):
    def __init__(self, inner: httpx2.Client, carrier: _Carrier) -> None:
        self._inner, self._carrier = inner, carrier

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        sent, exchange = self._carrier.begin(request, request.read())
        response = self._inner.send(sent, stream=True)
        return _answer(response, _Heard(response, _Ear(exchange, response)), exchange)

    def close(self) -> None:
        self._inner.close()
        self._carrier.close()


class _AsyncTransport(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncClient, carrier: _Carrier) -> None:
        self._inner, self._carrier = inner, carrier

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        content = await request.aread()
        sent, exchange = await anyio.to_thread.run_sync(partial(self._carrier.begin, request, content))
        response = await self._inner.send(sent, stream=True)
        return _answer(response, _AsyncHeard(response, _Ear(exchange, response)), exchange)

    async def aclose(self) -> None:
        await self._inner.aclose()
        await anyio.to_thread.run_sync(self._carrier.close)


class _Heard(httpx2.SyncByteStream):
    def __init__(self, response: httpx2.Response, ear: _Ear) -> None:
        self._response, self._ear = response, ear

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._response.iter_bytes():
            if self._ear.hear(piece):
                self._ear.end()
            yield piece
        self._ear.end()

    def close(self) -> None:
        self._response.close()
        self._ear.end()


class _AsyncHeard(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, ear: _Ear) -> None:
        self._response, self._ear = response, ear

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_bytes():
            if self._ear.hear(piece):
                await anyio.to_thread.run_sync(self._ear.end)
            yield piece
        await anyio.to_thread.run_sync(self._ear.end)

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._response.aclose()
            await anyio.to_thread.run_sync(self._ear.end)


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
