"""Embeddings from an OpenAI-compatible server (`POST {base}/embeddings`). Never used unless configured.

The texts leave the machine, to the server that the user named; their secrets do not. Every answer is checked before it
is used.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from recollect.errors import ModelError
from recollect.models.embedding.base import Vectors, unit_rows
from recollect.models.embedding.endpoint import Endpoint
from recollect.models.embedding.tokenizer import slices
from recollect.text.secrets import without_secrets

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
