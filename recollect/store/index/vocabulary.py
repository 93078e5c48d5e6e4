"""The words of a partition: terms that are like a term, as compounds that it is a part of or neighbours in spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from recollect.store.index.block import Block
from recollect.store.index.snapshot import Snapshot
from recollect.store.index.spelling import holding
from recollect.store.index.terms import encoded, term_hash
from recollect.store.passages import Int, PassageText
from recollect.store.results import Near
from recollect.text.terms import terms, words

_SHORTEST_PART = 4  # of a compound, in letters
_SHORTEST_TYPO, _LONGEST_TYPO = 4, 40
_LOOKED_AT = 8  # passages of a stem, for the words that it stands for
_LONG = 8  # letters from which two edits are a slip
_FREE_BEGINNING = 6  # letters from which a slip may be in the first of them: "yeast" is not meant to be "least"

_Hashes = NDArray[np.uint64]


class IndexVocabulary:
    """The terms that living passages of a view hold: the part of `recollect.store.base.Vocabulary` that is the same
    for every engine.
    """

    def __init__(
        self,
        said: Callable[[], Snapshot],
        titles: Callable[[], Snapshot],
        passages: Callable[[Sequence[int]], list[PassageText]],
    ) -> None:
        self._said, self._titles, self._passages = said, titles, passages

    def compounds(self, term: str, limit: int = 12) -> list[str]:
        """Terms that begin or end with this one, most frequent first; for a single character, all that hold it."""
        part, known = encoded(term), _Known([self._said()])
        if len(term) == 1 and not term.isascii():
            found = known.texts(lambda block: holding(block.terms, part))
        elif len(term) >= _SHORTEST_PART:
            found = known.texts(lambda block: _around(block, part))
        else:
            return []
        found.pop(part, None)
        return [_decoded(text) for text, _ in known.most_frequent(found, limit)]

    def near(self, word: str, limit: int = 3) -> list[Near]:
        """Known words that are spelled nearly so, nearest first, then most frequent; the word itself where it is known.

        One edit away (two for long words), by the word or by its stem: a letter more, less or another, or two swapped.
        """
        if not _SHORTEST_TYPO <= len(word) <= _LONGEST_TYPO or word.isdigit():
            return []
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        known = _Known([self._said(), self._titles()])
        edits: dict[bytes, int] = {}
        for typed in {word, *(term for term in terms(word) if len(term) >= _SHORTEST_TYPO)}:
            allowed = 1 if len(typed) < _LONG else 2
            # An edit changes two letters at most: one goes, another one comes; each may be several bytes.
            different = 2 * allowed * (1 if typed.isascii() else 4)
            listed = [_decoded(text) for text in known.texts(partial(_near, word=encoded(typed), different=different))]
            for term, distance, _ in process.extract(
                typed, listed, scorer=OSA.distance, score_cutoff=allowed, limit=None
            ):
                if not distance or len(typed) >= _FREE_BEGINNING or term[0] == typed[0]:
                    edits[encoded(term)] = min(int(distance), edits.get(encoded(term), allowed))
        found = self._slips_in_endings(word, 1 if len(word) < _LONG else 2, limit)
        for distance in sorted(set(edits.values())):
            hashes = {text: term_hash(_decoded(text)) for text, own in edits.items() if own == distance}
            best = known.most_frequent(hashes, limit - len(found))
            found += [Near(self._as_written(_decoded(text)), distance, living) for text, living in best]
        return sorted(found, key=lambda near: (near.edits, -near.passages))[:limit]

    def _slips_in_endings(self, word: str, allowed: int, limit: int) -> list[Near]:
        """Words whose stem the word begins with, and which it misses by its ending: "meditaton", stem "medit"."""
        from rapidfuzz.distance import OSA

        found: list[Near] = []
        for stem in (word[:end] for end in range(_SHORTEST_TYPO, len(word))):
            for snapshot in (self._said(), self._titles()):
                numbers = snapshot.numbers(stem, _LOOKED_AT)
                spellings = {w for text in self._passages(numbers) for w in words(text.text) if terms(w) == [stem]}
                near = min(((OSA.distance(w, word), w) for w in spellings), default=None)
                if near and 0 < near[0] <= allowed and near[1] not in (own.word for own in found):
                    found.append(Near(near[1], near[0], len(numbers)))
        return sorted(found, key=lambda own: (own.edits, -own.passages))[:limit]

    def _as_written(self, term: str) -> str:
        """A term as a text writes it."""
        for snapshot in (self._said(), self._titles()):
            if numbers := snapshot.numbers(term, 1):
                return spelled(term, (text.text for text in self._passages(numbers)))
        return term


class _Known:
    """The terms of some partitions."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._parts = [part for snapshot in snapshots for part in snapshot.parts]

    def texts(self, places: Callable[[Block], Int]) -> dict[bytes, int]:
        """The texts of some terms of each block, each once, with their hashes."""
        found: dict[int, bytes] = {}
        for part in self._parts:
            own = part.block.terms
            for place in places(part.block).tolist():
                key = int(own.hashes[place])
                if key not in found:
                    found[key] = own.text(place)
        return {text: key for key, text in found.items()}

    def most_frequent(self, found: dict[bytes, int], limit: int) -> list[tuple[bytes, int]]:
        """Those that most living passages hold, then by their texts, with how many; none that none of them holds."""
        texts = list(found)
        hashes = np.array(list(found.values()), np.uint64)
        most = self._frequencies(hashes)
        order = sorted(range(len(texts)), key=lambda i: (-most[i], texts[i]))
        best: list[tuple[bytes, int]] = []
        for i in order:
            if len(best) == limit and (not limit or most[i] < best[-1][1]):
                break  # the dead only make them fewer
            living = self._living(hashes[i : i + 1])
            if living:
                best = sorted([*best, (texts[i], living)], key=lambda of: (-of[1], of[0]))[:limit]
        return best

    def _frequencies(self, hashes: _Hashes) -> list[int]:
        """How many rows hold each term, dead ones included."""
        total = np.zeros(len(hashes), np.int64)
        for part in self._parts:
            ranges = np.array(part.block.terms.find(hashes), np.int64).reshape(-1, 2)
            total += ranges[:, 1] - ranges[:, 0]
        return [int(count) for count in total]

    def _living(self, term: _Hashes) -> int:
        count = 0
        for part in self._parts:
            start, end = part.block.terms.find(term)[0]
            rows = part.block.terms.rows[start:end]
            count += len(rows) if part.alive is None else int(np.count_nonzero(part.alive[rows]))
        return count


def _around(block: Block, part: bytes) -> Int:
    spelling = block.spelling
    return np.concatenate([spelling.beginning(block.terms, part), spelling.ending(block.terms, part)])


def _near(block: Block, word: bytes, different: int) -> Int:
    return block.spelling.near(word, different)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def spelled(term: str, texts: Iterable[str]) -> str:
    """A term as a text writes it: the word that it is the stem of."""
    return next((word for text in texts for word in words(text) if terms(word) == [term]), term)
