"""Blocks in files: mapped and shared by every process that searches, made again whenever anything is wrong with them.

A file holds named arrays: a first line of JSON says their types, shapes and places, and carries a checksum of itself.
The arrays that positions are read from have a checksum as well, verified when the file is opened: a flipped bit in a
vector makes one cosine a little wrong, one in an offset would end every search. Nothing that is not also in a segment
or in the record is in these files; they may be removed at any time.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from recollect.index.block import BLOCK_ROWS, RowBlock, RowOrder, Shortened
from recollect.index.numeric import Moments, Statistics
from recollect.index.source import IndexState, SegmentMark
from recollect.index.terms import Spelling, Terms

_MAGIC = b"RcBk"
#: Raised when the arrays change, or what they mean.
LAYOUT = 3
_ALIGNED = 64
_UNVERIFIED = frozenset({"vectors", "shortened.rows"})  # the large ones


Arrays = Mapping[str, NDArray[Any]]


def write_arrays(path: Path, identity: str, arrays: Arrays, facts: Mapping[str, float]) -> bool:
    """Writes a file whole or not at all; whether it could. `facts` are numbers that stand beside the arrays."""
    entries: dict[str, list[Any]] = {}
    at = 0
    for name, array in arrays.items():
        checksum = None if name in _UNVERIFIED else _fold(array)
        entries[name] = [array.dtype.str, list(array.shape), at, checksum]
        at += -(-array.nbytes // _ALIGNED) * _ALIGNED
    line = json.dumps({"layout": LAYOUT, "identity": identity, "bytes": at, "facts": dict(facts), "arrays": entries})
    head = line.encode()
    start = _body(len(head))
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.part")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_MAGIC + len(head).to_bytes(4, "little") + zlib.crc32(head).to_bytes(4, "little") + head)
            for name, array in arrays.items():
                file.seek(start + entries[name][2])
                file.write(_bytes(array).data)
            file.truncate(start + at)
        temporary.replace(path)
    except OSError as error:  # a full or read-only disk: the index is in memory then
        _log("No index file at %s: %s", path, error)
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        return False
    return True


def map_arrays(path: Path, identity: str) -> tuple[dict[str, NDArray[Any]], dict[str, float]] | None:
    """The arrays of a file, mapped, and its facts; None where it is missing, damaged, or another one's."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # ValueError: it is empty
        return None
    try:
        return _read(mapped, identity)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        _log("The index file %s is made again: %s", path, error)
        return None


def _log(text: str, *values: object) -> None:
    import logging  # takes longer than mapping a file

    logging.getLogger(__name__).info(text, *values)


def _read(mapped: mmap.mmap, identity: str) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    length = int.from_bytes(mapped[4:8], "little")
    head = mapped[12 : 12 + length]
    if mapped[:4] != _MAGIC or zlib.crc32(head) != int.from_bytes(mapped[8:12], "little"):
        raise ValueError("its head is damaged")
    described = json.loads(head)
    if described["layout"] != LAYOUT or described["identity"] != identity:
        raise ValueError("it is of another index")
    start = _body(length)
    if len(mapped) != start + described["bytes"]:
        raise ValueError("it is cut off")
    arrays = {}
    for name, (kind, shape, at, checksum) in described["arrays"].items():
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(mapped, np.dtype(kind), count, start + at).reshape(shape)
        if checksum is not None and _fold(arrays[name]) != checksum:
            raise ValueError(f"{name} does not match its checksum")
    return arrays, described["facts"]


def _body(head: int) -> int:
    return -(-(12 + head) // _ALIGNED) * _ALIGNED


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _fold(array: NDArray[Any]) -> int:
    """A checksum as fast as memory is read: the sum of the words, which no single flipped bit leaves as it was."""
    flat = _bytes(array)
    whole = len(flat) // 8 * 8
    rest = int.from_bytes(flat[whole:].tobytes(), "little")
    return (int(flat[:whole].view(np.uint64).sum(dtype=np.uint64)) + rest) % (1 << 64)


def write_block(path: Path, identity: str, block: RowBlock) -> bool:
    """Writes a block; whether it could."""
    arrays = {name: getattr(block, name) for name in _COLUMNS}
    for group, names in _GROUPS.items():
        arrays |= {f"{group}.{name}": getattr(getattr(block, group), name) for name in names}
    statistics = block.statistics
    arrays |= {"total": statistics.moments.total, "squares": statistics.moments.squares}
    if shortened := Shortened.of(block.vectors, block.inverse_norm, statistics.moments):
        arrays |= {f"shortened.{name}": getattr(shortened, name) for name in _SHORTENED}
    facts = {name: getattr(statistics, name) for name in ("count", "length", "log", "log_squares")}
    return write_arrays(path, identity, arrays, facts)


def map_block(path: Path, identity: str) -> RowBlock | None:
    """A block out of a file; None where it must be made again."""
    found = map_arrays(path, identity)
    if found is None:
        return None
    arrays, facts = found
    count = int(facts["count"])
    statistics = Statistics(
        count, facts["length"], facts["log"], facts["log_squares"], Moments(count, arrays["total"], arrays["squares"])
    )
    of = {group: [arrays[f"{group}.{name}"] for name in names] for group, names in _GROUPS.items()}
    short = [arrays[place] for name in _SHORTENED if (place := f"shortened.{name}") in arrays]
    return RowBlock(
        **{name: arrays[name] for name in _COLUMNS},
        terms=Terms(*of["terms"]),
        by_message=RowOrder(*of["by_message"]),
        by_previous=RowOrder(*of["by_previous"]),
        by_session=RowOrder(*of["by_session"]),
        statistics=statistics,
        sorted_terms=Spelling(*of["spelling"]),
        shortened=Shortened(*short) if len(short) == len(_SHORTENED) else None,
        mapped=True,
    )


_COLUMNS = (
    "number", "message", "conversation", "previous", "session", "time", "length", "speaker", "flags", "kind", "first",
    "days", "day", "vectors", "inverse_norm",
)  # fmt: skip
_GROUPS = {
    "terms": ("hashes", "starts", "text_starts", "rows", "counts", "texts"),
    "by_message": ("keys", "rows"),
    "by_previous": ("keys", "rows"),
    "by_session": ("keys", "rows"),
    "spelling": ("by_text", "by_ending", "letters"),
}
_SHORTENED = ("rows", "axes", "centre")


# Which file holds which block of a partition, and which files are of no use any more.


@dataclass(frozen=True)
class BlockFile:
    """The file of a block, and what must be written in it."""

    path: Path
    identity: str


@dataclass(frozen=True)
class BlockFiles:
    """The files of one partition; without a directory there are none."""

    directory: Path | None
    store: str
    namespace: int
    partition: int

    def of(self, state: IndexState, marks: Sequence[SegmentMark]) -> BlockFile | None:
        """The file of the block of these segments."""
        sums = zlib.crc32(b"".join(mark.checksum.to_bytes(4, "little") for mark in marks))
        file = self.beside(state, marks[0].first, marks[-1].last, "block")
        return replace(file, identity=f"{file.identity} {sums}") if file else None

    def beside(self, state: IndexState, first: int, last: int, ending: str) -> BlockFile | None:
        """A file with more about a block, by its first and last passage."""
        if self.directory is None:
            return None
        name = "-".join(map(str, (self.namespace, self.partition, state.generation, state.epoch, first, last)))
        return BlockFile(self.directory / f"{name}.{ending}", f"{self.store} {name}")

    def block(self, state: IndexState, marks: Sequence[SegmentMark], make: Callable[[], RowBlock]) -> RowBlock:
        """The block of these segments: mapped, or else made, written and mapped; in memory where that fails."""
        file = self.of(state, marks)
        if file is None:
            return make()
        mapped = map_block(file.path, file.identity)
        if mapped is not None and mapped.size == sum(mark.count for mark in marks):
            return mapped
        made = make()
        if write_block(file.path, file.identity, made):
            return map_block(file.path, file.identity) or made
        return made

    def missing(self, state: IndexState, groups: Sequence[Sequence[SegmentMark]]) -> list[Sequence[SegmentMark]]:
        """The segments of blocks that may be in a file and are in none."""
        return [marks for marks in groups if (file := self.of(state, marks)) and not file.path.exists()]

    @staticmethod
    def remove(directory: Path | None, namespace: int) -> None:
        """Removes all files of a namespace. Those that are mapped stay readable to whoever has mapped them."""
        for path in _beginning(directory, f"{namespace}-"):
            path.unlink(missing_ok=True)

    def tidy(self, state: IndexState, wanted: Sequence[Sequence[SegmentMark]]) -> None:
        """Removes files of earlier states, and of blocks that have become part of larger ones."""
        names = {file.path.stem for marks in wanted if (file := self.of(state, marks)) is not None}
        for path, (generation, epoch) in self._all():
            ours = (generation, epoch) == (state.generation, state.epoch)
            if (generation, epoch) < (state.generation, state.epoch) or (ours and path.stem not in names):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _all(self) -> Iterator[tuple[Path, tuple[int, int]]]:
        for path in _beginning(self.directory, f"{self.namespace}-{self.partition}-"):
            numbers = path.name.split(".")[0].split("-")
            if len(numbers) == 6 and all(number.isdigit() for number in numbers):
                yield path, (int(numbers[2]), int(numbers[3]))


def _beginning(directory: Path | None, name: str) -> list[Path]:
    """The files of which the name begins so; without `glob`, which takes longer to get ready than a search takes."""
    try:
        return [path for path in directory.iterdir() if path.name.startswith(name)] if directory else []
    except (FileNotFoundError, NotADirectoryError):
        return []


def plan(marks: Sequence[SegmentMark], rows: int = BLOCK_ROWS) -> tuple[list[list[SegmentMark]], list[SegmentMark]]:
    """Which segments make a block, from the first on, and those that are left. It is the same whatever segments
    come behind them.
    """
    groups: list[list[SegmentMark]] = []
    open_group: list[SegmentMark] = []
    count = 0
    for mark in marks:
        if open_group and count + mark.count > rows:
            groups.append(open_group)
            open_group, count = [], 0
        open_group.append(mark)
        count += mark.count
        if count + max(rows // 32, 1) > rows:
            groups.append(open_group)
            open_group, count = [], 0
    return groups, open_group
