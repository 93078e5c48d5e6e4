"""The quality vectors of a partition, run by run of rows: kept as int8, read from where one left off.

Their z-scores need the moments of all of them and the vectors of a few. Those of a full block are kept in a file beside
the block's own as soon as all its living passages have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from recollect.index.files import BlockFile, BlockFiles, map_arrays, write_arrays
from recollect.index.numeric import NO_MOMENTS, Moments, dots, unit
from recollect.index.snapshot import Snapshot, SnapshotPart, is_after
from recollect.index.source import Source
from recollect.store.change import IndexDamaged
from recollect.store.passages import Bool, Float, Int

_AT_ONCE = 4096  # vectors that are read, or summed, at once


@dataclass(frozen=True)
class Run:
    """Rows that follow each other. `vectors` may have room for more; only those that are `there` are ever read."""

    vectors: NDArray[np.int8]  # (n or more, d)
    there: Bool  # (n,) the living rows that have one
    moments: Moments  # of these, as unit vectors
    mapped: bool = False

    def only(self, alive: Bool) -> Run:
        """The same when of its rows (n,) only these live."""
        lost = np.flatnonzero(self.there & ~alive)
        moments = self.moments
        for at in range(0, len(lost), _AT_ONCE):
            moments -= Moments.of(unit(self.vectors[lost[at : at + _AT_ONCE]]))
        return replace(self, there=self.there & alive, moments=moments) if len(lost) else self


@dataclass(frozen=True)
class Quality:
    """The quality vectors of a snapshot: a run for each of its full blocks, and one for all rows behind them."""

    snapshot: Snapshot
    runs: tuple[Run, ...]

    @cached_property
    def moments(self) -> Moments:
        """Of all unit vectors."""
        return sum((run.moments for run in self.runs), NO_MOMENTS)

    def z(self, at: Int, vector: Float) -> Float:
        """The cosines of rows, by ascending positions, in standard deviations from the mean; 0 for rows without one."""
        mean, deviation = self.moments.spread(vector)
        found = np.zeros(len(at), np.float32)
        for begin, run in zip(_begins(self.snapshot), self.runs, strict=True):
            low, high = np.searchsorted(at, [begin, begin + len(run.there)])
            rows = at[low:high] - begin
            known = np.flatnonzero(run.there[rows])
            for some in (known[i : i + _AT_ONCE] for i in range(0, len(known), _AT_ONCE)):
                cosines = dots(unit(run.vectors[rows[some]]), vector)
                found[low + some] = (cosines - np.float32(mean)) / np.float32(deviation + 1e-6)
        return found


class QualityCache:
    """The quality vectors of snapshots whose positions mean the same rows. Thread-safe."""

    def __init__(self, files: BlockFiles) -> None:
        self._files = files
        self._newest: Quality | None = None
        self._aside: Quality | None = None  # of an older view
        self._lock = Lock()

    def of(self, snapshot: Snapshot, source: Source) -> Quality | None:
        """Those of a snapshot, read from a source of the same state; None without any."""
        if not snapshot.state.quality:
            return None
        with self._lock:
            return self._read(snapshot, source)

    def _read(self, snapshot: Snapshot, source: Source) -> Quality | None:
        newest = self._newest
        if newest is None:
            found = self._newest = _load(snapshot, source, self._files)
        elif newest.snapshot.state == snapshot.state:
            found = newest
        elif is_after(snapshot.state, newest.snapshot.state):
            found = self._newest = _advance(newest, snapshot, source, self._files)
        elif self._aside is not None and self._aside.snapshot is snapshot:
            found = self._aside
        else:
            found = self._aside = _load(snapshot, source, self._files)
        return found if found.moments.count else None


def _load(snapshot: Snapshot, source: Source, files: BlockFiles) -> Quality:
    """Reads all of them."""
    runs = [_mapped(snapshot, part, _file(files, snapshot, part)) for part in snapshot.parts[: snapshot.full]]
    first = next((p.block.number[0] for p, run in zip(snapshot.parts, runs, strict=False) if run is None), None)
    if first is None and snapshot.full < len(snapshot.parts):
        first = snapshot.parts[snapshot.full].block.number[0]
    sizes = [part.block.size for part in snapshot.parts[: snapshot.full]]
    sizes.append(snapshot.size - sum(sizes))
    empty = [Run(np.zeros((0, 0), np.int8), np.zeros(size, bool), NO_MOMENTS) for size in sizes]
    start = Quality(snapshot, tuple(run or empty[i] for i, run in enumerate([*runs, None])))
    if first is None:
        return start
    read = _with_rows(start, source.quality(0, int(first)))
    return _kept(read, files)


def _advance(known: Quality, snapshot: Snapshot, source: Source, files: BlockFiles) -> Quality:
    """Brings them from an earlier snapshot of the same lineage to a later one."""
    runs = list(known.runs)
    behind = runs[-1]
    more = snapshot.size - sum(len(run.there) for run in runs)
    if more:
        runs[-1] = replace(behind, there=np.concatenate([behind.there, np.zeros(more, bool)]))
    alive = _alive(snapshot)
    for place, (run, begin) in enumerate(zip(runs, _begins(snapshot), strict=True)):
        if alive is not None:
            runs[place] = run.only(alive[begin : begin + len(run.there)])
    moved = Quality(snapshot, tuple(runs))
    if snapshot.state.quality == known.snapshot.state.quality:
        return moved
    return _kept(_with_rows(moved, source.quality(known.snapshot.state.quality)), files)


def _with_rows(quality: Quality, found: Iterable[tuple[int, int, bytes]]) -> Quality:
    """With more vectors, in any order."""
    runs, begins = list(quality.runs), _begins(quality.snapshot)
    alive = _alive(quality.snapshot)
    vectors = [run.vectors for run in runs]
    there = [run.there if run.mapped else run.there.copy() for run in runs]
    moments = [run.moments for run in runs]
    for numbers, packed in _batches(found, quality.snapshot.state.quality):
        at = quality.snapshot.positions_of(numbers)
        packed = packed[np.isin(numbers, quality.snapshot.gather(at, "number")[0])]
        living = np.ones(len(at), bool) if alive is None else alive[at]
        at, packed = at[living], packed[living]
        for place, begin in enumerate(begins):
            low, high = np.searchsorted(at, [begin, begin + len(runs[place].there)])
            rows, own = at[low:high] - begin, packed[low:high]
            new = ~there[place][rows] & (not runs[place].mapped)
            rows, own = rows[new], own[new]
            if not len(rows):
                continue
            vectors[place] = _with_room(vectors[place], len(there[place]), own.shape[1], begin != begins[-1])
            vectors[place][rows] = own
            there[place][rows] = True
            moments[place] += Moments.of(unit(own))
    made = [
        run if run.mapped else Run(*of) for run, of in zip(runs, zip(vectors, there, moments, strict=True), strict=True)
    ]
    return replace(quality, runs=tuple(made))


def _batches(found: Iterable[tuple[int, int, bytes]], until: int) -> Iterator[tuple[Int, NDArray[np.int8]]]:
    """Numbers, ascending, and vectors, some thousand at a time."""
    rows = iter(found)
    while some := list(islice(rows, _AT_ONCE)):
        new = sorted((number, vector) for place, number, vector in some if place <= until)
        if len({len(vector) for _, vector in new}) > 1:
            raise IndexDamaged("Quality vectors differ in size.", hint="Rebuild them: recollect embed")
        if new:
            packed = np.frombuffer(b"".join(vector for _, vector in new), np.int8).reshape(len(new), -1)
            yield np.array([number for number, _ in new], np.int64), packed


def _with_room(vectors: NDArray[np.int8], rows: int, size: int, full: bool) -> NDArray[np.int8]:
    """The same with room for so many rows: rows that nobody reads yet may be written in an array that is lent out."""
    if len(vectors) >= rows:
        return vectors
    grown = np.zeros((rows if full else rows + rows // 2, size), np.int8)
    if len(vectors):
        grown[: len(vectors)] = vectors
    return grown


def _begins(snapshot: Snapshot) -> list[int]:
    """Where each run begins."""
    begins = [part.offset for part in snapshot.parts[: snapshot.full]]
    return [*begins, int(snapshot.offsets[snapshot.full])]


def _alive(snapshot: Snapshot) -> Bool | None:
    if all(part.alive is None for part in snapshot.parts):
        return None
    return np.concatenate([np.ones(p.block.size, bool) if p.alive is None else p.alive for p in snapshot.parts])


# --- files -----------------------------------------------------------------------------------------------------------
def _file(files: BlockFiles, snapshot: Snapshot, part: SnapshotPart) -> BlockFile | None:
    block = part.block
    return (
        files.beside(snapshot.state, int(block.number[0]), int(block.number[-1]), "quality") if block.mapped else None
    )


def _mapped(snapshot: Snapshot, part: SnapshotPart, file: BlockFile | None) -> Run | None:
    found = map_arrays(file.path, file.identity) if file else None
    if found is None:
        return None
    arrays, facts = found
    if facts["quality"] > snapshot.state.quality or facts["deaths"] > snapshot.state.deaths:
        return None  # written by somebody who has seen more than this snapshot
    there = arrays["there"]
    run = Run(arrays["vectors"], there, Moments(int(facts["count"]), arrays["total"], arrays["squares"]), mapped=True)
    return run if part.alive is None else run.only(part.alive)


def _kept(quality: Quality, files: BlockFiles) -> Quality:
    """With the runs of full blocks in files whose living rows all have a vector."""
    state, runs = quality.snapshot.state, list(quality.runs)
    for place, part in enumerate(quality.snapshot.parts[: quality.snapshot.full]):
        run, file = runs[place], _file(files, quality.snapshot, part)
        if run.mapped or file is None or run.moments.count < part.living:
            continue
        arrays = {
            "vectors": run.vectors, "there": run.there, "total": run.moments.total, "squares": run.moments.squares,
        }  # fmt: skip
        facts = {"count": run.moments.count, "quality": state.quality, "deaths": state.deaths}
        if write_arrays(file.path, file.identity, arrays, facts):
            runs[place] = _mapped(quality.snapshot, part, file) or run
    return replace(quality, runs=tuple(runs))
