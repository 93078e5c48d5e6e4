"""Writing what was planned on a view, planned again where somebody else has written meanwhile."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from recollect.errors import StoreBusy
from recollect.store.base import Space, View
from recollect.store.change import Change, Stale

_PATIENCE = 30.0  # seconds of planning anew before a writer gives up
_LONGEST_PAUSE = 0.004  # seconds: about as long as planning and writing a message takes

T = TypeVar("T")


def insist(
    work: Callable[[], T],
    what: str,
    *,
    sleep: Callable[[float], object] = time.sleep,
    uniform: Callable[[float, float], float] = random.uniform,
) -> T:
    """Does work that plans and writes, again where it raises Stale. Raises StoreBusy, in which `what` ("This is") is
    being changed by others.

    The pauses are random: two writers that plan equally long would else stay in step, and the one that is behind would
    always be late.
    """
    limit = time.monotonic() + _PATIENCE
    while True:
        try:
            return work()
        except Stale:
            if time.monotonic() > limit:
                break
        sleep(uniform(0, _LONGEST_PAUSE))
    raise StoreBusy(f"{what} being changed by other processes all the time.", hint="Try again.")


def update(space: Space, plan: Callable[[View], tuple[Change | None, T]], what: str) -> T:
    """Writes the change that a plan makes of a view, unless it is None; returns what it says beside. Raises StoreBusy,
    and what writing a change raises.
    """

    def once() -> T:
        with space.view() as view:
            change, found = plan(view)
        if change is not None:
            space.write(change)
        return found

    return insist(once, what)
