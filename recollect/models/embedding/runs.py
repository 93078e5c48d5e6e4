"""Vectors of texts and of runs of their sentences together: an embedder that sums over tokens needs each only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from recollect.models.embedding.base import Embedder, Vectors
from recollect.text.sentences import Sentences


@runtime_checkable
class RunEmbedder(Protocol):
    """An embedder that makes both in one pass."""

    def embed_with_runs(self, texts: Sequence[Sentences]) -> tuple[Vectors, Vectors]:
        """As the function of that name does."""
        ...


def embed_with_runs(embedder: Embedder, texts: Sequence[Sentences]) -> tuple[Vectors, Vectors]:
    """Unit rows (n, d) of the texts and (m, d) of all their runs in order; in one pass where the embedder can.

    Raises ModelError.
    """
    if isinstance(embedder, RunEmbedder):
        return embedder.embed_with_runs(texts)
    runs = [" ".join(text.parts[first:end]) for text in texts for first, end in text.runs]
    return embedder.embed([text.text for text in texts]), embedder.embed(runs)
