"""The words of a partition: terms that are like a term, as compounds that it is a part of or neighbours in spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
_LONG = 8  # letters from which two edits are a slip
_LONGEST_ENDING = 5
_STEMS_LOOKED_AT, _TEXTS_LOOKED_AT = 8, 4
_FREE_BEGINNING = 6  # letters from which a slip may be in the first of them: "yeast" is not meant to be "least"

_Hashes = NDArray[np.uint64]


class Vocabulary:
    """The terms that living passages of a view hold, and the days on which they were said.

    Its calls raise IndexDamaged.
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

    def days(self) -> dict[int, int]:
        """How many messages were said on each day since 1970."""
        return self._said().messages_by_day()

    def near(self, word: str, limit: int = 3) -> list[Near]:
        """Known words that are spelled nearly so, nearest first, then most frequent; the word itself where it is known.

        One edit away (two for long words), by the word or by its stem: a letter more, less or another, or two swapped.
        """
        if not _SHORTEST_TYPO <= len(word) <= _LONGEST_TYPO or word.isdigit():
            return []
        known = _Known([self._said(), self._titles()])
        found = self._near_terms(known, word, limit)
        return found or self._with_other_endings(known, word)[:limit]

    def _near_terms(self, known: _Known, word: str, limit: int) -> list[Near]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        edits: dict[bytes, int] = {}
        for typed in {word, *(term for term in terms(word) if len(term) >= _SHORTEST_TYPO)}:
            allowed = _allowed(typed)
            # An edit changes two letters at most: one goes, another one comes; each may be several bytes.
            different = 2 * allowed * (1 if typed.isascii() else 4)
            listed = [_decoded(text) for text in known.texts(partial(_near, word=encoded(typed), different=different))]
            for term, distance, _ in process.extract(
                typed, listed, scorer=OSA.distance, score_cutoff=allowed, limit=None
            ):
                if not distance or len(typed) >= _FREE_BEGINNING or term[0] == typed[0]:
                    edits[encoded(term)] = min(int(distance), edits.get(encoded(term), allowed))
        found: list[Near] = []
        for distance in sorted(set(edits.values())):
            hashes = {text: term_hash(_decoded(text)) for text, own in edits.items() if own == distance}
            for text, living in known.most_frequent(hashes, limit - len(found)):
                # Stems may be near whose words are not: "mediator" is not meant to be "meditation".
                form = min(self._forms(_decoded(text)), key=partial(OSA.distance, word), default=_decoded(text))
                if OSA.distance(word, form) <= _allowed(word):
                    found.append(Near(form, distance, living))
        return found

    def _with_other_endings(self, known: _Known, word: str) -> list[Near]:
        """Words whose stem the word nearly begins with: a slip in an ending keeps it from its stem ("meditaton")."""
        from rapidfuzz.distance import OSA

        allowed = _allowed(word)
        texts = known.texts(partial(_inside, word=encoded(word), different=1 if word.isascii() else 4))
        stems = {
            text: key
            for text, key in texts.items()
            if max(_SHORTEST_TYPO, len(word) - _LONGEST_ENDING) <= len(term := _decoded(text)) < len(word)
            and OSA.distance(word[: len(term)], term, score_cutoff=1) <= 1
        }
        found: dict[str, Near] = {}
        for text, living in known.most_frequent(stems, _STEMS_LOOKED_AT):
            for form in self._forms(_decoded(text)):
                distance = int(OSA.distance(word, form))
                if distance <= allowed:
                    found[form] = Near(form, distance, living)
        return sorted(found.values(), key=lambda near: (near.edits, -near.passages, near.word))

    def _forms(self, term: str) -> Iterator[str]:
        """The words of a few texts that have this stem."""
        for snapshot in (self._said(), self._titles()):
            texts = self._passages(snapshot.numbers(term, _TEXTS_LOOKED_AT))
            yield from spellings(term, (text.text for text in texts))


class _Known:
    """The terms of some partitions."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._parts = [part for snapshot in snapshots for part in snapshot.parts]

    def texts(self, places: Callable[[Block], Int]) -> dict[bytes, int]:
        """The texts of some terms of each block, each once, with their hashes."""
        found: dict[bytes, int] = {}
        seen = np.zeros(0, np.uint64)
        for part in self._parts:
            own = part.block.terms
            at = places(part.block)
            hashes, first = np.unique(own.hashes[at], return_index=True)
            new = ~np.isin(hashes, seen, assume_unique=True)
            seen = np.concatenate([seen, hashes[new]])
            found |= zip(map(own.text, at[first[new]].tolist()), hashes[new].tolist(), strict=True)
        return found

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
            total += part.block.terms.frequencies(hashes)
        return total.tolist()

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


def _allowed(word: str) -> int:
    return 1 if len(word) < _LONG else 2


def _inside(block: Block, word: bytes, different: int) -> Int:
    return block.spelling.inside(word, different)


def _near(block: Block, word: bytes, different: int) -> Int:
    return block.spelling.near(word, different)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def spellings(term: str, texts: Iterable[str]) -> Iterator[str]:
    """A term as texts write it: the words that it is the stem of, each once."""
    found = (word for text in texts for word in words(text) if terms(word) == [term])
    return iter(dict.fromkeys(found))
