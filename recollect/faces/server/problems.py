"""Errors as whoever asks can read them: problem details, a page, or the vendor's own form."""

from __future__ import annotations

import json
import logging

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from recollect.errors import RecollectError
from recollect.faces.http.problems import TOO_DEEP, problem, told
from recollect.faces.proxy.problems import client_of, retold
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
