"""What every way of writing stands on: a space, and what makes passages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from recollect.ingest.passages import Passages
from recollect.models.embedding import Embedder
from recollect.record import utc_now
from recollect.store import Space
from recollect.text.sentences import USUAL, Chunking


class Writer(Passages):
    """Plans on a view of a space, and writes into it."""

    def __init__(
        self,
        space: Space,
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        clock: Callable[[], datetime] = utc_now,
        chunking: Chunking = USUAL,
    ) -> None:
        super().__init__(embedder, count_tokens, chunking)
        self._space, self._clock = space, clock
