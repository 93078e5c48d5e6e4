"""One partition kept up to date: what is loaded is brought forward by what was written since, and lent out.

What is kept is as new as the newest state that anybody read. A reader with an older view gets a snapshot of its own
and leaves the rest as it is: nothing that was read in an old view is ever kept for a new one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from threading import Lock

import numpy as np

from recollect.errors import StoreBusy
from recollect.index.block import BLOCK_ROWS, RowBlock, build, merged
from recollect.index.files import BlockFiles, plan
from recollect.index.numeric import NOTHING
from recollect.index.quality import QualityCache
from recollect.index.snapshot import (
    Deaths,
    Joined,
    Snapshot,
    SnapshotPart,
    distinct,
    is_after,
    order_of,
    place_blocks,
    without_rows,
)
from recollect.index.source import (
    COLUMNS,
    SEGMENT_ROWS,
    IndexState,
    Segment,
    SegmentMark,
    Source,
    TailRow,
    select,
    unseal,
)
from recollect.index.terms import index_terms
from recollect.store.change import IndexDamaged

#: What is left of full blocks goes into blocks of an eighth, and what is left of these into blocks of a segment: a
#: process that starts has little to build.
_SMALLER, _SMALLEST = 8, 32
_ATTEMPTS = 5


class Corpus:
    """What is loaded of one partition. Thread-safe; whoever finds it up to date waits for nobody."""

    def __init__(self, files: BlockFiles, rows: int = BLOCK_ROWS) -> None:
        self.files = files
        self._rows, self._smaller, self._smallest = rows, rows // _SMALLER, rows // _SMALLEST
        self._newest: Snapshot | None = None
        self._lock = Lock()

    @property
    def memory_rows(self) -> int:
        """How many rows are in memory, not in mapped files."""
        parts = self._newest.parts if self._newest else ()
        return sum(part.block.size for part in parts if not part.block.mapped)

    def snapshot(self, source: Source) -> Snapshot:
        """The partition as the source sees it. Raises IndexDamaged, StoreBusy."""
        newest, state = self._newest, source.state()
        if newest is not None and newest.state == state:
            return newest
        with self._lock:
            for _ in range(_ATTEMPTS):
                found: Snapshot | IndexDamaged
                try:
                    found = self._read(source, state)
                except IndexDamaged as problem:
                    found = problem
                # An engine whose statements see later commits may have moved rows into a segment while we read both, or
                # have written a segment anew between its mark and its data, which is no damage.
                again = source.state()
                if (again.generation, again.epoch, again.sealed) == (state.generation, state.epoch, state.sealed):
                    break
                state = again
            else:
                raise StoreBusy("The search index changes faster than it can be read.", hint="Try again.")
            if isinstance(found, IndexDamaged):
                raise found
            if self._newest is None or order_of(self._newest.state) < order_of(state):
                self._newest = found
            return found

    def prepare(self, source: Source) -> bool:
        """Makes one file that is missing, so that no search has to; whether there may be more to make."""
        state = source.state()
        groups, _, _ = self._plan(source)
        missing = self.files.missing(state, groups)
        if missing:
            self._block(source, state, missing[0])
        self.files.tidy(state, groups)
        return len(missing) > 1

    def _read(self, source: Source, state: IndexState) -> Snapshot:
        newest = self._newest
        if newest is None or (state.generation, state.epoch) != (newest.state.generation, newest.state.epoch):
            return self._load(source, state)
        if state == newest.state:
            return newest
        if is_after(state, newest.state):
            return self._advance(newest, source, state)
        return _as_of(newest, state) or self._load(source, state)

    # --- from the beginning ----------------------------------------------------------------------------------------
    def _load(self, source: Source, state: IndexState) -> Snapshot:
        newest = self._newest
        groups, full, rest = self._plan(source)
        missing = self.files.missing(state, groups)
        known = {}
        if newest is not None and (newest.state.generation, newest.state.epoch) == (state.generation, state.epoch):
            known = {_ends(part.block): part.block for part in newest.parts}
        blocks = [known.get((marks[0].first, marks[-1].last)) or self._block(source, state, marks) for marks in groups]
        blocks += self._blocks(_rows_after(source, state, rest, 0))
        for before, after in pairwise(blocks):
            if before.number[-1] >= after.number[0]:
                raise IndexDamaged(
                    f"Passages {before.number[-1]} and {after.number[0]} of the search index are out of order.",
                    hint="Rebuild it: recollect reindex",
                )
        # Who finds all files that it wants leaves the rest to who made them: the folder is that of all namespaces.
        if missing and (newest is None or order_of(newest.state) < order_of(state)):
            self.files.tidy(state, groups)
        deaths = Deaths().with_more(_deaths(source, state, 0))
        parts, gone = without_rows(place_blocks(blocks), deaths.numbers)
        statistics = sum((block.statistics for block in blocks), NOTHING) - gone
        joined = Joined([part for place, part in enumerate(parts) if place < full or part.block.mapped])
        return Snapshot(state, tuple(parts), full, statistics, deaths, joined, QualityCache(self.files))

    def _plan(self, source: Source) -> tuple[list[list[SegmentMark]], int, list[SegmentMark]]:
        """The segments of each block that may be in a file, how many of these blocks are full, and what is left."""
        full, rest = plan(source.segments(), self._rows)
        smaller, rest = plan(rest, self._smaller)
        smallest, rest = plan(rest, self._smallest)
        return [*full, *smaller, *smallest], len(full), rest

    def _block(self, source: Source, state: IndexState, marks: Sequence[SegmentMark]) -> RowBlock:
        return self.files.block(state, marks, lambda: build([_segment(source, mark) for mark in marks]))

    def _blocks(self, segments: Iterable[Segment]) -> list[RowBlock]:
        """Segments as blocks, as few as there may be."""
        blocks, gathered, count = [], list[Segment](), 0
        for segment in segments:
            if gathered and count + len(segment.columns) > self._rows:
                blocks.append(build(gathered))
                gathered, count = [], 0
            gathered.append(segment)
            count += len(segment.columns)
        return [*blocks, build(gathered)] if gathered else blocks

    # --- from a state to a later one -------------------------------------------------------------------------------
    def _advance(self, newest: Snapshot, source: Source, state: IndexState) -> Snapshot:
        parts, statistics = list(newest.parts), newest.statistics
        if state.last > newest.state.last:
            marks = source.segments() if state.sealed > newest.state.last else []
            if len(plan(marks, self._rows)[0]) > newest.full:
                return self._load(source, state)  # what was in memory has become a full block
            added = self._blocks(_rows_after(source, state, marks, newest.state.last))
            parts += place_blocks(added, newest.size)
            statistics = sum((block.statistics for block in added), statistics)
            parts = _settled(parts, newest.full, self._smaller)
        found = _deaths(source, state, newest.state.deaths)
        if found:
            parts, gone = without_rows(parts, np.array([number for _, number in found], np.int64))
            statistics -= gone
        return Snapshot(
            state,
            tuple(parts),
            newest.full,
            statistics,
            newest.deaths.with_more(found),
            newest.joined,
            newest.qualities,
        )


def _as_of(newest: Snapshot, state: IndexState) -> Snapshot | None:
    """An earlier state out of a later one; None where rows of it are here no longer."""
    if not is_after(newest.state, state):
        return None
    deaths = newest.deaths
    later = deaths.places > state.deaths
    revived = distinct(deaths.numbers[later & (deaths.numbers <= state.last)])
    if len(newest.positions_of(revived)) < len(revived):
        return None  # they died in the tail before we read it
    blocks = [part.block for part in newest.parts]
    known = Deaths(deaths.numbers[~later], deaths.places[~later])
    unborn = [block.number[block.number > state.last] for block in blocks]
    parts, gone = without_rows(place_blocks(blocks), np.concatenate([known.numbers, *unborn]))
    statistics = sum((block.statistics for block in blocks), NOTHING) - gone
    return Snapshot(state, tuple(parts), newest.full, statistics, known, newest.joined, newest.qualities)


def _settled(parts: list[SnapshotPart], full: int, most: int) -> list[SnapshotPart]:
    """The same rows with the small blocks at the end merged, so that there are few and each row is seldom moved."""
    last, count = len(parts) - 1, parts[-1].block.size if parts else 0
    while last > full and not parts[last - 1].block.mapped:
        size = parts[last - 1].block.size
        if size >= 2 * count or size + count > most:
            break
        last, count = last - 1, count + size
    small = parts[last:]
    if len(small) < 2:
        return parts
    alive = None
    if any(part.alive is not None for part in small):
        alive = np.concatenate([np.ones(p.block.size, bool) if p.alive is None else p.alive for p in small])
    return [*parts[:last], SnapshotPart(merged([part.block for part in small]), small[0].offset, alive)]


def _ends(block: RowBlock) -> tuple[int, int]:
    return int(block.number[0]), int(block.number[-1])


# --- reading a source ------------------------------------------------------------------------------------------------
def _deaths(source: Source, state: IndexState, after: int) -> list[tuple[int, int]]:
    return [death for death in source.deaths(after) if death[0] <= state.deaths] if state.deaths > after else []


def _rows_after(source: Source, state: IndexState, marks: Sequence[SegmentMark], after: int) -> Iterator[Segment]:
    """The rows of these segments and of the tail with higher numbers than one, as segments."""
    for mark in marks:
        if mark.last > after:
            segment = _segment(source, mark)
            yield segment if mark.first > after else select(segment, segment.columns["number"] > after)
    rows = (row for row in source.tail(after) if row.number <= state.last)
    while some := list(islice(rows, SEGMENT_ROWS)):
        yield _tail_segment(some)


def _segment(source: Source, mark: SegmentMark) -> Segment:
    return unseal(source.segment(mark.first), f"of passages {mark.first} to {mark.last}", mark)


def _tail_segment(rows: Sequence[TailRow]) -> Segment:
    columns, vectors = b"".join(row.columns for row in rows), b"".join(row.vector for row in rows)
    if len(columns) != len(rows) * COLUMNS.itemsize or len({len(row.vector) for row in rows}) > 1:
        raise IndexDamaged(
            f"Passages {rows[0].number} to {rows[-1].number} of the search index have the wrong layout.",
            hint="Rebuild it: recollect reindex",
        )
    return Segment(
        np.frombuffer(columns, COLUMNS),
        np.frombuffer(vectors, np.int8).reshape(len(rows), -1),
        index_terms([row.terms for row in rows]),
    )


# What a store keeps in memory for search: the namespaces that were searched last.

#: Rows in memory over all partitions, some 0.6 KB each; those in mapped files do not count.
MOST_ROWS = 1_000_000
#: Namespaces with anything in memory: each partition takes half a megabyte for the sums of its vectors, however few.
MOST_NAMESPACES = 48


@dataclass(slots=True)
class _Loaded:
    """What is loaded of a namespace, by partition; `rows` of it were in memory when they were last counted."""

    corpora: dict[int, Corpus] = field(default_factory=dict)
    rows: int = 0


class IndexCache:
    """The partitions that a store has loaded. Thread-safe; namespaces do not wait for each other.

    An engine has one for each open store. `directory` is where full blocks are kept in files (it is made when it is
    needed; None: all is in memory), `store` tells this store from any other that may have stood at the same place.
    A view asks for the snapshot of a partition once and keeps it as long as it lives, so that it stays still:

        snapshot = cache.snapshot(namespace_number, partition, source)
        features = candidates(snapshot, source, query)      # recollect.index.candidates
        vocabulary = IndexVocabulary(said, titles, passages, {})  # recollect.index.vocabulary

    `maintain` calls `prepare` when it has sealed or compacted, in a view of its own, until that says that nothing is
    left to make. Erasing calls `forget` after its commit: what was erased is then in no file and no snapshot to come.
    """

    def __init__(
        self,
        directory: Path | None,
        store: str,
        *,
        most: int = MOST_ROWS,
        namespaces: int = MOST_NAMESPACES,
        rows: int = BLOCK_ROWS,
    ) -> None:
        self._directory, self._store, self._block_rows = directory, store, rows
        self._most, self._most_namespaces = most, namespaces
        self._loaded: OrderedDict[int, _Loaded] = OrderedDict()
        self._rows = 0  # of all that is loaded
        self._lock = Lock()

    def snapshot(self, namespace: int, partition: int, source: Source) -> Snapshot:
        """A partition as the source sees it. Namespaces go by a number that no other one ever gets.

        Raises IndexDamaged, StoreBusy.
        """
        loaded, corpus = self._corpus(namespace, partition)
        found = corpus.snapshot(source)
        with self._lock:
            if self._loaded.get(namespace) is loaded:
                self._count(loaded, sum(own.memory_rows for own in loaded.corpora.values()))
            self._evict(namespace)
        return found

    def prepare(self, namespace: int, partition: int, source: Source) -> bool:
        """Makes one index file that is missing, and removes those that are of no use; whether there is more to do."""
        return self._directory is not None and self._corpus(namespace, partition)[1].prepare(source)

    def forget(self, namespace: int) -> None:
        """Gives up what is loaded of a namespace and removes its files. Snapshots that are lent out stay."""
        with self._lock:
            self._give_up(namespace)
        BlockFiles.remove(self._directory, namespace)

    def clear(self) -> None:
        """Gives up all that is loaded."""
        with self._lock:
            self._loaded.clear()
            self._rows = 0

    def _corpus(self, namespace: int, partition: int) -> tuple[_Loaded, Corpus]:
        with self._lock:
            loaded = self._loaded.setdefault(namespace, _Loaded())
            self._loaded.move_to_end(namespace)
            if partition not in loaded.corpora:
                files = BlockFiles(self._directory, self._store, namespace, partition)
                loaded.corpora[partition] = Corpus(files, self._block_rows)
            self._evict(namespace)
            return loaded, loaded.corpora[partition]

    # --- with the lock held --------------------------------------------------------------------------------------
    def _evict(self, searched: int) -> None:
        """Gives up what was searched least recently, but nothing of the namespace that is being searched."""
        while len(self._loaded) > self._most_namespaces or self._rows > self._most:
            oldest = next((namespace for namespace in self._loaded if namespace != searched), None)
            if oldest is None:
                break
            self._give_up(oldest)

    def _give_up(self, namespace: int) -> None:
        loaded = self._loaded.pop(namespace, None)
        if loaded is not None:
            self._count(loaded, 0)

    def _count(self, loaded: _Loaded, rows: int) -> None:
        self._rows += rows - loaded.rows
        loaded.rows = rows
