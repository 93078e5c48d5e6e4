"""The drop-in proxy: gives any OpenAI or Anthropic client an endless memory.

`/v1/…` and, where a namespace cannot be told by a header, `/in/<namespace>/v1/…`. What is no talk is passed on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import unquote_plus

import anyio.to_thread
import httpx2
from fastapi import APIRouter, Request, Response

from recollect.errors import InvalidInput, ModelError, RecollectError
from recollect.faces.http.memories import Memories
from recollect.faces.http.served import Served
from recollect.faces.proxy.passing import Begun, Streamed, begin_reading
from recollect.faces.proxy.problems import problem, vendor_of
from recollect.faces.proxy.upstream import SelfCall, Upstream, answer_headers, refuse_own, sent_headers, upstream
from recollect.gateway.exchange import TRIES, Endless, Exchange
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire

_MOST_BODY = 64_000_000  # bytes: requests carry pictures and files
_SILENCE, _CONNECT = 600.0, 10.0  # seconds
_HUNG_UP = 499  # the status of an answer that nobody waits for
_METHODS = ["GET", "POST", "DELETE"]
#: The wire forms by their paths, and those of which only the tokens are counted.
_WIRES: Mapping[str, Wire] = {"chat/completions": COMPLETIONS, "responses": RESPONSES, "messages": MESSAGES}
_COUNTED: Mapping[str, Wire] = {"messages/count_tokens": MESSAGES, "responses/input_tokens": RESPONSES}


@asynccontextmanager
async def _lifespan(_: Any) -> AsyncIterator[Mapping[str, Any]]:
    timeout = httpx2.Timeout(_SILENCE, connect=_CONNECT)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=50)
    streaming: set[Exchange] = set()
    async with httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False) as client:
        yield {"upstream_client": client, "streaming": streaming}
        for exchange in tuple(streaming):  # the server ends in the middle of an answer: what was said is not lost
            await anyio.to_thread.run_sync(exchange.keep)


router = APIRouter(lifespan=_lifespan)


@router.api_route("/v1/{path:path}", methods=_METHODS, include_in_schema=False, max_body_size=_MOST_BODY)
async def pass_on(request: Request, path: str) -> Response:
    """A request of a client."""
    return await _passed(request, path, "")


@router.api_route(
    "/in/{namespace:path}/v1/{path:path}", methods=_METHODS, include_in_schema=False, max_body_size=_MOST_BODY
)
async def pass_on_in(request: Request, namespace: str, path: str) -> Response:
    """The same, with the namespace in the address."""
    return await _passed(request, path, namespace)


async def _passed(request: Request, path: str, address: str) -> Response:
    vendor = vendor_of(path, request.headers)
    served: Served = request.app.state.served
    try:
        refuse_own(request.headers)
        to = upstream(vendor, served)
        wire = _WIRES.get(path) or _COUNTED.get(path)
        content, exchange = await request.body(), None
        # What is compressed is passed on unread: some agents send so, and only to servers that they know.
        if wire is not None and request.method == "POST" and "content-encoding" not in request.headers:
            work = partial(_begun, request, wire, content, address, to.base, counts_only=path in _COUNTED)
            exchange = await anyio.to_thread.run_sync(work)
        return await _asked(request, to, path, content, exchange)
    except SelfCall as error:
        return problem(vendor, 508, error)
    except InvalidInput as error:
        return problem(vendor, 400, error)
    except httpx2.HTTPError as error:
        what = f"{to.base} cannot be reached: {type(error).__name__}."
        return problem(vendor, 502, ModelError(what, hint=f"Check {vendor.upper()}_BASE_URL, or {vendor}_upstream."))
    except RecollectError as error:
        return problem(vendor, 500, error)


def _begun(request: Request, wire: Wire, content: bytes, address: str, base: str, *, counts_only: bool) -> Exchange:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InvalidInput("The body of the request is not a JSON object.")
    return _endless(request).begin(
        wire, body, request.headers, address=address, own=_own(request), counts_only=counts_only, upstream=base
    )


async def _asked(request: Request, to: Upstream, path: str, content: bytes, exchange: Exchange | None) -> Response:
    """The answer. A client that hangs up before it comes ends it at the upstream, too, and has heard nothing of it."""
    answer: Response | Exception | None = None
    async with anyio.create_task_group() as group:

        async def hung_up() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(hung_up)
        try:
            answer = await _answered(request, to, path, content, exchange)
        except Exception as error:
            answer = error
        group.cancel_scope.cancel()
    if isinstance(answer, Response):
        return answer
    if exchange is not None:
        await anyio.to_thread.run_sync(exchange.keep)
    if answer is None:
        return Response(status_code=_HUNG_UP)
    raise answer


async def _answered(request: Request, to: Upstream, path: str, content: bytes, exchange: Exchange | None) -> Response:
    """The answer. A request that is refused for its length is sent again, shorter."""
    begun = await _sent(request, to, path, content, exchange)
    for _ in range(TRIES - 1):
        if exchange is None or begun.refusal is None:
            break
        shorter = await anyio.to_thread.run_sync(exchange.shorter, begun.refusal)
        if shorter is None:
            break
        await begun.answer.aclose()
        exchange = shorter
        begun = await _sent(request, to, path, content, exchange)
    answer = begun.answer
    back = {**answer_headers(answer.headers), **(exchange.headers if exchange else {})}
    if answer.is_success and begun.is_stream:
        return Streamed(begun, back, exchange, to.vendor, request.state.streaming)
    try:
        whole = await answer.aread()
    finally:
        await answer.aclose()
    if exchange is not None:
        await anyio.to_thread.run_sync(_kept, exchange, whole if answer.is_success else b"")
    if exchange is not None and not answer.is_success:
        back["X-Recollect-Stored"] = "no"
    return Response(whole, answer.status_code, back)


async def _sent(request: Request, to: Upstream, path: str, content: bytes, exchange: Exchange | None) -> Begun:
    client: httpx2.AsyncClient = request.state.upstream_client
    headers = sent_headers(request.headers.items(), to, request.app.state.served.token)
    if exchange is not None and exchange.changed:
        # Half of a pair that stands for one character is no UTF-8: it goes on as the escape that it came as.
        content = json.dumps(exchange.body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    asked = client.build_request(
        request.method, to.url(path, _without_token(request)), content=content or None, headers=headers
    )
    return await begin_reading(await client.send(asked, stream=True), listens=exchange is not None)


def _without_token(request: Request) -> str:
    """The query as it goes on. The token of this server is nobody else's, wherever it stands."""
    query, token = request.url.query, request.app.state.served.token
    if not token or "token=" not in query:
        return query
    return "&".join(pair for pair in query.split("&") if unquote_plus(pair) != f"token={token}")


def _kept(exchange: Exchange, whole: bytes) -> None:
    with suppress(ValueError, RecursionError):
        exchange.hear_whole(json.loads(whole))
    exchange.keep()


def _endless(request: Request) -> Endless:
    """What gives requests their memory: one for all, for it knows what was given before."""
    state = request.app.state
    found: Endless | None = getattr(state, "endless", None)
    if found is None:
        memories: Memories = state.memories
        settings = state.served.settings
        found = state.endless = Endless(memories.of, settings.proxy_budget, settings.proxy_window)
    return found


def _own(request: Request) -> str:
    """The namespace that was set for the server, empty where nobody set one: what is shared must have been meant."""
    settings = request.app.state.served.settings
    return "" if settings.origins.get("namespace", "default") == "default" else str(settings.namespace)
