"""What every way of writing stands on: a space, and the patience to plan again what came too late."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from recollect.errors import StoreBusy
from recollect.ingest.passages import Passages
from recollect.models.embedding import Embedder
from recollect.record import utc_now
from recollect.store import Space, Stale
from recollect.text.sentences import USUAL, Chunking

_PATIENCE = 30.0  # seconds of planning anew before a writer gives up
_LONGEST_PAUSE = 0.004  # seconds: about as long as planning and writing a message takes

T = TypeVar("T")


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

    def _insisting(self, work: Callable[[], T], what: str) -> T:
        """Does it again where somebody else has written meanwhile.

        The pauses are random: two writers that plan equally long would else stay in step, and the one that is behind
        would always be late.
        """
        limit = time.monotonic() + _PATIENCE
        while True:
            try:
                return work()
            except Stale:
                if time.monotonic() > limit:
                    break
            time.sleep(random.uniform(0, _LONGEST_PAUSE))
        raise StoreBusy(f"{what} being changed by other processes all the time.", hint="Try again.")
