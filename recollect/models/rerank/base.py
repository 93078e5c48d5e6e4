"""The port of re-rankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Says how well each of a few texts answers a question. Thread-safe."""

    name: str

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """A number for each text, higher for what answers better; only those of one call compare. Raises ModelError."""
        ...
