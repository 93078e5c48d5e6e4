"""What went wrong, in the shape that the vendor's own clients read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2
from fastapi.responses import JSONResponse

from recollect.errors import ModelError, RecollectError
from recollect.faces.proxy.upstream import Upstream, place_of

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
#: What only OpenAI has below /v1. Both have models, files and more.
_OF_OPENAI = {
    "assistants",
    "audio",
    "batches",
    "chat",
    "completions",
    "containers",
    "conversations",
    "embeddings",
    "engines",
    "evals",
    "fine_tuning",
    "images",
    "moderations",
    "realtime",
    "responses",
    "threads",
    "uploads",
    "vector_stores",
    "videos",
}
_UNREACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


def client_of(path: str, headers: Mapping[str, str]) -> str | None:
    """Whose client asks at an address of the server; None where that is none of the proxy's."""
    place = place_of(path)
    return vendor_of(place.path, headers) if place is not None else None


def vendor_of(path: str, headers: Mapping[str, str]) -> str:
    """Whose client asks for a path below /v1: it says so by that, else by the header that Anthropic asks for. A key may
    be called alike by other servers.
    """
    first = path.partition("/")[0]
    if first == "messages":
        return "anthropic"
    return "anthropic" if first not in _OF_OPENAI and "anthropic-version" in headers else "openai"


def problem(vendor: str, status: int, error: RecollectError) -> JSONResponse:
    """An answer that says what is wrong, and what to do. To ask again is of no use."""
    return JSONResponse(_body(vendor, status, str(error), error.code), status, {"X-Should-Retry": "false"})


def failure(to: Upstream, error: Exception) -> JSONResponse:
    """The answer where the upstream has none. Without this proxy the client would meet the same, and ask again: nothing
    here keeps it from that.
    """
    kind = type(error).__name__
    if isinstance(error, httpx2.TransportError) and not isinstance(error, _UNREACHED):
        late = isinstance(error, httpx2.TimeoutException)
        told = "did not answer in time" if late else "dropped the connection before its answer was whole"
        status, hint = 504 if late else 502, "Send the request again."
    elif isinstance(error, httpx2.DecodingError):
        told, status, hint = "sent an answer that cannot be decompressed", 502, "Look at the server's log."
    else:
        told, status = "cannot be reached", 502
        hint = f"Check {to.vendor.upper()}_BASE_URL, or {to.vendor}_upstream."
    problem = ModelError(f"{to.base} {told}: {kind}.", hint=hint)
    return JSONResponse(_body(to.vendor, status, str(problem), problem.code), status)


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
