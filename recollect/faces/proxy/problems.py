"""What went wrong, in the shape that the vendor's own clients read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse

from recollect.errors import RecollectError

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    421: "invalid_request_error",
    429: "rate_limit_error",
    508: "invalid_request_error",
}
_OF_OPENAI = ("chat/", "responses")


def client_of(path: str, headers: Mapping[str, str]) -> str | None:
    """Whose client asks at an address of the server; None where that is none of the proxy's."""
    inside, _, below = path.rpartition("/v1/")
    if path.startswith("/v1/"):
        return vendor_of(path.removeprefix("/v1/"), headers)
    return vendor_of(below, headers) if inside.startswith("/in/") else None


def vendor_of(path: str, headers: Mapping[str, str]) -> str:
    """Whose client asks for a path below /v1: it says so by that, else by the headers that only Anthropic's has."""
    if path.startswith("messages"):
        return "anthropic"
    if path.startswith(_OF_OPENAI):
        return "openai"
    return "anthropic" if "anthropic-version" in headers or "x-api-key" in headers else "openai"


def problem(vendor: str, status: int, error: RecollectError) -> JSONResponse:
    """An answer that says what is wrong, and what to do."""
    return JSONResponse(_body(vendor, status, str(error), error.code), status, {"X-Should-Retry": "false"})


def retold(vendor: str, details: Mapping[str, Any], headers: Mapping[str, str]) -> JSONResponse:
    """Problem details of the server, in that shape."""
    message = f"{details['detail']} {details['hint']}".strip()
    return JSONResponse(_body(vendor, details["status"], message, details["code"]), details["status"], dict(headers))


def event(vendor: str, message: str) -> bytes:
    """The same within a stream that has begun."""
    body = json.dumps(_body(vendor, 502, message, "upstream_failed"))
    return (f"event: error\ndata: {body}\n\n" if vendor == "anthropic" else f"data: {body}\n\n").encode()


def _body(vendor: str, status: int, message: str, code: str) -> dict[str, Any]:
    kind = _KINDS.get(status, "api_error")
    if vendor == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
