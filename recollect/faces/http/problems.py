"""What went wrong, as problem details (RFC 9457) with the `code` and `hint` that the terminal shows."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse

from recollect.errors import (
    ImportProblem,
    InvalidInput,
    ModelError,
    NotAllowed,
    NotFound,
    RecollectError,
    StoreBusy,
    StoreError,
)

#: What is said of a request that would take the stack of whoever reads it.
TOO_DEEP = "The request is nested too deeply."
MEDIA_TYPE = "application/problem+json"

_STATUS = {
    InvalidInput: 400,
    NotAllowed: 403,
    NotFound: 404,
    ImportProblem: 400,
    StoreBusy: 503,
    StoreError: 500,
    ModelError: 502,
}
_CODES = {401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def problem(
    status: int, detail: str, *, code: str = "", hint: str = "", headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    """An answer that says what is wrong, and what to do."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code or _CODES.get(status, "error"),
        "hint": hint,
        **more,
    }
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def status_of(error: RecollectError) -> int:
    """The status that says the same as an error. A model that is not there is 503 rather than a bad gateway."""
    if isinstance(error, ModelError) and not error.again and not error.outage:
        return 503
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def told(error: RecollectError) -> JSONResponse:
    """An error of ours."""
    after = getattr(error, "retry_after", None)
    headers = {"Retry-After": str(max(1, round(after)))} if after else {}
    return problem(status_of(error), error.message, code=error.code, hint=error.hint, headers=headers)
