"""Embeddings from an OpenAI-compatible server (`POST {base}/embeddings`). Never used unless configured.

The texts leave the machine, to the server that the user named; their secrets do not. Every answer is checked before it
is used.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import math
import os
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from recollect.errors import InvalidInput, ModelError
from recollect.models.embedding.base import Embedder, Vectors, unit_rows
from recollect.models.embedding.tokenizer import slices
from recollect.text.secrets import without_secrets

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


DEFAULT_BASE_URL = "https://api.openai.com/v1"

_DIMENSIONS = {"text-embedding-3-small": 1_536, "text-embedding-3-large": 3_072, "text-embedding-ada-002": 1_536}
#: Characters of one input: below the 8,192 tokens of OpenAI's models in any script.
_PIECE = 6_000
#: Inputs and characters of one request.
_BATCH, _BATCH_CHARACTERS = 256, 200_000

_Part = tuple[int, str]


class OpenAIEmbeddings:
    """The vectors of a model behind an OpenAI-compatible server. A text over 6,000 characters is the mean of its parts.

    Safe to use from several threads.
    """

    is_remote = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        key_variable: str = "OPENAI_API_KEY",
        dimensions: int | None = None,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Asks nothing yet. The key is read from `key_variable`; servers without keys need none.

        `dimensions` asks the server for shorter vectors, which not every model can give. `timeout` in seconds.
        Raises InvalidInput for a base URL that is none, ModelError for OpenAI without a key.
        """
        key = os.environ.get(key_variable)
        if not key and base_url == DEFAULT_BASE_URL:
            raise ModelError(
                "OpenAI needs an API key.", hint=f"Set {key_variable}, or OPENAI_BASE_URL for another server."
            )
        self.name = f"openai:{model}" if dimensions is None else f"openai:{model}@{dimensions}"
        self._model, self._asked = model, dimensions
        self._known = dimensions or _DIMENSIONS.get(model)
        self._endpoint = Endpoint(f"{base_url.rstrip('/')}/embeddings", key, timeout=timeout, sleep=sleep)

    @property
    def dimensions(self) -> int:
        """The length of a vector; for a model that is not known here the server is asked once. Raises ModelError."""
        if self._known is None:
            self._known = self._request(["a"]).shape[1]
        return self._known

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, float32 (n, dimensions); zeros for blank texts. Raises ModelError."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for batch in _batches(_parts(texts)):
            rows = self._request([part for _, part in batch])
            np.add.at(sums, np.array([owner for owner, _ in batch]), unit_rows(rows))
        return unit_rows(sums)

    def _request(self, inputs: list[str]) -> Vectors:
        body: dict[str, Any] = {"model": self._model, "input": inputs, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        rows = _rows(self._endpoint.post(body), len(inputs))
        if self._known is not None and rows.shape[1] != self._known:
            raise ModelError(
                f"{self._model} returned vectors with {rows.shape[1]} dimensions, expected {self._known}.",
                hint="The server runs another model under that name, or cannot shorten vectors.",
            )
        return rows


def _parts(texts: Sequence[str]) -> Iterator[_Part]:
    """The texts in parts that a model takes at once, with the numbers of their texts; servers refuse blank ones."""
    for owner, text in enumerate(texts):
        for part in slices(without_secrets(text), _PIECE):
            if part and not part.isspace():
                yield owner, part.encode("utf-8", "replace").decode()


def _batches(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    batch: list[_Part] = []
    characters = 0
    for part in parts:
        if batch and (len(batch) >= _BATCH or characters + len(part[1]) > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(part)
        characters += len(part[1])
    if batch:
        yield batch


def _rows(answer: dict[str, Any], count: int) -> Vectors:
    """The vectors of an answer in the order of the inputs, float32 (count, d). Raises ModelError for nonsense."""
    try:
        found = {int(item["index"]): item["embedding"] for item in answer["data"]}
        rows = np.array([found[number] for number in range(count)], np.float32)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            "The server returned no vectors for some of the texts.", hint="Check that the model embeds texts."
        ) from error
    if rows.ndim != 2 or not rows.shape[1] or len(found) != count or not np.isfinite(rows).all():
        raise ModelError(
            "The server returned vectors that are not valid numbers.", hint="Check that the model embeds texts."
        )
    return rows


# An embedder on a server that is told no secrets: every text is masked before it leaves.


class DiscreetEmbedder:
    """An embedder that gets texts with a mask in the place of each secret. Thread-safe."""

    is_remote = True

    def __init__(self, embedder: Embedder, mask: Callable[[list[str]], list[str]]) -> None:
        """`mask` masks texts that go together: it may have to ask the store for what is secret."""
        self._embedder, self._mask = embedder, mask

    @property
    def name(self) -> str:
        """The identity of the embedder."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does, float32 (n, dimensions). Raises whatever it raises."""
        return self._embedder.embed(self._mask(list(texts)))
