"""When a task that failed is tried again, and when not: exponential backoff with full jitter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random

_MOST_DOUBLINGS = 30
_LONGEST_ASKED = 2 * 86400.0  # seconds: whoever asks for more cannot mean it


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The pause before the next attempt is random up to a bound that doubles with each one, so that workers which
    failed together do not come back together.
    """

    attempts: int = 10  # after so many a task is dead
    first: timedelta = timedelta(seconds=5)
    longest: timedelta = timedelta(hours=1)

    def pause(self, attempt: int, random: Random, retry_after: float | None = None) -> timedelta:
        """How long to wait after this attempt, the first being 1. `retry_after`: seconds that a server asked for, at
        the least.
        """
        doublings = min(max(attempt - 1, 0), _MOST_DOUBLINGS)
        bound = min(self.longest, self.first * 2**doublings)
        jitter = random.uniform(0, bound.total_seconds())
        if retry_after is None:
            return timedelta(seconds=jitter)
        asked = min(max(0.0, retry_after), _LONGEST_ASKED)
        return timedelta(seconds=asked + min(jitter, 1 + asked / 10))
