"""Each text embedded once: a bounded memory of vectors by the content of their texts."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from recollect.models.embedding.base import Embedder, Vectors, is_remote


class CachedEmbedder:
    """Wraps an embedder; equal texts within a batch, an import or a process cost one embedding.

    Keeps the `capacity` vectors used last: 8,192 of 256 dimensions are 8 MB. Thread-safe; the wrapped embedder runs
    outside of the lock, so that two threads may at worst embed the same text twice.
    """

    def __init__(self, embedder: Embedder, capacity: int = 8_192) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The wrapped embedder's name: the vectors are the same."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._embedder.dimensions

    @property
    def is_remote(self) -> bool:
        """Whether the wrapped embedder asks a server."""
        return is_remote(self._embedder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the wrapped embedder does, float32 (n, dimensions)."""
        keys = [_key(text) for text in texts]
        rows = self._recall(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if missing:
            fresh = dict(zip(missing, self._embedder.embed(list(missing.values())), strict=True))
            self._keep(fresh)
            rows |= fresh
        if not keys:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([rows[key] for key in keys])

    def _recall(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
            for key in known:
                self._kept.move_to_end(key)
        return known

    def _keep(self, fresh: dict[bytes, Vectors]) -> None:
        with self._lock:
            for key, row in fresh.items():
                self._kept[key] = row.copy()  # a view would keep its whole batch alive
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
