"""The quality model with a memory on disk: a text is embedded once, in whichever set and arrangement it stands."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from recollect.models.embedding.base import MAX_TOKENS, QUALITY_TOKENS, TokenEmbedder, TokenVectors, Vectors

_CREATE = "CREATE TABLE IF NOT EXISTS made (key BLOB PRIMARY KEY, vector BLOB, ids BLOB, tokens BLOB) WITHOUT ROWID"
_GET = "SELECT vector, ids, tokens FROM made WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?)"


class RememberingModel:
    """The quality model, computing nothing twice. A text counts as another one for another number of tokens."""

    def __init__(self, model: TokenEmbedder, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._model, self.name, self.dimensions = model, model.name, model.dimensions
        self._made = sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False)
        self._made.execute("PRAGMA journal_mode = WAL")
        self._made.execute(_CREATE)

    @classmethod
    def packaged(cls, cache: Path) -> RememberingModel:
        """The model that comes with the product."""
        from recollect.models.embedding.encoder import MiniLM

        return cls(MiniLM(), cache / "vectors.db")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the model does it for as many tokens as the quality mode looks at."""
        return self.embed_with_tokens(texts, max_tokens=QUALITY_TOKENS)[0]

    def token_embed(self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS) -> list[TokenVectors]:
        """As the model."""
        return self.embed_with_tokens(texts, max_tokens=max_tokens)[1]

    def embed_with_tokens(
        self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS
    ) -> tuple[Vectors, list[TokenVectors]]:
        """As the model, for the texts that are new."""
        keys = [sha256(f"{self.name}\0{max_tokens}\0{text}".encode()).digest() for text in texts]
        found = {key: row for key in keys if (row := self._made.execute(_GET, (key,)).fetchone())}
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if fresh:
            vectors, tokens = self._model.embed_with_tokens(list(fresh.values()), max_tokens=max_tokens)
            rows = {
                key: (vector.tobytes(), token.ids.tobytes(), token.vectors.tobytes())
                for key, vector, token in zip(fresh, vectors, tokens, strict=True)
            }
            self._made.execute("BEGIN IMMEDIATE")
            self._made.executemany(_PUT, [(key, *row) for key, row in rows.items()])
            self._made.execute("COMMIT")
            found |= rows
        return np.stack([np.frombuffer(found[key][0], np.float32) for key in keys]), [
            _tokens(found[key]) for key in keys
        ]


def _tokens(row: tuple[bytes, bytes, bytes]) -> TokenVectors:
    ids, vectors = np.frombuffer(row[1], np.uint16), np.frombuffer(row[2], np.int8)
    return TokenVectors(ids, vectors.reshape(len(ids), -1))
