"""Terms that are like a term: compounds that it is a part of, and neighbours in spelling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recollect.text.terms import terms, words

_SHORTEST_PART = 4  # of a compound, in letters
_SHORTEST_TYPO = 4


def compounds(frequencies: Mapping[str, int], term: str, limit: int) -> list[str]:
    """Terms that begin or end with this one, most frequent first; for a single character, all that hold it."""
    if len(term) == 1 and not term.isascii():
        found = [t for t in frequencies if term in t and t != term]
    elif len(term) >= _SHORTEST_PART:
        found = [t for t in frequencies if t != term and (t.startswith(term) or t.endswith(term))]
    else:
        return []
    return sorted(found, key=lambda t: (-frequencies[t], t))[:limit]


def nearest(frequencies: Mapping[str, int], word: str) -> str | None:
    """The most frequent term within one edit (two for long words) of a word or of its stem, None where there is none."""
    if len(word) < _SHORTEST_TYPO or word.isdigit():
        return None
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    allowed = 1 if len(word) < 8 else 2
    near = [
        (distance, -frequencies[term], term)
        for typed in {word, *terms(word)}
        for term, distance, _ in process.extract(
            typed, list(frequencies), scorer=DamerauLevenshtein.distance, score_cutoff=allowed, limit=20
        )
        if distance
    ]
    return min(near)[2] if near else None


def spelled(term: str, texts: Iterable[str]) -> str:
    """A term as a text writes it: the word that it is the stem of."""
    return next((word for text in texts for word in words(text) if terms(word) == [term]), term)
