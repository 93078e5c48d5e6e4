"""Who may ask what listens: exact Host and Origin, a token where one is set, limits; and what browsers are told.

A page of another site that a browser has open can send requests to this machine. What keeps it out: the Host header
must be one of ours to the letter (against DNS rebinding), an Origin must be one of ours (against requests and forms of
other sites), and no answer allows any other origin to read it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import MAX_BODY_SIZE_SCOPE_KEY
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.errors import RecollectError
from recollect.faces.http.answers import TOO_DEEP, problem, told
from recollect.faces.http.scope import REACH, Served, is_loopback
from recollect.faces.proxy.passing import client_of, retold
from recollect.faces.web.page import problem_page, refusal, wants_page

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_log = logging.getLogger("recollect.http")


def install(app: FastAPI) -> None:
    """Has the application answer so, whatever goes wrong."""
    app.add_exception_handler(RecollectError, _ours)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(Exception, _bug)


def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, RecollectError)
    return shown(request, told(request.app.state.served.public(error)))


def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed(request))
    detail = TOO_DEEP if isinstance(error.__cause__, RecursionError) else str(error.detail)
    return shown(request, problem(error.status_code, detail, headers=headers))


def _allowed(request: Request) -> list[str]:
    """The methods of all routes at an address; of several, the framework tells those of the first. `/facts/search` is
    described by itself: what is for `/facts/{id}` fits it too, and is not meant.
    """
    described = request.app.openapi()["paths"].get(request.scope["path"])
    return [
        method
        for method in _METHODS
        if (described is None or method.lower() in described)
        and any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    ]


def _of_validation(request: Request, error: Exception) -> Response:
    """Which field, and what is wrong with it; what was sent is not said again."""
    assert isinstance(error, RequestValidationError)
    wrong = [{"where": [str(part) for part in found["loc"]], "what": found["msg"]} for found in error.errors()]
    first = f"{'.'.join(wrong[0]['where'][1:]) or 'The body'}: {wrong[0]['what']}." if wrong else "It cannot be read."
    hint = "/api/v1/openapi.json says what is taken."
    return shown(request, problem(422, first, code="invalid_input", hint=hint, errors=wrong))


def _bug(request: Request, error: Exception) -> Response:
    _log.error("Something went wrong inside Recollect at %s", request.url.path, exc_info=error)
    answer = problem(
        500,
        f"Something went wrong inside Recollect ({type(error).__name__}).",
        code="internal",
        hint="The server's log says where; please report it.",
    )
    return shown(request, answer)


def shown(request: Request, answer: JSONResponse, *, outside: bool = False) -> Response:
    """The answer; as a page where somebody looks at it, and as its vendor's own where a client of the proxy asks. Who
    is `outside` may see nothing else of the server.
    """
    vendor = client_of(request.scope["path"], request.headers)
    if vendor is None and not wants_page(request):
        return answer
    details = json.loads(bytes(answer.body))
    kept = {name: value for name, value in answer.headers.items() if name not in ("content-length", "content-type")}
    if vendor is not None:
        return retold(vendor, details, kept)
    return refusal(details, kept) if outside else problem_page(request, details, kept)


# A body that is too large is refused below the application, in two words of plain text: told here as all else is.

_ITS_WORDS = b"Content Too Large"


def told_in_full(scope: Scope, receive: Receive, send: Send) -> Send:
    """Sends on, with problem details in place of these words."""
    held: Message | None = None

    async def sent(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start" and _may_be_ours(message):
            held = message
            return
        if held is None:
            await send(message)
            return
        begun, held = held, None
        if message.get("body") == _ITS_WORDS:
            await shown(Request(scope), _too_large(scope.get(MAX_BODY_SIZE_SCOPE_KEY)))(scope, receive, send)
        else:  # of a server behind the proxy
            await send(begun)
            await send(message)

    return sent


def _may_be_ours(start: Message) -> bool:
    kind = Headers(raw=start.get("headers", [])).get("content-type", "")
    return bool(start["status"] == 413) and kind.startswith("text/plain")


def _too_large(limit: int | None) -> JSONResponse:
    most = f" than {limit / 1e6:,.0f} MB" if limit else " than is taken here"
    return problem(413, f"The body is larger{most}.", hint="Send less at once.")


TOKEN_HEADER = "X-Recollect-Token"

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_ALWAYS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with none at all a form's own Origin would be null
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD")
_PROXIED = ("/v1/", "/in/")
_PROGRAMS = (*_PROXIED, "/api/", "/mcp")  # no page is there, so no link leads there
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")  # what a page sends unasked
_BODY_SECONDS = 30.0  # until the next part of a body
_RATE, _BURST = 100.0, 400.0  # requests a second from another machine, and at once


class Guard:
    """Wraps an application."""

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self._app, self._served = app, served
        self._cookie = f"recollect-{served.port}"  # cookies do not know ports
        self._rates = _Buckets(_RATE, _BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what may be asked, and answers the rest itself."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        sender = _with_headers(send, scope["path"])
        refused = self._refused(scope, Headers(scope=scope))
        if isinstance(refused, JSONResponse):
            refused = shown(Request(scope), refused, outside=True)
        if refused is not None:
            await refused(scope, receive, sender)
        else:
            await self._app(scope, _in_time(receive), told_in_full(scope, receive, sender))

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to who may not ask; None for who may."""
        client = (scope.get("client") or ("", 0))[0]
        if not is_loopback(client) and not self._rates.take(client):
            return _too_many()
        return self._foreign(scope, headers) or self._unproven(scope, headers)

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        """The refusal of a request that is not meant for this server, or comes from a page of another."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._served.hosts:
            shown = f"{self._served.address}. Another name: recollect serve --name NAME"
            return problem(421, "No such host here.", code="wrong_host", hint=f"This server is at {shown}")
        origins = headers.getlist("origin")
        if origins and (len(origins) > 1 or origins[0].lower() not in self._served.origins):
            return _other_site()
        site, method = headers.get("sec-fetch-site", ""), scope["method"]
        if site in ("cross-site", "same-site"):
            is_link = method in _SAFE and headers.get("sec-fetch-mode") == "navigate"
            in_frame = headers.get("sec-fetch-dest") not in ("document", None)
            if not is_link or in_frame or scope["path"].startswith(_PROGRAMS):
                return _other_site()
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_form = method not in _SAFE and kind in _FORMS and not _is_upload(scope["path"], headers)
        if is_form and not origins and site not in ("same-origin", "none"):
            return _other_site("A form must come from a page of this server, which its browser says.")
        return None

    def _unproven(self, scope: Scope, headers: Headers) -> Response | None:
        """The refusal of who does not show a token, where one is asked for; or the way on for who showed it in a link.
        What the token reaches is noted in the scope.
        """
        if not (self._served.token or self._served.tokens):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = [value for name, value in query if name == "token"] if scope["method"] in _SAFE else []
        for token in shown:
            if self._served.reach(token) is not None:
                return self._let_in(scope, token, [pair for pair in query if pair[0] != "token"])
        for token in _tokens(headers, self._cookie):
            if (reach := self._served.reach(token)) is not None:
                scope[REACH] = reach
                return None
        return problem(
            401,
            "This server asks for a token.",
            hint=f"Send it as Authorization: Bearer … or {TOKEN_HEADER}: …; recollect serve prints the link for a "
            "browser.",
            headers={"WWW-Authenticate": 'Bearer realm="recollect"'},
        )

    def _let_in(self, scope: Scope, token: str, rest: list[tuple[str, str]]) -> Response:
        """The token goes from the address into a cookie that no script and no other site sees."""
        path = "/" + scope["path"].lstrip("/\\")  # "//elsewhere" would be another server
        answer = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
        answer.set_cookie(self._cookie, token, httponly=True, samesite="strict", path="/")
        return answer


def _is_upload(path: str, headers: Headers) -> bool:
    """Whether a program sends a form through the proxy: it shows a key, in a header that no page can put on a form."""
    if not path.startswith(_PROXIED):
        return False
    bearer = headers.get("authorization", "").partition(" ")[0].lower() == "bearer"
    return bearer or "x-api-key" in headers or TOKEN_HEADER in headers


def _tokens(headers: Headers, cookie: str) -> Iterable[str]:
    shown = headers.getlist("authorization")
    scheme, _, bearer = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")  # of several none is meant
    if scheme.lower() == "bearer":
        yield bearer.strip()
    yield headers.get(TOKEN_HEADER, "")
    try:
        kept = SimpleCookie(headers.get("cookie", "")).get(cookie)
    except CookieError:
        kept = None
    if kept is not None:
        yield kept.value


def _other_site(detail: str = "Pages of other sites may not ask this server.") -> Response:
    return problem(403, detail, code="wrong_origin")


def _too_many() -> Response:
    return problem(429, "Too many requests.", code="too_many", headers={"Retry-After": "10"})


def _with_headers(send: Send, path: str) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _ALWAYS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sent


def _in_time(receive: Receive) -> Receive:
    """Who stops sending in the middle of a body is gone."""
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), _BODY_SECONDS)
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_whole = not message.get("more_body", False)
        return message

    return received


class _Buckets:
    """So much at once, refilled at a rate: a bucket for each address, of the latest ones."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """Whether there was one left."""
        level, at = self._levels.get(address, (self._burst, 0.0))
        level = min(self._burst, level + (time.monotonic() - at) * self._rate)
        self._levels[address] = (max(level - 1, 0.0), time.monotonic())
        self._levels.move_to_end(address)
        if len(self._levels) > 10_000:
            self._levels.popitem(last=False)
        return level >= 1
