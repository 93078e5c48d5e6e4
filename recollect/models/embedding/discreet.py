"""An embedder on a server that is told no secrets: every text is masked before it leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recollect.models.embedding.base import Embedder, Vectors


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
