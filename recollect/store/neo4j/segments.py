"""A run of passages, sealed: columns and vectors side by side, and per term the rows that hold it, as a few blobs.

A process that searches loads these instead of thousands of nodes. The passages stay as they are: a segment can be made
from them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.store.passages import Float, Int
from recollect.store.resident import NO_POSTINGS, Postings


@dataclass(frozen=True, slots=True)
class SealedTerms:
    """The postings of one segment. `terms` are sorted lines, `offsets` say where each one's rows begin."""

    first: int
    terms: bytes
    offsets: NDArray[np.uint32]
    rows: NDArray[np.uint16]  # within the segment
    counts: NDArray[np.uint8]

    def postings(self, term: str) -> Postings:
        """The rows of the lane that hold a term, and how often."""
        at = self.terms.find(b"\n%b\n" % term.encode("utf-8", "surrogatepass"))
        if at < 0:
            return NO_POSTINGS
        line = self.terms.count(b"\n", 0, at)
        own = slice(int(self.offsets[line]), int(self.offsets[line + 1]))
        rows: Int = self.rows[own].astype(np.int64) + self.first
        counts: Float = self.counts[own].astype(np.float32)
        return rows, counts

    def frequencies(self) -> Mapping[str, int]:
        """In how many rows each term stands."""
        listed = self.terms.decode("utf-8", "surrogatepass").split("\n")[1:-1]
        return dict(zip(listed, np.diff(self.offsets).tolist(), strict=True))


def joined(counts: Mapping[str, int]) -> str:
    """Terms as they are indexed: joined by blanks, each as often as it stands."""
    return " ".join(" ".join([term] * count) for term, count in counts.items())


def counted(terms: str | None) -> dict[str, int]:
    """The inverse."""
    found: dict[str, int] = {}
    for term in (terms or "").split():
        found[term] = found.get(term, 0) + 1
    return found


def seal(space: int, lane: int, found: Sequence[Any]) -> dict[str, Any]:
    """The properties of a segment of these rows (row, columns, packed, terms), which follow each other."""
    first = found[0]["row"]
    rows: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for record in found:
        place = record["row"] - first
        for term, count in counted(record["terms"]).items():
            rows.setdefault(term, []).append(place)
            counts.setdefault(term, []).append(min(count, 255))
    terms = sorted(rows)
    return {
        "space": space,
        "lane": lane,
        "first": first,
        "last": found[-1]["row"],
        "columns": b"".join(record["columns"] for record in found),
        "vectors": b"".join(record["packed"] for record in found),
        "terms": "".join(f"\n{term}" for term in [*terms, ""]).encode("utf-8", "surrogatepass"),
        "offsets": np.cumsum([0, *(len(rows[term]) for term in terms)], dtype=np.uint32).tobytes(),
        "rows": np.array([place for term in terms for place in rows[term]], np.uint16).tobytes(),
        "counts": np.array([count for term in terms for count in counts[term]], np.uint8).tobytes(),
    }


def unseal(record: Any) -> SealedTerms:
    """The postings of a stored segment."""
    return SealedTerms(
        record["first"],
        record["terms"],
        np.frombuffer(record["offsets"], np.uint32),
        np.frombuffer(record["rows"], np.uint16),
        np.frombuffer(record["counts"], np.uint8),
    )
