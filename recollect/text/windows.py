"""Runs of messages that overlap, so that what spans two of them is found in one [0]."""

from __future__ import annotations

from recollect.errors import InvalidInput

WINDOW_SIZE, WINDOW_OVERLAP = 10, 2


def window_spans(count: int, size: int = WINDOW_SIZE, overlap: int = WINDOW_OVERLAP) -> list[tuple[int, int]]:
    """The first and last index of each window over `count` messages, both included.

    Windows are `size` long and share `overlap` messages with the next; the one that reaches the end is the last.
    Raises InvalidInput where the overlap leaves no step forward.

    >>> window_spans(12)
    [(0, 9), (8, 11)]
    """
    if not 0 <= overlap < size:
        raise InvalidInput(f"Windows of {size} messages cannot overlap by {overlap}.", hint="Use a smaller overlap.")
    spans: list[tuple[int, int]] = []
    first = 0
    while first < count:
        last = min(first + size, count) - 1
        spans.append((first, last))
        if last == count - 1:
            break
        first += size - overlap
    return spans


def windows_around(at: int, count: int) -> list[tuple[int, tuple[int, int]]]:
    """The windows over `count` messages that hold the one at a place: index, and first and last index.

    >>> windows_around(8, 12)
    [(0, (0, 9)), (1, (8, 11))]
    >>> windows_around(8, 10)
    [(0, (0, 9))]
    """
    step = WINDOW_SIZE - WINDOW_OVERLAP
    last = max(0, -(-(count - WINDOW_SIZE) // step))
    indexes = range(max(0, -(-(at - WINDOW_SIZE + 1) // step)), min(at // step, last) + 1)
    return [(index, (index * step, min(index * step + WINDOW_SIZE, count) - 1)) for index in indexes]
