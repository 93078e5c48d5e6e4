"""What an engine gives to the index: the rows of one partition in one snapshot. All else is the same for every engine.

Passages have numbers that ascend in the order of writing, with gaps. They are written one by one (the tail) and sealed
into segments by `Space.maintain`, never in a user's write. A passage whose owner was edited or deleted dies: out of the
tail it is removed at once, in a segment it stays until the segment is written anew; each death is logged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from recollect.record import NodeId
from recollect.store.passages import Int


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
