"""What both providers' SDKs share: an HTTP client that bounds every answer, and their errors in our words.

An answer may be neither endless in time nor in size: it is counted as it arrives and left where it is too much. No
redirect is followed, for it would carry the key and the texts to a server that the user did not name.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from recollect.errors import InvalidInput
from recollect.models.language.base import (
    BrokenAnswer,
    CutAnswer,
    HugeAnswer,
    LanguageModelError,
    ModelNotReady,
    ModelTimeout,
    ModelUnreachable,
    RateLimited,
    RequestRejected,
)

#: Bytes of an answer on the wire: a token comes in an event of its own, of some 300 bytes.
MOST_BYTES = 4_000_000
_MOST_ERROR_BYTES = 64_000
_LONGEST_WAIT = 86_400.0
_SAID = 200  # characters of a server's words that an error tells
_QUOTED = 24  # characters in a row that are no accident: the server quotes the request

#: Says that the memory itself asks, so that a proxy of ours does not remember it. The vendors' own never see it.
OWN_CALL = "X-Recollect-Via"
_VENDORS = ("api.openai.com", "api.anthropic.com")

#: Kinds of errors that providers name in the body, also within a stream that began well.
_KINDS: dict[str, type[LanguageModelError]] = {
    "rate_limit_error": RateLimited,
    "overloaded_error": ModelUnreachable,
    "api_error": ModelUnreachable,
    "server_error": ModelUnreachable,
    "timeout_error": ModelTimeout,
    "insufficient_quota": ModelNotReady,
    "billing_error": ModelNotReady,
    "authentication_error": ModelNotReady,
    "permission_error": ModelNotReady,
}
_STATUSES: dict[int, type[LanguageModelError]] = {
    401: ModelNotReady,
    402: ModelNotReady,
    403: ModelNotReady,
    404: ModelNotReady,
    408: ModelTimeout,
    409: ModelUnreachable,
    425: ModelUnreachable,
    429: RateLimited,
    504: ModelTimeout,
}


def checked_base_url(url: str) -> str:
    """The address of a server without a slash at its end. Raises InvalidInput for one that is none."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInput(f"{url!r} is not the address of a server.", hint="Use https://host/v1.")
    if parts.username or parts.password:
        raise InvalidInput("The address of a model server cannot hold a user or a password.")
    return url.rstrip("/")


def http_client(base_url: str, *, silence: float, longest: float) -> Any:
    """An HTTP client for an SDK: `silence` seconds without a byte, `longest` seconds in all, MOST_BYTES in size."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, inner: Any, most: int, until: float) -> None:
            self._inner, self._most, self._until = inner, most, until

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for part in self._inner:
                size += len(part)
                if size > self._most:
                    self.close()
                    raise HugeAnswer(f"The answer is longer than {self._most:,} bytes.")
                if time.monotonic() > self._until:
                    self.close()
                    raise ModelTimeout(f"The answer took longer than {longest:g} seconds.")
                yield part

        def close(self) -> None:
            self._inner.close()

    def bound(response: Any) -> None:
        most = MOST_BYTES if response.is_success else _MOST_ERROR_BYTES
        response.stream = Bounded(response.stream, most, time.monotonic() + longest)

    return httpx2.Client(
        base_url=base_url,
        timeout=httpx2.Timeout(silence, connect=min(silence, 10.0)),
        event_hooks={"response": [bound]},
        follow_redirects=False,
        trust_env=not _is_loopback(base_url),  # no proxy reaches this machine
        headers={"Accept-Encoding": "identity"}
        | ({} if urlsplit(base_url).hostname in _VENDORS else {OWN_CALL: "model"}),
    )


def check_stream(response: Any, place: str) -> None:
    """Sees that an answer is a stream of events. Raises ModelNotReady: it is a web page, say, of a wrong address."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise ModelNotReady(
            f"{place} answered with {kind or 'something'} instead of a stream of events.",
            hint="Check the address of the model server; it usually ends in /v1.",
        )


def translated(sdk: Any, error: Exception, *, place: str, sent: str, began: bool, hint: str) -> LanguageModelError:
    """An error of an SDK, or of the HTTP client below it, in our words. `sent` is the text of the request, which no
    error may quote; `began`: part of an answer had come; `hint` is the remedy for a key or a name that is wrong.
    """
    import httpx2

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LanguageModelError):
            return cause
        cause = cause.__cause__
    if isinstance(error, sdk.APIStatusError):
        return _refusal(error, place, sent, hint)
    if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
        return ModelTimeout(f"{place} was silent for too long.")
    if isinstance(error, sdk.APIConnectionError | httpx2.HTTPError | httpx2.StreamError | OSError):
        if began:
            return CutAnswer(f"{place} broke the connection in the middle of an answer.")
        return ModelUnreachable(
            f"{place} cannot be reached: {type(error.__cause__ or error).__name__}.",
            hint="Check the address, and that the server is running.",
        )
    if isinstance(error, sdk.APIError):  # an error in the stream itself
        kind = str(getattr(error, "type", None) or getattr(error, "code", None) or "")
        return _KINDS.get(kind, ModelUnreachable)(f"{place} failed in the middle of an answer{_said(error, sent)}.")
    return BrokenAnswer(f"{place} sent what is no answer ({type(error).__name__}).")


def _refusal(error: Any, place: str, sent: str, hint: str) -> LanguageModelError:
    status = int(error.status_code)
    inner = _inner(error)
    named = [str(inner.get(key)) for key in ("type", "code") if inner.get(key)]
    kind = next((_KINDS[name] for name in named if name in _KINDS), None) if status in (200, 429, 400) else None
    if kind is None:
        kind = _STATUSES.get(status) or _of_status(status)
    what = "failed in the middle of an answer" if status == 200 else f"answered {status}"
    found = kind(f"{place} {what}{_said(error, sent)}.", hint=hint if kind is ModelNotReady else "")
    if found.again:
        found.retry_after = retry_after(error.response.headers)
    return found


def _of_status(status: int) -> type[LanguageModelError]:
    if status >= 500:
        return ModelUnreachable
    return ModelNotReady if status < 400 else RequestRejected  # a redirect: the address is another


def _inner(error: Any) -> dict[str, Any]:
    """What the body says of the error, whether it is wrapped or not."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def _said(error: Any, sent: str) -> str:
    """The server's words, on a line, unless they quote the request: errors outlive what is forgotten."""
    words = " ".join(str(_inner(error).get("message") or "").split())[:_SAID].rstrip(".")
    for start in range(0, max(len(words) - _QUOTED, 0) + 1, 4):
        if len(words) > _QUOTED and words[start : start + _QUOTED] in sent:
            return ""
    return f": {words}" if words else ""


def retry_after(headers: Any, now: Callable[[], float] = time.time) -> float | None:
    """The pause in seconds that a server asks for, by seconds or by date; None where it names none."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return _bounded(float(milliseconds) / 1000)
        if (value := headers.get("retry-after")) is None:
            return None
        try:
            return _bounded(float(value))
        except ValueError:
            return _bounded(parsedate_to_datetime(value).timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None


def _bounded(seconds: float) -> float | None:
    return None if seconds != seconds else min(max(seconds, 0.0), _LONGEST_WAIT)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
