"""Word lists as data: in `NAME.txt` words follow under a [heading]; "_" is a blank within a word."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """The lists of a file by their headings, in its order.

    >>> word_lists("calendar")["months"][:2]
    ('january', 'february')
    """
    lists: dict[str, tuple[str, ...]] = {}
    for part in Path(__file__).with_name(f"{name}.txt").read_text("utf-8").split("\n[")[1:]:
        heading, _, words = part.partition("]")
        lists[heading] = tuple(word.replace("_", " ") for word in words.split())
    return lists
