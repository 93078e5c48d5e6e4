"""The terms of rows: which rows hold each, and how often.

Terms are sorted by a hash of 64 bits, so that they are found and merged as numbers, without reading their texts.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise

import numpy as np
from numpy.typing import NDArray

from recollect.store.passages import Bool, Int

#: Rows are numbered in 16 bits.
MOST_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Terms:
    """Which rows hold each of t terms, and how often: p postings, those of a term ascending by row."""

    hashes: NDArray[np.uint64]  # (t,) ascending
    starts: NDArray[np.uint32]  # (t + 1,) where each term's postings begin
    text_starts: NDArray[np.uint32]  # (t + 1,) where each term's text begins
    rows: NDArray[np.uint16]  # (p,)
    counts: NDArray[np.uint8]  # (p,) 255: as often or more
    texts: NDArray[np.uint8]  # UTF-8

    def find(self, hashes: NDArray[np.uint64]) -> list[tuple[int, int]]:
        """Where the postings of each of these terms begin and end; equal numbers where no row holds it."""
        at = np.searchsorted(self.hashes, hashes)
        known = at < len(self.hashes)
        known[known] = self.hashes[at[known]] == hashes[known]
        at = np.where(known, at, 0)
        starts = np.where(known, self.starts[at], 0)
        ends = np.where(known, self.starts[np.minimum(at + 1, len(self.starts) - 1)], 0)
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def text(self, term: int) -> bytes:
        """The text of a term by its place."""
        return self.texts[self.text_starts[term] : self.text_starts[term + 1]].tobytes()

    def all_texts(self) -> list[bytes]:
        """The texts of all terms."""
        texts, starts = self.texts.tobytes(), self.text_starts.tolist()
        return [texts[a:b] for a, b in pairwise(starts)]


def encoded(term: str) -> bytes:
    """A term as it is stored: a lone surrogate in a message shall not make it unfindable."""
    return term.encode("utf-8", "surrogatepass")


def term_hash(term: str) -> int:
    """The number by which a term is found: 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(encoded(term), digest_size=8).digest(), "little")


def term_hashes(terms: Iterable[str]) -> NDArray[np.uint64]:
    """The same for several."""
    return np.array([term_hash(term) for term in terms], np.uint64)


def index_terms(rows: Sequence[Mapping[str, int]]) -> Terms:
    """The terms of up to MOST_ROWS rows, each with its terms and how often it holds them."""
    seen: defaultdict[str, int] = defaultdict(count().__next__)  # terms by the order in which they come
    own = np.fromiter(map(seen.__getitem__, chain.from_iterable(rows)), np.int64)
    counts = np.fromiter(chain.from_iterable(row.values() for row in rows), np.int64, len(own))
    places = np.repeat(np.arange(len(rows), dtype=np.uint16), [len(row) for row in rows])
    texts, hashes = [encoded(term) for term in seen], term_hashes(seen)
    order = np.argsort(hashes)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    postings = np.argsort(rank[own], kind="stable")
    ordered = [texts[term] for term in order.tolist()]
    return Terms(
        hashes=hashes[order],
        starts=starts_of(np.bincount(own, minlength=len(order))[order]),
        text_starts=starts_of(np.array([len(text) for text in ordered], np.int64)),
        rows=places[postings],
        counts=np.minimum(counts[postings], 255).astype(np.uint8),
        texts=np.frombuffer(b"".join(ordered), np.uint8),
    )


def only(terms: Terms, keep: Bool) -> Terms:
    """The terms of some rows (n,) alone; a term that only others hold is gone with its text."""
    kept = keep[terms.rows]
    held = np.add.reduceat(kept, terms.starts[:-1], dtype=np.int64) if len(terms.hashes) else np.zeros(0, np.int64)
    left = np.flatnonzero(held)
    sizes = _sizes(terms.text_starts)[left]
    places = np.cumsum(keep) - 1
    return Terms(
        hashes=terms.hashes[left],
        starts=starts_of(held[left]),
        text_starts=starts_of(sizes),
        rows=places[terms.rows[kept]].astype(np.uint16),
        counts=terms.counts[kept],
        texts=terms.texts[ranges(terms.text_starts[left].astype(np.int64), sizes)],
    )


def joined(parts: Sequence[tuple[Terms, int]]) -> Terms:
    """The terms of several runs of rows, one after the other; each with how many rows it has."""
    if len(parts) == 1:
        return parts[0][0]
    hashes = np.concatenate([terms.hashes for terms, _ in parts])
    order = np.argsort(hashes, kind="stable")  # a term's postings follow each other as the runs do
    hashes = hashes[order]
    new = np.ones(len(hashes), bool)
    new[1:] = hashes[1:] != hashes[:-1]
    first = np.flatnonzero(new)

    sizes = np.concatenate([_sizes(terms.starts) for terms, _ in parts])[order]
    begins = _begins(terms.starts for terms, _ in parts)[order]
    text_sizes = np.concatenate([_sizes(terms.text_starts) for terms, _ in parts])[order][first]
    text_begins = _begins(terms.text_starts for terms, _ in parts)[order][first]

    before = np.cumsum([0, *(size for _, size in parts)])
    rows = np.concatenate([terms.rows + np.uint16(at) for (terms, _), at in zip(parts, before[:-1], strict=True)])
    postings = ranges(begins, sizes)
    return Terms(
        hashes=hashes[first],
        starts=starts_of(np.add.reduceat(sizes, first) if len(first) else sizes),
        text_starts=starts_of(text_sizes),
        rows=rows[postings],
        counts=np.concatenate([terms.counts for terms, _ in parts])[postings],
        texts=np.concatenate([terms.texts for terms, _ in parts])[ranges(text_begins, text_sizes)],
    )


def _sizes(starts: NDArray[np.uint32]) -> Int:
    return starts[1:].astype(np.int64) - starts[:-1]


def _begins(starts: Iterable[NDArray[np.uint32]]) -> Int:
    """Where each term's items begin when the arrays stand one after the other."""
    found, before = [], 0
    for own in starts:
        found.append(own[:-1].astype(np.int64) + before)
        before += int(own[-1])
    return np.concatenate(found)


def starts_of(sizes: Int) -> NDArray[np.uint32]:
    """Where each of some runs begins (n + 1,), by their sizes (n,)."""
    starts = np.zeros(len(sizes) + 1, np.uint32)
    np.cumsum(sizes, out=starts[1:])
    return starts


def ranges(begins: Int, sizes: Int) -> Int:
    """The numbers of several ranges, one after the other."""
    ends = np.cumsum(sizes)
    if not len(ends):
        return np.zeros(0, np.int64)
    return np.asarray(np.arange(ends[-1]) + np.repeat(begins - (ends - sizes), sizes), np.int64)


# The terms of a block by how they are spelled: sorted by their beginnings, by their endings, and by their letters.

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
