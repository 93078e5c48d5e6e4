"""The memory by time: how much was said when, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.memory.handle import Handle

if TYPE_CHECKING:
    from recollect.memory.timeline import Day, Timeline


class Timelines(Handle):
    """The memory by time."""

    def timeline(self, topics: int = 12) -> Timeline:
        """How much was said on each day, and the largest topics by month. Its cost follows from the number of days and
        of the segments of those topics, not from what was said.
        """
        from recollect.memory.timeline import timeline

        with self._space.view() as view:
            return self._kept.of(view.stamp, ("timeline", topics), lambda: timeline(view, topics))

    def days(self, period: str) -> list[Day]:
        """The days of a time on which something was said, the newest first, each with its conversations.

        `period` is a time as in `get_period_messages`: 2024-01, 2024-01-13, "2024-01-01 to 2024-01-14". Raises
        InvalidInput.
        """
        from recollect.answer.tools.opening import span_of
        from recollect.memory.timeline import days

        since, until = span_of(period, self._clock().date())
        with self._space.view() as view:
            return days(view, since, until)
