"""Who may ask what listens: exact Host and Origin, a token where one is set, limits; and what browsers are told.

A page of another site that a browser has open can send requests to this machine. What keeps it out: the Host header
must be one of ours to the letter (against DNS rebinding), an Origin must be one of ours (against requests and forms of
other sites), and no answer allows any other origin to read it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.faces.http.problems import problem
from recollect.faces.http.scope import REACH
from recollect.faces.http.served import Served, is_loopback
from recollect.faces.server.limits import told_in_full
from recollect.faces.server.problems import shown

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
