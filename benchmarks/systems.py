"""The product as a system that is measured: conversations in by its importer, questions through its search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np

from benchmarks.convert import write_openai
from benchmarks.datasets import History
from benchmarks.metrics import DEPTH
from recollect.embedding.base import MAX_TOKENS, TokenEmbedder, TokenVectors, Vectors
from recollect.embedding.static import StaticEmbedder
from recollect.memory import Memory
from recollect.record import Namespace
from recollect.store.choose import open_store


class RememberingModel:
    """The quality model, computing nothing twice in a process: a set is measured in two arrangements."""

    def __init__(self, model: TokenEmbedder) -> None:
        self._model = model
        self._known: dict[str, tuple[Vectors, TokenVectors]] = {}
        self.name, self.dimensions = model.name, model.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the model."""
        return self.embed_with_tokens(texts)[0]

    def token_embed(self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS) -> list[TokenVectors]:
        """As the model."""
        return self.embed_with_tokens(texts, max_tokens=max_tokens)[1]

    def embed_with_tokens(
        self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS
    ) -> tuple[Vectors, list[TokenVectors]]:
        """As the model, for the texts that are new."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            vectors, tokens = self._model.embed_with_tokens(fresh, max_tokens=MAX_TOKENS)
            self._known.update({t: (v, k) for t, v, k in zip(fresh, vectors, tokens, strict=True)})
        rows = [self._known[text] for text in texts]
        kept = [TokenVectors(k.ids[:max_tokens], k.vectors[:max_tokens]) for _, k in rows]
        return np.stack([vector for vector, _ in rows]), kept


class Product:
    """Recollect over one history, in a namespace of its own."""

    def __init__(self, history: History, place: str, folder: Path, model: TokenEmbedder) -> None:
        """Imports the history. Raises what the product raises, and RuntimeError where a message is not in."""
        namespace = Namespace(f"bench/{uuid4()}")
        self._memory = Memory(open_store(place), StaticEmbedder(), namespace, quality=lambda: model)
        export = folder / "export.jsonl"
        write_openai(history.sessions, export)
        report = self._memory.import_file(export)
        if report.stored.messages != len(history.messages):
            raise RuntimeError(f"{report.stored.messages} of {len(history.messages)} messages of {history.id} are in.")

    def close(self) -> None:
        """Closes the memory."""
        self._memory.close()

    def make_quality(self) -> None:
        """Makes the vectors of the quality mode."""
        self._memory.embed()

    def messages(self, question: str, mode: str) -> list[str]:
        """The ids of the messages found, best first."""
        results = self._memory.search(question, group_by="message", limit=DEPTH, mode=mode)
        return [hit.messages[0].message.source_id or "" for hit in results]

    def sessions(self, question: str, mode: str) -> list[str]:
        """The ids of the conversations found, best first."""
        results = self._memory.search(question, group_by="conversation", limit=DEPTH, mode=mode)
        return [hit.conversation.source_id or "" for hit in results]
