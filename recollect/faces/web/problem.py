"""What went wrong, as a page: the same words that programs get as problem details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from recollect.faces.web.page import environment, page

_PROGRAMS = ("/api/", "/v1/", "/mcp", "/assets/")


def wants_page(request: Request) -> bool:
    """Whether somebody looks at the answer, rather than a program."""
    if request.scope["path"].startswith(_PROGRAMS):
        return False
    return "text/html" in request.headers.get("accept", "") or request.headers.get("hx-request") == "true"


def problem_page(request: Request, problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """The page of problem details; for htmx the note alone, in place of what was asked for."""
    answer = page(request, "problem.html", status=int(problem["status"]), fragment="note", problem=problem, here="-")
    answer.headers.update(headers)
    return answer


def refusal(problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """The same for who may not ask: a page by itself, for its styles would be refused as well."""
    drawn = environment().get_template("refusal.html").render(problem=problem)
    return HTMLResponse(drawn, int(problem["status"]), dict(headers))
