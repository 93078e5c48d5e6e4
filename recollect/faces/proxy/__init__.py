"""The drop-in proxy: gives any OpenAI or Anthropic client an endless memory.

`/v1/…` and, where a namespace cannot be told by a header, `/in/<namespace>/v1/…`. What is no talk is passed on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import unquote_plus

import anyio.to_thread
import httpx2
from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from recollect.errors import InvalidInput, NotAllowed, RecollectError
from recollect.faces.http.answers import TOO_DEEP, status_of
from recollect.faces.http.scope import Memories, Served, reach
from recollect.faces.proxy.passing import Begun, Streamed, begin_reading, failure, problem, vendor_of
from recollect.faces.proxy.upstream import (
    NoKey,
    ProxiedPath,
    SelfCall,
    Upstream,
    answer_headers,
    leads_out,
    place_of,
    refuse_own,
    sent_headers,
    upstream,
)
from recollect.gateway.exchange import TRIES, Endless, ProxiedExchange
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire

_MOST_TALK = 64_000_000  # bytes of a request that is read here: it may carry pictures and files
_MOST_PASSED = 512_000_000  # bytes of one that passes: uploads
_SILENCE, _CONNECT = 600.0, 10.0  # seconds
_HUNG_UP = 499  # the status of an answer that nobody waits for
_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
#: The wire forms by their paths, and those of which only the tokens are counted.
_WIRES: Mapping[str, Wire] = {"chat/completions": COMPLETIONS, "responses": RESPONSES, "messages": MESSAGES}
_COUNTED: Mapping[str, Wire] = {"messages/count_tokens": MESSAGES, "responses/input_tokens": RESPONSES}

Content = bytes | AsyncIterator[bytes] | None


@asynccontextmanager
async def _lifespan(_: Any) -> AsyncIterator[Mapping[str, Any]]:
    timeout = httpx2.Timeout(_SILENCE, connect=_CONNECT)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=50)
    streaming: set[ProxiedExchange] = set()
    nothing = CookieJar(DefaultCookiePolicy(allowed_domains=()))  # one client asks for all: it must not mix them up
    async with httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, cookies=nothing) as client:
        yield {"upstream_client": client, "streaming": streaming}
        for exchange in tuple(streaming):  # the server ends in the middle of an answer: what was said is not lost
            await anyio.to_thread.run_sync(exchange.keep)


router = APIRouter(lifespan=_lifespan)


async def pass_on(request: Request) -> Response:
    """A request of a client, with or without a namespace in its address."""
    scope = request.scope
    place = place_of(scope["path"], scope["raw_path"].decode("ascii"))
    assert place is not None  # by the routes below
    vendor = vendor_of(place.path, request.headers)
    served: Served = request.app.state.served
    try:
        refuse_own(request.headers)
        if leads_out(place.sent):
            raise InvalidInput("The path leads out of /v1.", hint="Use one without dots between its slashes.")
        to = upstream(vendor, served)
        return await _asked(request, to, place, *await _read(request, to, place))
    except SelfCall as error:
        return problem(vendor, 508, error)
    except NoKey as error:
        return problem(vendor, 401, error)
    except (InvalidInput, NotAllowed) as error:
        return problem(vendor, status_of(error), served.public(error))
    except httpx2.HTTPError as error:
        return failure(to, error)
    except ClientDisconnect:
        return Response(status_code=_HUNG_UP)  # nobody reads it
    except RecollectError as error:
        return problem(vendor, 500, served.public(error))


_READ = [path + slash for path in (*_WIRES, *_COUNTED) for slash in ("", "/")]  # some servers redirect to a slash
for _below, _most in (*((path, _MOST_TALK) for path in _READ), ("{path:path}", _MOST_PASSED)):
    for _top in ("/v1", "/in/{namespace:path}/v1"):
        router.add_api_route(
            f"{_top}/{_below}", pass_on, methods=_METHODS, include_in_schema=False, max_body_size=_most
        )


async def _read(request: Request, to: Upstream, place: ProxiedPath) -> tuple[Content, ProxiedExchange | None]:
    """The body of a request. What is part of a talk is read; all else goes on as it comes."""
    path = place.path.rstrip("/") if place.path in _READ else place.path
    wire = _WIRES.get(path) or _COUNTED.get(path)
    if request.method == "GET":
        later = _endless(request).fetched(path, request.headers, to.base, within=reach(request))
        if later is not None:
            return None, later
    # What is compressed is passed on unread: some agents send so, and only to servers that they know.
    if wire is None or request.method != "POST" or "content-encoding" in request.headers:
        is_sent = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
        return request.stream() if is_sent else None, None
    content = await request.body()
    work = partial(_begun, request, wire, content, place.namespace, to.base, counts_only=path in _COUNTED)
    return content, await anyio.to_thread.run_sync(work)


def _begun(
    request: Request, wire: Wire, content: bytes, address: str, base: str, *, counts_only: bool
) -> ProxiedExchange:
    try:
        body = json.loads(content)
    except RecursionError as error:
        raise InvalidInput(TOO_DEEP) from error
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise InvalidInput("The body of the request is not a JSON object.")
    return _endless(request).begin(
        wire,
        body,
        request.headers,
        address=address,
        own=_own(request),
        within=reach(request),
        counts_only=counts_only,
        upstream=base,
    )


async def _asked(
    request: Request, to: Upstream, place: ProxiedPath, content: Content, exchange: ProxiedExchange | None
) -> Response:
    """The answer. A client that hangs up before it comes ends it at the upstream, too, and has heard nothing of it."""
    if exchange is None:  # what of the body is still to come is read as it goes on
        return await _answered(request, to, place, content, None)
    answer: Response | Exception | None = None
    async with anyio.create_task_group() as group:

        async def hung_up() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(hung_up)
        try:
            answer = await _answered(request, to, place, content, exchange)
        except Exception as error:
            answer = error
        group.cancel_scope.cancel()
    if isinstance(answer, Response):
        return answer
    await anyio.to_thread.run_sync(exchange.keep)
    if answer is None:
        return Response(status_code=_HUNG_UP)
    raise answer


async def _answered(
    request: Request, to: Upstream, place: ProxiedPath, content: Content, exchange: ProxiedExchange | None
) -> Response:
    """The answer. A request that is refused for its length is sent again, shorter."""
    begun = await _sent(request, to, place, content, exchange)
    for _ in range(TRIES - 1):
        if exchange is None or begun.refusal is None:
            break
        shorter = await anyio.to_thread.run_sync(exchange.shorter, begun.refusal)
        if shorter is None:
            break
        await begun.answer.aclose()
        exchange = shorter
        begun = await _sent(request, to, place, content, exchange)
    answer = begun.answer
    back = answer_headers(answer.headers, as_it_is=exchange is None)
    if "location" in back:
        back["location"] = to.location(back["location"], str(answer.request.url), place.top)
    if exchange is None or (answer.is_success and begun.is_stream):
        told = exchange.headers if exchange else {}
        return Streamed(begun, {**back, **told}, exchange, to.vendor, request.state.streaming)
    try:
        whole = await begun.whole()
    finally:
        await answer.aclose()
    await anyio.to_thread.run_sync(partial(exchange.answered, whole, is_success=answer.is_success))
    return Response(whole, answer.status_code, {**back, **exchange.headers})


async def _sent(
    request: Request, to: Upstream, place: ProxiedPath, content: Content, exchange: ProxiedExchange | None
) -> Begun:
    client: httpx2.AsyncClient = request.state.upstream_client
    tokens = request.app.state.served.all_tokens
    headers = sent_headers(request.headers.items(), to, tokens, as_it_is=exchange is None)
    if exchange is not None and exchange.changed:
        content = exchange.content
    url = to.url(place.sent, _without_token(request))
    asked = client.build_request(request.method, url, content=content or None, headers=headers)
    return await begin_reading(await client.send(asked, stream=True), exchange)


def _without_token(request: Request) -> str:
    """The query as it goes on. The token of this server is nobody else's, wherever it stands."""
    query, tokens = request.url.query, request.app.state.served.all_tokens
    own = {f"token={token}" for token in tokens}
    return "&".join(pair for pair in query.split("&") if unquote_plus(pair) not in own)


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
    """The namespace that was set for the server or is that of the token, empty where nobody set one: what is shared
    must have been meant.
    """
    if reached := reach(request):
        return reached[0]
    settings = request.app.state.served.settings
    return "" if settings.origins.get("namespace", "default") == "default" else str(settings.namespace)
