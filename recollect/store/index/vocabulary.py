"""The words of a partition: terms that are like a term, as compounds that it is a part of or neighbours in spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from recollect.store.index.block import Block
from recollect.store.index.snapshot import Snapshot
from recollect.store.index.spelling import holding
from recollect.store.index.terms import encoded, term_hash
from recollect.store.passages import Int
from recollect.text.terms import terms, words

_SHORTEST_PART = 4  # of a compound, in letters
_SHORTEST_TYPO = 4
_FREE_BEGINNING = 6  # letters from which a slip may be in the first of them: "yeast" is not meant to be "least"

_Hashes = NDArray[np.uint64]


class IndexVocabulary:
    """The terms that living passages of a snapshot hold."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def compounds(self, term: str, limit: int = 12) -> list[str]:
        """Terms that begin or end with this one, most frequent first; for a single character, all that hold it."""
        part = encoded(term)
        if len(term) == 1 and not term.isascii():
            found = self._texts(lambda block: holding(block.terms, part))
        elif len(term) >= _SHORTEST_PART:
            found = self._texts(lambda block: _around(block, part))
        else:
            return []
        found.pop(part, None)
        return [text.decode("utf-8", "surrogatepass") for text in self._most_frequent(found, limit)]

    def nearest(self, word: str) -> str | None:
        """The most frequent term within one edit (two for long words) of a word or of its stem; None: there is none."""
        if len(word) < _SHORTEST_TYPO or word.isdigit():
            return None
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        allowed = 1 if len(word) < 8 else 2
        near: dict[int, list[str]] = {}
        for typed in {word, *terms(word)}:
            # An edit changes two letters at most: one goes, another one comes; each may be several bytes.
            different = 2 * allowed * (1 if typed.isascii() else 4)
            known = self._texts(partial(_near, word=encoded(typed), different=different))
            listed = [text.decode("utf-8", "surrogatepass") for text in known]
            for term, distance, _ in process.extract(
                typed, listed, scorer=OSA.distance, score_cutoff=allowed, limit=None
            ):
                if distance and (len(typed) >= _FREE_BEGINNING or term[0] == typed[0]):
                    near.setdefault(int(distance), []).append(term)
        for _, found in sorted(near.items()):
            best = self._most_frequent({encoded(term): term_hash(term) for term in found}, 1)
            if best:
                return best[0].decode("utf-8", "surrogatepass")
        return None

    def _texts(self, places: Callable[[Block], Int]) -> dict[bytes, int]:
        """The texts of some terms of each block, each once, with their hashes."""
        found: dict[int, bytes] = {}
        for part in self._snapshot.parts:
            own = part.block.terms
            for place in places(part.block).tolist():
                key = int(own.hashes[place])
                if key not in found:
                    found[key] = own.text(place)
        return {text: key for key, text in found.items()}

    def _most_frequent(self, found: dict[bytes, int], limit: int) -> list[bytes]:
        """Those that most living passages hold, then by their texts; none that no living passage holds."""
        texts = list(found)
        hashes = np.array(list(found.values()), np.uint64)
        most = self._frequencies(hashes)
        order = sorted(range(len(texts)), key=lambda i: (-most[i], texts[i]))
        best: list[tuple[int, bytes]] = []
        for i in order:
            if len(best) == limit and most[i] < best[-1][0]:
                break  # the dead only make them fewer
            living = self._living(hashes[i : i + 1])
            if living:
                best = sorted([*best, (living, texts[i])], key=lambda of: (-of[0], of[1]))[:limit]
        return [text for _, text in best]

    def _frequencies(self, hashes: _Hashes) -> list[int]:
        """How many rows hold each term, dead ones included."""
        total = np.zeros(len(hashes), np.int64)
        for part in self._snapshot.parts:
            ranges = np.array(part.block.terms.find(hashes), np.int64).reshape(-1, 2)
            total += ranges[:, 1] - ranges[:, 0]
        return [int(count) for count in total]

    def _living(self, term: _Hashes) -> int:
        count = 0
        for part in self._snapshot.parts:
            start, end = part.block.terms.find(term)[0]
            rows = part.block.terms.rows[start:end]
            count += len(rows) if part.alive is None else int(np.count_nonzero(part.alive[rows]))
        return count


def _around(block: Block, part: bytes) -> Int:
    spelling = block.spelling
    return np.concatenate([spelling.beginning(block.terms, part), spelling.ending(block.terms, part)])


def _near(block: Block, word: bytes, different: int) -> Int:
    return block.spelling.near(word, different)


def spelled(term: str, texts: Iterable[str]) -> str:
    """A term as a text writes it: the word that it is the stem of."""
    return next((word for text in texts for word in words(text) if terms(word) == [term]), term)
