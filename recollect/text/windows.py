"""Runs of messages that overlap, so that what spans two of them is found in one [0]."""

from __future__ import annotations

from recollect.errors import InvalidInput


def window_spans(count: int, size: int = 10, overlap: int = 2) -> list[tuple[int, int]]:
    """The first and last index of each window over `count` messages, both included.

    Windows are `size` long and share `overlap` messages with the next; the one that reaches the end is the last.
    Raises InvalidInput where the overlap leaves no step forward.

    >>> window_spans(12)
    [(0, 9), (8, 11)]
    """
    if not 0 <= overlap < size:
        raise InvalidInput(f"Windows of {size} messages cannot share {overlap}.", hint="Let them share fewer.")
    spans: list[tuple[int, int]] = []
    first = 0
    while first < count:
        last = min(first + size, count) - 1
        spans.append((first, last))
        if last == count - 1:
            break
        first += size - overlap
    return spans
