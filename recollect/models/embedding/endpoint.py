"""JSON over HTTP to a model server: time-outs, retries with growing pauses, and errors that say what to do."""

from __future__ import annotations

import http.client
import ipaddress
import json
import math
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from recollect.errors import InvalidInput, ModelError

_ATTEMPTS = 5
_PART = 1 << 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_REMEDIES = {
    400: "The model may take shorter texts or no `dimensions`; the server's words say which.",
    401: "Set OPENAI_API_KEY to a key of this server.",
    403: "The key may not use this model.",
    404: "Check the model's name and OPENAI_BASE_URL; it usually ends in /v1.",
    429: "The account's quota is used up or its rate is limited: wait, or choose the static embedder.",
}
_HINT = "Check OPENAI_BASE_URL and that the server is running, or choose the static embedder."


class Endpoint:
    """One address that takes JSON by POST and answers in JSON. Safe to use from several threads."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        attempts: int = _ATTEMPTS,
        remedies: Mapping[int, str] = _REMEDIES,
        hint: str = _HINT,
        longest: float = math.inf,
        most_bytes: int = 1 << 28,
    ) -> None:
        """`timeout`: seconds of silence that are borne, `longest` of one answer in all, `most_bytes` its size; `sleep`
        waits between attempts; `remedies` by status, and `hint` where it cannot be reached, say what helps. Raises
        InvalidInput.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InvalidInput(f"{url!r} is not the address of a server.", hint="Use https://host/v1.")
        self._url, self._place = url, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._key, self._timeout, self._sleep = key, timeout, sleep
        self._attempts, self._remedies, self._hint = attempts, remedies, hint
        self._longest, self._most_bytes = longest, most_bytes
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if _is_loopback(parts.hostname):
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """The server's answer, an object. Tries again where waiting may help. Raises ModelError, never showing the
        key.
        """
        answer = self.post_any(body)
        if not isinstance(answer, dict):
            raise self._no_json()
        return answer

    def post_any(self, body: dict[str, Any]) -> Any:
        """The same of a server whose answer may be a list."""
        for attempt in range(self._attempts):
            try:
                return self._post_once(body)
            except urllib.error.HTTPError as error:
                problem, pause = self._refusal(error), _retry_after(error)
                if error.code not in _PASSING or "insufficient_quota" in problem.message:
                    raise problem from None
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error or type(error).__name__
                problem, pause = self._unreachable(reason), None
            if attempt + 1 < self._attempts:
                self._sleep(_pause(attempt) if pause is None else pause)
        raise problem

    def _post_once(self, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "recollect"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers, method="POST")
        until = time.monotonic() + self._longest
        with self._opener.open(request, timeout=min(self._timeout, self._longest)) as response:
            raw = self._read(response, until)
        try:
            return json.loads(raw)
        except ValueError:
            raise self._no_json() from None

    def _read(self, response: Any, until: float) -> bytes:
        """The body, as it comes. Raises OSError where it is endless in time or in size."""
        raw = bytearray()
        while part := response.read1(_PART):
            raw += part
            if len(raw) > self._most_bytes:
                raise OSError(f"its answer is longer than {self._most_bytes:,} bytes")
            if time.monotonic() > until:
                raise TimeoutError(f"its answer took longer than {self._longest:g} seconds")
        return bytes(raw)

    def _refusal(self, error: urllib.error.HTTPError) -> ModelError:
        with error:
            said = " ".join(error.read(2_000).decode("utf-8", "replace").split())
        if self._key:
            said = said.replace(self._key, "***")
        return ModelError(f"{self._place} answered {error.code}: {said[:500]}", hint=self._remedies.get(error.code, ""))

    def _unreachable(self, reason: object) -> ModelError:
        return ModelError(f"{self._place} cannot be reached: {reason}.", hint=self._hint)

    def _no_json(self) -> ModelError:
        return ModelError(f"{self._place} did not answer in JSON.", hint=self._hint)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key and the texts to a server that the user did not name."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine, which no proxy can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _pause(attempt: int) -> float:
    """Seconds to wait, doubled each time, varied so that clients do not return together."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**attempt) * random.uniform(0.75, 1.25)


def _retry_after(error: urllib.error.HTTPError) -> float | None:
    """The pause in seconds that the server asks for, where it names one."""
    try:
        return min(_LONGEST_PAUSE, max(0.0, float(error.headers.get("Retry-After", ""))))
    except ValueError:
        return None
