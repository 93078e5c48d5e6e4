"""An embedder by name whose model is loaded at the first text: what never embeds never waits for it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from recollect.models.embedding.base import Embedder, Vectors
from recollect.models.embedding.cache import CachedEmbedder
from recollect.models.embedding.choose import SERVED, open_embedder
from recollect.models.embedding.runs import embed_with_runs
from recollect.text.sentences import Sentences


class LazyEmbedder:
    """Opens the embedder of `spec` (see `open_embedder`) when it is first needed. Thread-safe.

    All but the static one, which is as fast as a look-up, remember the vectors of texts that come again.
    """

    def __init__(self, spec: str = "static") -> None:
        self._spec = spec.strip()
        self._opened: Embedder | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The embedder's name. Raises InvalidInput or ModelError where it must be opened for that and cannot be."""
        return _packaged_name(self._spec) or self._embedder().name

    @property
    def dimensions(self) -> int:
        """The length of a vector. Raises as `name` does."""
        return self._embedder().dimensions

    @property
    def is_remote(self) -> bool:
        """Whether it asks a server."""
        return self._spec.startswith(SERVED)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does, float32 (n, dimensions). Raises InvalidInput, ModelError."""
        return self._embedder().embed(texts)

    def embed_with_runs(self, texts: Sequence[Sentences]) -> tuple[Vectors, Vectors]:
        """As the embedder does, in one pass where it can. Raises InvalidInput, ModelError."""
        return embed_with_runs(self._embedder(), texts)

    def _embedder(self) -> Embedder:
        with self._lock:
            if self._opened is None:
                opened = open_embedder(self._spec)
                self._opened = opened if self._spec == "static" else CachedEmbedder(opened)
            return self._opened


def _packaged_name(spec: str) -> str | None:
    """The name of a packaged embedder, which need not be opened to be known."""
    if spec == "static":
        from recollect.models.embedding.static import StaticEmbedder

        return StaticEmbedder.name
    if spec == "minilm":
        from recollect.models.embedding.minilm import MiniLM

        return MiniLM.name
    return None
