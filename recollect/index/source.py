"""What an engine gives to the index: the rows of one partition in one snapshot. All else is the same for every engine.

Passages have numbers that ascend in the order of writing, with gaps. They are written one by one (the tail) and sealed
into segments by `Space.maintain`, never in a user's write. A passage whose owner was edited or deleted dies: out of the
tail it is removed at once, in a segment it stays until the segment is written anew; each death is logged.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.index.terms import Terms, index_terms, only
from recollect.record import NodeId
from recollect.store.change import IndexDamaged
from recollect.store.passages import KINDS, Bool, Int, Owner, Passage


@dataclass(frozen=True, slots=True)
class IndexState:
    """Where a partition stands in a snapshot: equal states read equal rows.

    Another `generation` or `epoch` (rows were taken out of segments) voids what is loaded; else rows, deaths and
    quality vectors only come, each numbered in the order in which it was committed.
    """

    generation: int
    epoch: int
    last: int  # the highest number of a passage that was ever written, 0: none
    sealed: int  # the highest number in a segment, 0: none
    deaths: int  # the highest number in the log of deaths
    quality: int  # the highest number in the log of quality vectors


class SegmentMark(NamedTuple):
    """A segment without its data: numbers of its first and last passage, how many, and the checksum of the data."""

    first: int
    last: int
    count: int  # type: ignore[assignment]  # not the method of tuples
    checksum: int


class TailRow(NamedTuple):
    """A passage that is in no segment: number, its COLUMNS, its vector as int8, its terms with their counts."""

    number: int
    columns: bytes
    vector: bytes
    terms: Mapping[str, int]


class Source(Protocol):
    """The rows of one partition, in one snapshot of one namespace."""

    def state(self) -> IndexState:
        """Where it stands. A namespace that was never written has generation 0 and zeros."""
        ...

    def segments(self) -> list[SegmentMark]:
        """All segments, ascending."""
        ...

    def segment(self, first: int) -> bytes:
        """The data of the segment that begins with this number (see segment.py)."""
        ...

    def tail(self, after: int) -> Iterator[TailRow]:
        """The rows in no segment with higher numbers than this, ascending."""
        ...

    def deaths(self, after: int) -> Sequence[tuple[int, int]]:
        """(place in the log, number of the passage) of the deaths after a place in the log, ascending."""
        ...

    def quality(self, after: int, first: int = 0) -> Iterable[tuple[int, int, bytes]]:
        """(place in the log, number, int8 vector) of quality vectors of living passages after a place, ascending by
        place; with `first` only of passages from this number on (a process that starts has the others in files).
        """
        ...

    def runs(self, numbers: Sequence[int]) -> Sequence[tuple[int, bytes]]:
        """The vectors (n, d) of runs of sentences, int8, of those passages that have any, by number."""
        ...

    def pieces(self) -> tuple[int, bytes] | None:
        """How many passages have quality vectors, and in how many of them each word piece stands (uint32)."""
        ...

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        """The numbers of the conversations from these sources (empty: any) with these ids (None: any)."""
        ...

    def holding(self, phrase: tuple[str, ...]) -> Int:
        """The numbers of the living passages in which these words follow each other, ascending; none for no words."""
        ...

    def speaker(self, name: str) -> int:
        """The number of a person; -1 for a stranger."""
        ...


# What is kept of each passage for scoring, as one fixed record, and how it is made when a passage is written.

#: `previous` and `session` are numbers of messages, 0: none; `time` 0: unknown. The layout is stored: a change of it
#: needs a new layout version of segments (segment.py), and a new generation.
COLUMNS = np.dtype(
    [
        ("number", "<i8"),
        ("message", "<i8"),
        ("conversation", "<i8"),
        ("previous", "<i8"),
        ("session", "<i8"),
        ("time", "<i8"),
        ("length", "<u4"),
        ("speaker", "<u4"),
        ("flags", "<u4"),
        ("kind", "u1"),
        ("owner", "u1"),
        ("first", "u1"),  # 1: the passage that stands for its message to its neighbours
    ]
)

#: So many passages make a segment; at the end of an import fewer do too, from SETTLED_ROWS on.
SEGMENT_ROWS, SETTLED_ROWS = 2048, 256


def column_values(
    p: Passage,
    number: int,
    conversation: int,
    messages: Mapping[NodeId, int],
    session: int,
    speakers: Mapping[str, int],
) -> tuple[int, ...]:
    """The record of a passage, in the order of COLUMNS. `messages` and `speakers` give their numbers."""
    return (
        number,
        messages.get(p.message_id, 0) if p.message_id else 0,
        conversation,
        messages.get(p.previous_id, 0) if p.previous_id else 0,
        session,
        p.timestamp or 0,
        max(1, sum(p.terms.values())),
        speakers.get(p.speaker or "", 0),
        p.flags,
        KINDS.index(p.kind),
        p.owner,
        int(p.owner == Owner.MESSAGE and p.part < 0 and p.chunk == 0),
    )


# A segment: a run of passages in one blob, with their columns, vectors, terms and which rows hold each term.

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
