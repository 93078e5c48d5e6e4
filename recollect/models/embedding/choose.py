"""Embedders by name, as settings and the command line give them."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from recollect.errors import InvalidInput
from recollect.models.embedding.base import Embedder, Vectors, embed_with_runs, is_remote
from recollect.text.sentences import Sentences

SERVED = "openai:"  #: how the names of embedders begin that ask a server
_CHOICES = "static, minilm, folder:/path/to/a/model, openai:model-name"


def open_embedder(spec: str = "static") -> Embedder:
    """The embedder of that name, with its model loaded where it has one.

    `static` (the default) and `minilm` come with the package. `folder:/path` is a model on this machine.
    `openai:model` asks an OpenAI-compatible server: OPENAI_BASE_URL (default: OpenAI's) and OPENAI_API_KEY.
    Raises InvalidInput for another name, ModelError where the model cannot be used.
    """
    kind, _, rest = spec.strip().partition(":")
    match kind, rest.strip():
        case "static", "":
            from recollect.models.embedding.static import StaticEmbedder

            return StaticEmbedder()
        case "minilm", "":
            from recollect.models.embedding.encoder import MiniLM

            return MiniLM()
        case "folder", path if path:
            from recollect.models.embedding.encoder import open_folder

            return open_folder(path)
        case "openai", model if model:
            from recollect.models.embedding.remote import DEFAULT_BASE_URL, OpenAIEmbeddings

            return OpenAIEmbeddings(model, base_url=os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
    raise InvalidInput(f"{spec!r} is not an embedder.", hint=f"Choose one of: {_CHOICES}.")


# Each text embedded once: a bounded memory of vectors by the content of their texts.


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


# An embedder by name whose model is loaded at the first text: what never embeds never waits for it.


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
        from recollect.models.embedding.encoder import MiniLM

        return MiniLM.name
    return None
