"""What went wrong, as a page for people in front of a browser; programs get problem details."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from recollect.faces.web.page import page, wants_part

_PROGRAMS = ("/api/", "/v1/", "/mcp", "/assets/")
_TITLES = {400: "That cannot be read", 404: "Not here", 422: "That cannot be read"}


def problem_page(request: Request, status: int, detail: str, hint: str) -> Response | None:
    """The page; None for who does not want one."""
    if request.url.path.startswith(_PROGRAMS) or wants_part(request):
        return None
    if "text/html" not in request.headers.get("accept", ""):
        return None
    again = str(request.url) if status >= 500 and request.method == "GET" else None
    title = _TITLES.get(status, "That did not work")
    detail = "There is no such page." if (status, detail) == (404, "Not Found") else detail
    return page(
        request,
        "problem.html",
        status=status,
        title=title,
        detail=detail,
        hint=hint,
        again=again,
        is_bad=status >= 500,
        here="problem",
    )
