"""Which file holds which block of a partition, and which files are of no use any more."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recollect.index.block import BLOCK_ROWS, Block
from recollect.index.files import map_block, write_block
from recollect.index.source import IndexState, SegmentMark


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

    def block(self, state: IndexState, marks: Sequence[SegmentMark], make: Callable[[], Block]) -> Block:
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
