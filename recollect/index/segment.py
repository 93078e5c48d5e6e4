"""A segment: a run of passages in one blob, with their columns, vectors, terms and which rows hold each term.

The layout, little-endian: a header (magic, layout version, checksum of all that follows, sizes), then the arrays one
after the other. Nothing else is in a segment: when a passage is taken out, nothing of it stays (`without`).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.index.columns import COLUMNS
from recollect.index.source import SegmentMark, TailRow
from recollect.index.terms import Terms, index_terms, only
from recollect.store.errors import IndexDamaged
from recollect.store.passages import Bool

_MAGIC = b"RcSg"
#: Raised when the arrays, or COLUMNS, change.
LAYOUT = 1
_HEADER = struct.Struct("<4sHHIIIIII")  # magic, layout, 0, checksum, rows, vector size, terms, postings, bytes of terms


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment as arrays, rows ascending by number."""

    columns: NDArray[np.void]  # (n,) COLUMNS
    vectors: NDArray[np.int8]  # (n, d)
    terms: Terms


def seal(rows: Sequence[TailRow]) -> tuple[SegmentMark, bytes]:
    """Makes a segment of rows, ascending by number, at least one and at most 65,536."""
    columns = np.frombuffer(b"".join(row.columns for row in rows), COLUMNS)
    vectors = np.frombuffer(b"".join(row.vector for row in rows), np.int8).reshape(len(rows), -1)
    return _pack(Segment(columns, vectors, index_terms([row.terms for row in rows])))


def without(data: bytes, numbers: Collection[int], where: str = "") -> tuple[SegmentMark, bytes] | None:
    """The segment without these passages, as if they had never been in it; None where no other is left."""
    segment = unseal(data, where)
    keep = ~np.isin(segment.columns["number"], np.fromiter(numbers, np.int64, len(numbers)))
    if not keep.any():
        return None
    return _pack(select(segment, keep))


def select(segment: Segment, keep: Bool) -> Segment:
    """Some rows (n,) of a segment alone."""
    return Segment(segment.columns[keep], segment.vectors[keep], only(segment.terms, keep))


def unseal(data: bytes, where: str = "", mark: SegmentMark | None = None) -> Segment:
    """Reads a segment. Raises IndexDamaged, with `where` it stands, for anything but what `seal` made, and where it is
    not the one that `mark` speaks of.
    """
    try:
        magic, layout, _, checksum, n, d, t, p, size = _HEADER.unpack_from(data)
    except struct.error:
        raise _damaged(where, "is cut off") from None
    if magic != _MAGIC:
        raise _damaged(where, "is none")
    if layout != LAYOUT:
        raise IndexDamaged(
            f"Segment {where} of the search index has layout {layout}, this version of recollect reads {LAYOUT}.",
            hint="Use the version that wrote it, or rebuild the search index: recollect reindex",
        )
    shapes: list[tuple[type[np.generic] | np.dtype[np.void], int]] = [
        (COLUMNS, n), (np.int8, n * d),
        (np.uint64, t), (np.uint32, t + 1), (np.uint32, t + 1), (np.uint16, p), (np.uint8, p), (np.uint8, size),
    ]  # fmt: skip
    if len(data) != _HEADER.size + sum(np.dtype(kind).itemsize * count for kind, count in shapes):
        raise _damaged(where, "is cut off")
    if zlib.crc32(memoryview(data)[_HEADER.size :]) != checksum:
        raise _damaged(where, "does not match its checksum")
    arrays, at = [], _HEADER.size
    for kind, count in shapes:
        arrays.append(np.frombuffer(data, kind, count, at))
        at += arrays[-1].nbytes
    columns, vectors, hashes, starts, text_starts, rows, counts, texts = arrays
    if mark is not None and mark != (int(columns["number"][0]), int(columns["number"][-1]), n, checksum):
        raise _damaged(where, "is another one than is listed")
    return Segment(columns, vectors.reshape(n, d), Terms(hashes, starts, text_starts, rows, counts, texts))


def _pack(segment: Segment) -> tuple[SegmentMark, bytes]:
    terms = segment.terms
    body = b"".join(
        [
            segment.columns.tobytes(), segment.vectors.tobytes(), terms.hashes.tobytes(), terms.starts.tobytes(),
            terms.text_starts.tobytes(), terms.rows.tobytes(), terms.counts.tobytes(), terms.texts.tobytes(),
        ]
    )  # fmt: skip
    checksum = zlib.crc32(body)
    n, d = segment.vectors.shape
    header = _HEADER.pack(_MAGIC, LAYOUT, 0, checksum, n, d, len(terms.hashes), len(terms.rows), len(terms.texts))
    numbers = segment.columns["number"]
    return SegmentMark(int(numbers[0]), int(numbers[-1]), n, checksum), header + body


def _damaged(where: str, what: str) -> IndexDamaged:
    return IndexDamaged(
        f"Segment {where} of the search index {what}.".replace("  ", " "), hint="Rebuild it: recollect reindex"
    )
