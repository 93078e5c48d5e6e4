"""What went wrong, in the shape that the vendor's own clients read."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse

from recollect.errors import RecollectError

_KINDS = {400: "invalid_request_error", 404: "not_found_error", 413: "request_too_large", 508: "invalid_request_error"}


def problem(vendor: str, status: int, error: RecollectError) -> JSONResponse:
    """An answer that says what is wrong, and what to do."""
    return JSONResponse(_body(vendor, status, str(error), error.code), status, {"X-Should-Retry": "false"})


def event(vendor: str, message: str) -> bytes:
    """The same within a stream that has begun."""
    body = json.dumps(_body(vendor, 502, message, "upstream_failed"))
    return (f"event: error\ndata: {body}\n\n" if vendor == "anthropic" else f"data: {body}\n\n").encode()


def _body(vendor: str, status: int, message: str, code: str) -> dict[str, Any]:
    kind = _KINDS.get(status, "api_error")
    if vendor == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
