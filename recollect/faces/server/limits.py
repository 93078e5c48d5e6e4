"""A body that is too large is refused below the application, in two words of plain text: told here as all else is."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.body_limit import MAX_BODY_SIZE_SCOPE_KEY
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from recollect.faces.http.problems import problem
from recollect.faces.server.problems import shown

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
