"""The page that tells why something was in a prompt: what the newest requests were given, and what never is again."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import page

router = APIRouter()

_SHOWN = 50  # requests
_BY = {"proxy": "a client of the proxy", "wrap": "a wrapped client", "mcp": "a client of MCP", "hook": "a coding agent"}


@router.get("/given")
def given(request: Request, memory: Scoped, forgotten: str = "") -> Response:
    """What the newest requests were given, each line with where it comes from."""
    requests = memory.integration.requests(_SHOWN)
    ids = {own for one in requests for own in (*one.ids, one.message_id) if own}
    return page(
        request,
        "given.html",
        data=lambda: {"requests": [one.to_json() for one in requests]},
        requests=requests,
        opens={message.id: message.conversation_id for message in memory.messages(sorted(ids))},
        by=_BY,
        forgotten=forgotten if forgotten.isalnum() else "",
    )
