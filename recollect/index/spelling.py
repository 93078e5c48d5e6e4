"""The terms of a block by how they are spelled: sorted by their beginnings, by their endings, and by their letters."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.index.terms import Terms
from recollect.store.passages import Int

_BEHIND = b"\xff"  # sorts behind every byte of UTF-8


@dataclass(frozen=True)
class Spelling:
    """Orders over t terms, which are known by their places in `Terms`."""

    by_text: NDArray[np.uint32]  # (t,) sorted by their texts
    by_ending: NDArray[np.uint32]  # (t,) sorted by their texts read backwards
    letters: NDArray[np.uint64]  # (t,) which bytes a text has, as bits

    @classmethod
    def of(cls, terms: Terms) -> Spelling:
        """Sorts the terms of a block: a tenth of a second for a full one."""
        texts = terms.all_texts()
        places = range(len(texts))
        return cls(
            np.array(sorted(places, key=texts.__getitem__), np.uint32),
            np.array(sorted(places, key=[text[::-1] for text in texts].__getitem__), np.uint32),
            np.bitwise_or.reduceat(_bits(terms.texts), terms.text_starts[:-1]) if texts else np.zeros(0, np.uint64),
        )

    def beginning(self, terms: Terms, part: bytes) -> Int:
        """The places of the terms that begin with this."""
        return _range(self.by_text, part, terms.text)

    def ending(self, terms: Terms, part: bytes) -> Int:
        """The places of the terms that end with this."""
        return _range(self.by_ending, part[::-1], lambda place: terms.text(place)[::-1])

    def near(self, word: bytes, different: int) -> Int:
        """The places of the terms that share all but so many of their letters with a word: all that can be near it."""
        own = np.bitwise_or.reduce(_bits(np.frombuffer(word, np.uint8)))
        return np.flatnonzero(np.bitwise_count(self.letters ^ own) <= different)

    def inside(self, word: bytes, different: int) -> Int:
        """The places of the terms that take all but so many letters from a word: all that it may begin with."""
        own = np.bitwise_or.reduce(_bits(np.frombuffer(word, np.uint8)))
        return np.flatnonzero(np.bitwise_count(self.letters & ~own) <= different)


def holding(terms: Terms, character: bytes) -> Int:
    """The places of the terms that hold a character."""
    at = np.array([found.start() for found in re.finditer(re.escape(character), terms.texts.tobytes())], np.int64)
    return np.unique(np.searchsorted(terms.text_starts, at, "right") - 1)


def _range(order: NDArray[np.uint32], part: bytes, text: Callable[[int], bytes]) -> Int:
    low = bisect_left(order, part, key=lambda place: text(int(place)))
    high = bisect_left(order, part + _BEHIND, low, key=lambda place: text(int(place)))
    return order[low:high].astype(np.int64)


def _bits(texts: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.left_shift(np.uint64(1), (texts & 63).astype(np.uint64))
