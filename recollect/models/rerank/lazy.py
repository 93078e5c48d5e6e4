"""A re-ranker by name, opened when it is first asked, and left alone for a while after it failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from recollect.errors import ModelError
from recollect.models.rerank.base import Reranker
from recollect.models.rerank.choose import open_reranker, read_reranker

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
