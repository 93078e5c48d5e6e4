"""The end of a stream of events, which is what the call without a stream gives back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def end_of(events: Iterable[object], kind: type[T]) -> T:
    """The last event, which is of this kind."""
    *_, last = events
    assert isinstance(last, kind)
    return last
