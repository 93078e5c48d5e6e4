"""Re-rankers by name, as the setting and `recollect.open` give them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from recollect.errors import InvalidInput, ModelError
from recollect.models.rerank.base import Reranker

#: The variable that holds the key of a server.
KEY = "RECOLLECT_RERANKER_KEY"

_CHOICES = "folder:/path/to/a/cross-encoder, model@https://host/v1/rerank, http://host/rerank"


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """What the name of a re-ranker means: a folder, or the address of a server with the model that it is asked for."""

    folder: Path | None = None
    url: str = ""
    model: str = ""


def read_reranker(spec: str, base: Path | None = None) -> RerankerSpec | None:
    """What is meant by a name; None for "" and "none". A relative folder begins at `base`, if that is given.

    Raises InvalidInput.
    """
    spec = spec.strip()
    if spec in ("", "none"):
        return None
    if spec.startswith("folder:"):
        path = Path(spec.removeprefix("folder:").strip()).expanduser()
        if path.name:
            return RerankerSpec(folder=base / path if base else path)
    model, at, rest = f"@{spec}".rpartition("@http")
    parts = urlsplit(f"http{rest}") if at else None
    if parts is not None and parts.scheme in ("http", "https") and parts.hostname:
        if parts.username or parts.password:
            raise InvalidInput("The address of a re-ranker cannot hold a user or a password.", hint=f"Set {KEY}.")
        return RerankerSpec(url=f"http{rest}", model=model.removeprefix("@").strip())
    raise InvalidInput(f"{spec!r} is not a re-ranker.", hint=f"Choose one of: {_CHOICES}.")


def open_reranker(spec: str) -> Reranker | None:
    """The re-ranker of that name, with its model loaded where it is a folder; None for "" and "none".

    `folder:/path` is a cross-encoder on this machine. `model@https://host/v1/rerank` asks a server that speaks the form
    of Cohere, Jina and vLLM, or the one of Text Embeddings Inference; `RECOLLECT_RERANKER_KEY` is its key. Raises
    InvalidInput for another name, ModelError where the model cannot be used.
    """
    meant = read_reranker(spec)
    if meant is None:
        return None
    if meant.folder is not None:
        from recollect.models.rerank.folder import open_folder

        return open_folder(meant.folder)
    from recollect.models.rerank.folder import RemoteReranker

    return RemoteReranker(meant.url, meant.model, key=os.environ.get(KEY))


# A re-ranker by name, opened when it is first asked, and left alone for a while after it failed.

#: Seconds for which one that failed is not asked again: each search would wait for it in vain.
PAUSE = 30.0


class LazyReranker:
    """Opens the re-ranker of `spec` (see `open_reranker`) at the first question. Thread-safe."""

    def __init__(
        self,
        spec: str,
        *,
        opened: Callable[[str], Reranker | None] = open_reranker,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Loads nothing yet. Raises InvalidInput for a name that is none."""
        if read_reranker(spec) is None:
            raise ValueError("No re-ranker is named.")
        self.name = spec.strip()
        self._open, self._clock, self._lock = opened, clock, threading.Lock()
        self._reranker: Reranker | None = None
        self._failed: tuple[float, ModelError] | None = None

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """As the re-ranker does. For half a minute after a failure the same error again. Raises ModelError."""
        try:
            scores = self._ready().score(question, texts)
        except ModelError as problem:
            with self._lock:
                if self._failed is None:
                    self._failed = (self._clock() + PAUSE, problem)
            raise
        return scores

    def _ready(self) -> Reranker:
        with self._lock:
            if self._failed is not None:
                until, problem = self._failed
                if self._clock() < until:
                    raise type(problem)(problem.message, hint=problem.hint)
                self._failed = None
            if self._reranker is None:
                self._reranker = self._open(self.name)
            if self._reranker is None:
                raise ModelError(f"{self.name!r} is not a re-ranker.")
            return self._reranker
