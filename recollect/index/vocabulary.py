"""The words of a partition: terms that are like a term, as compounds that it is a part of or neighbours in spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.index.block import RowBlock
from recollect.index.snapshot import Snapshot, distinct
from recollect.index.terms import Terms, encoded, holding, term_hash
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


class IndexVocabulary:
    """The terms that living passages of a view hold, and the days on which they were said.

    Its calls raise IndexDamaged.
    """

    def __init__(
        self,
        said: Callable[[], Snapshot],
        titles: Callable[[], Snapshot],
        passages: Callable[[Sequence[int]], list[PassageText]],
        compounds: dict[tuple[str, int], list[str]],
    ) -> None:
        """`compounds`: those found before in the same view; each kind of passage is ranked by them."""
        self._said, self._titles, self._passages, self._compounds = said, titles, passages, compounds

    def compounds(self, term: str, limit: int = 12) -> list[str]:
        """Terms that begin or end with this one, most frequent first; for a single character, all that hold it."""
        if (term, limit) not in self._compounds:
            self._compounds[term, limit] = self._found_compounds(term, limit)
        return self._compounds[term, limit]

    def _found_compounds(self, term: str, limit: int) -> list[str]:
        part, known = encoded(term), _Known([self._said()])
        if len(term) == 1 and not term.isascii():
            held = known.held(lambda block: holding(block.terms, part))
        elif len(term) >= _SHORTEST_PART:
            held = known.held(lambda block: _around(block, part))
        else:
            return []
        others = held.only(np.flatnonzero(held.hashes != term_hash(term)))
        return [_decoded(text) for text, _ in known.most_frequent(others, limit)]

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

        forms = {word, *(term for term in terms(word) if len(term) >= _SHORTEST_TYPO)}
        held = known.held(lambda block: np.concatenate([_near(block, typed) for typed in forms]))
        texts = held.texts()
        edits: dict[int, int] = {}
        for typed in forms:
            allowed = _allowed(typed)
            for term, distance, number in process.extract(
                typed, texts, scorer=OSA.distance, score_cutoff=allowed, limit=None
            ):
                if not distance or len(typed) >= _FREE_BEGINNING or term[0] == typed[0]:
                    edits[number] = min(int(distance), edits.get(number, allowed))
        found: list[Near] = []
        for distance in sorted(set(edits.values())):
            numbers = np.array([number for number, own in edits.items() if own == distance], np.int64)
            for text, living in known.most_frequent(held.only(numbers), limit - len(found)):
                # Stems may be near whose words are not: "mediator" is not meant to be "meditation".
                form = min(self._forms(_decoded(text)), key=partial(OSA.distance, word), default=_decoded(text))
                if OSA.distance(word, form) <= _allowed(word):
                    found.append(Near(form, distance, living))
        return found

    def _with_other_endings(self, known: _Known, word: str) -> list[Near]:
        """Words whose stem the word nearly begins with: a slip in an ending keeps it from its stem ("meditaton")."""
        from rapidfuzz.distance import OSA

        allowed = _allowed(word)
        held = known.held(partial(_inside, word=encoded(word), different=1 if word.isascii() else 4))
        stems = [
            number
            for number, term in enumerate(held.texts())
            if max(_SHORTEST_TYPO, len(word) - _LONGEST_ENDING) <= len(term) < len(word)
            and OSA.distance(word[: len(term)], term, score_cutoff=1) <= 1
        ]
        found: dict[str, Near] = {}
        for text, living in known.most_frequent(held.only(np.array(stems, np.int64)), _STEMS_LOOKED_AT):
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


@dataclass(frozen=True, slots=True)
class _Held:
    """Terms of some partitions, each once: t of them, with the number of rows that hold each, dead ones included."""

    hashes: _Hashes  # (t,)
    rows: Int  # (t,)
    blocks: Int  # (t,) of the block that tells its text
    places: Int  # (t,) and where there
    terms: Sequence[Terms]  # of each of the blocks

    def only(self, numbers: Int) -> _Held:
        own = (self.hashes[numbers], self.rows[numbers], self.blocks[numbers], self.places[numbers])
        return _Held(*own, self.terms)

    def text(self, number: int) -> bytes:
        block, place = int(self.blocks[number]), int(self.places[number])
        return self.terms[block].text(place)

    def texts(self) -> list[str]:
        return [_decoded(self.text(number)) for number in range(len(self.hashes))]


class _Known:
    """The terms of some partitions."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._parts = [part for snapshot in snapshots for part in snapshot.parts]

    def held(self, places: Callable[[RowBlock], Int]) -> _Held:
        """Terms that stand at some places of each block: the same term in all of them."""
        blocks = [part.block.terms for part in self._parts]
        chosen = [distinct(places(part.block)) for part in self._parts]
        both = list(zip(blocks, chosen, strict=True))
        hashes = [terms.hashes[at] for terms, at in both]
        rows = [terms.starts[at + 1].astype(np.int64) - terms.starts[at] for terms, at in both]
        known, first, which = np.unique(_joined(hashes, np.uint64), return_index=True, return_inverse=True)
        total = np.zeros(len(known), np.int64)
        np.add.at(total, which, _joined(rows, np.int64))
        of = np.repeat(np.arange(len(blocks)), [len(at) for at in chosen])
        return _Held(known, total, of[first], _joined(chosen, np.int64)[first], blocks)

    def most_frequent(self, held: _Held, limit: int) -> list[tuple[bytes, int]]:
        """Those that most living passages hold, then by their texts, with how many; none that none of them holds."""
        best: list[tuple[bytes, int]] = []
        for rows in distinct(held.rows)[::-1].tolist():
            if len(best) == limit and (not limit or rows < best[-1][1]):
                break  # the dead only make them fewer
            for number in np.flatnonzero(held.rows == rows).tolist():
                living = rows - self._dead(held.hashes[number : number + 1])
                best += [(held.text(number), living)] if living else []
            best = sorted(best, key=lambda of: (-of[1], of[0]))[:limit]
        return best

    def _dead(self, term: _Hashes) -> int:
        """How many rows that live no more hold it."""
        count = 0
        for part in self._parts:
            if part.alive is not None:
                start, end = part.block.terms.find(term)[0]
                count += int(np.count_nonzero(~part.alive[part.block.terms.rows[start:end]]))
        return count


def _joined(arrays: Sequence[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *arrays])


def _around(block: RowBlock, part: bytes) -> Int:
    spelling = block.spelling
    return np.concatenate([spelling.beginning(block.terms, part), spelling.ending(block.terms, part)])


def _allowed(word: str) -> int:
    return 1 if len(word) < _LONG else 2


def _inside(block: RowBlock, word: bytes, different: int) -> Int:
    return block.spelling.inside(word, different)


def _near(block: RowBlock, word: str) -> Int:
    # An edit changes two letters at most: one goes, another one comes; each may be several bytes.
    return block.spelling.near(encoded(word), 2 * _allowed(word) * (1 if word.isascii() else 4))


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def spellings(term: str, texts: Iterable[str]) -> Iterator[str]:
    """A term as texts write it: the words that it is the stem of, each once."""
    found = (word for text in texts for word in words(text) if terms(word) == [term])
    return iter(dict.fromkeys(found))
