"""Terms that are like a term: compounds that it is a part of, and neighbours in spelling."""

from __future__ import annotations

from collections.abc import Mapping

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


def nearest(frequencies: Mapping[str, int], term: str) -> str | None:
    """The most frequent term within one edit (two for long words), None where there is none."""
    if len(term) < _SHORTEST_TYPO or term.isdigit():
        return None
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    allowed = 1 if len(term) < 8 else 2
    near = process.extract(term, list(frequencies), scorer=DamerauLevenshtein.distance, score_cutoff=allowed, limit=20)
    best = min(((distance, -frequencies[t], t) for t, distance, _ in near if t != term), default=None)
    return best[2] if best else None
