"""A snapshot of one partition: blocks, which of their rows live, and what is known of all of them.

Rows have *positions*: the blocks one after the other. A snapshot never changes and may be read by any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.index.block import RowBlock, RowOrder
from recollect.index.numeric import NOTHING, Moments, Statistics
from recollect.index.source import IndexState
from recollect.index.terms import ranges, term_hash
from recollect.store.passages import Bool, Float, Int

if TYPE_CHECKING:
    from recollect.index.quality import QualityCache


_AT_ONCE = 4096  # vectors that are unpacked at once


@dataclass(frozen=True)
class SnapshotPart:
    """A block with its place and its living rows. `alive` is None where all live."""

    block: RowBlock
    offset: int
    alive: Bool | None = None

    @cached_property
    def living(self) -> int:
        """How many of its rows live."""
        return self.block.size if self.alive is None else int(np.count_nonzero(self.alive))


@dataclass(frozen=True)
class Deaths:
    """The log of deaths as far as it was read."""

    numbers: Int = field(default_factory=lambda: np.zeros(0, np.int64))
    places: Int = field(default_factory=lambda: np.zeros(0, np.int64))

    def with_more(self, found: Sequence[tuple[int, int]]) -> Deaths:
        """The log with what was read since."""
        if not found:
            return self
        places, numbers = np.array(found, np.int64).T
        return Deaths(np.concatenate([self.numbers, numbers]), np.concatenate([self.places, places]))


class Joined:
    """The orders of the first parts as one each: keys, ascending, and positions. Made when they are first needed, and
    shared by all snapshots that have these parts; some 12 bytes a row and order.
    """

    def __init__(self, parts: Sequence[SnapshotPart]) -> None:
        self._parts = tuple(parts)

    @property
    def count(self) -> int:
        """How many parts these are."""
        return len(self._parts)

    @cached_property
    def by_message(self) -> tuple[Int, NDArray[np.int32]]:
        """The rows that stand for a message."""
        return self._join([(part.block.by_message, part.offset) for part in self._parts])

    @cached_property
    def by_previous(self) -> tuple[Int, NDArray[np.int32]]:
        """Those of them that follow another message."""
        return self._join([(part.block.by_previous, part.offset) for part in self._parts])

    @staticmethod
    def _join(orders: Sequence[tuple[RowOrder, int]]) -> tuple[Int, NDArray[np.int32]]:
        if not orders:
            return np.zeros(0, np.int64), np.zeros(0, np.int32)
        keys = np.concatenate([order.keys for order, _ in orders])
        positions = np.concatenate([order.rows.astype(np.int32) + np.int32(offset) for order, offset in orders])
        by_key = np.argsort(keys, kind="stable")
        return keys[by_key], positions[by_key]


def order_of(state: IndexState) -> tuple[int, ...]:
    """States of one partition sort in the order in which they came."""
    return (state.generation, state.epoch, state.last, state.deaths, state.quality, state.sealed)


def is_after(state: IndexState, other: IndexState) -> bool:
    """Of the same epoch: whether everything that the other one sees is in this one."""
    return all(a >= b for a, b in zip(order_of(state), order_of(other), strict=True))


def distinct(*found: Int) -> Int:
    """Positions, each once, ascending."""
    at = np.sort(np.concatenate(found))
    return at[np.diff(at, prepend=-1) > 0] if len(at) else at


def place_blocks(blocks: Sequence[RowBlock], offset: int = 0) -> list[SnapshotPart]:
    """Parts of blocks that follow each other from a position on; all their rows live."""
    parts = []
    for block in blocks:
        parts.append(SnapshotPart(block, offset))
        offset += block.size
    return parts


def without_rows(parts: Sequence[SnapshotPart], numbers: Int) -> tuple[list[SnapshotPart], Statistics]:
    """The parts when passages, by number, have died, and the sums over those that did live."""
    gone, left = NOTHING, []
    numbers = distinct(numbers)
    for part in parts:
        low, high = np.searchsorted(numbers, [part.block.number[0], part.block.number[-1] + 1])
        rows = part.block.rows_of(numbers[low:high])
        if part.alive is not None:
            rows = rows[part.alive[rows]]
        if len(rows):
            alive = np.ones(part.block.size, bool) if part.alive is None else part.alive.copy()
            alive[rows] = False
            part = replace(part, alive=alive)
            gone += sums_of(part.block, rows)
        left.append(part)
    return left, gone


def sums_of(block: RowBlock, rows: Int) -> Statistics:
    """The sums over some rows of a block."""
    total = NOTHING
    for at in range(0, len(rows), _AT_ONCE):
        some = rows[at : at + _AT_ONCE]
        total += Statistics.of(block.length[some], Moments.of(block.units(some)))
    return total


#: Up to so many rows candidates are chosen by exact cosines; of more they are looked for by rough ones first.
EXACT_ROWS = 131_072


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The rows of a partition as of a state. `joined` and `qualities` are the same as long as positions mean the same
    rows.
    """

    state: IndexState
    parts: tuple[SnapshotPart, ...]
    full: int  # of the parts, full ones at the beginning
    statistics: Statistics  # of the living rows
    deaths: Deaths
    joined: Joined
    qualities: QualityCache

    @cached_property
    def size(self) -> int:
        """How many rows there are, dead ones included."""
        return self.parts[-1].offset + self.parts[-1].block.size if self.parts else 0

    @property
    def is_large(self) -> bool:
        """Whether it is more than all can be computed of: then cosines are rough first."""
        return self.size > EXACT_ROWS

    @property
    def living(self) -> int:
        """How many passages can be found."""
        return self.statistics.count

    @cached_property
    def offsets(self) -> Int:
        """Where each part begins, and the last one ends."""
        return np.array([*(part.offset for part in self.parts), self.size], np.int64)

    def years(self) -> list[int]:
        """The years in which something was said, ascending."""
        days = [
            part.block.days
            if part.alive is None
            else part.block.days[distinct(part.block.day[part.alive].astype(np.int64))]
            for part in self.parts
        ]
        found = distinct(*days) if days else np.zeros(0, np.int64)
        years = found[found >= 0].astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)
        return sorted({year + 1970 for year in years.tolist()})

    def messages_by_day(self) -> dict[int, int]:
        """How many messages stand at each day since 1970 (-1: not known), by ascending days."""
        days, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for part in self.parts:
            block = part.block
            days.append(block.days)
            if part.alive is None:
                counts.append(block.messages_by_day)
            else:
                counts.append(np.bincount(block.day[part.alive & (block.first > 0)], minlength=len(block.days)))
        known, place = np.unique(np.concatenate(days), return_inverse=True)
        sums = np.bincount(place, weights=np.concatenate(counts), minlength=len(known)).astype(np.int64)
        return {day: count for day, count in zip(known.tolist(), sums.tolist(), strict=True) if count}

    # --- rows by position --------------------------------------------------------------------------------------------
    def split(self, at: Int) -> Iterator[tuple[int, SnapshotPart, slice, Int]]:
        """Positions, ascending, part by part: which, the part, where they stand in `at`, and its own rows."""
        bounds = np.searchsorted(at, self.offsets).tolist()
        for place, part in enumerate(self.parts):
            own = slice(bounds[place], bounds[place + 1])
            if own.start < own.stop:
                yield place, part, own, at[own] - part.offset

    def columns(self, at: Int, *names: str) -> list[NDArray[Any]]:
        """Columns of some rows, by ascending position."""
        found = [np.empty(len(at), self._type(name)) for name in names]
        for _, part, own, rows in self.split(at):
            for name, column in zip(names, found, strict=True):
                column[own] = getattr(part.block, name)[rows]
        return found

    def gather(self, at: Int, *names: str) -> list[NDArray[Any]]:
        """Columns of some rows, by position; zeros for position -1."""
        known = at >= 0
        if known.all() and (at[1:] >= at[:-1]).all():
            return self.columns(at, *names)
        there = np.flatnonzero(known)
        there = there[np.argsort(at[there], kind="stable")]
        found = [np.zeros(len(at), self._type(name)) for name in names]
        for column, values in zip(found, self.columns(at[there], *names), strict=True):
            column[there] = values
        return found

    def _type(self, name: str) -> np.dtype[Any]:
        return getattr(self.parts[0].block, name).dtype if self.parts else np.dtype(np.int64)

    def cosines(self, at: Int, vector: Float) -> Float:
        """The cosines of some rows, by ascending position, with a unit vector."""
        found = np.empty(len(at), np.float32)
        for _, part, own, rows in self.split(at):
            found[own] = part.block.cosines(vector, rows)
        return found

    def units(self, at: Int) -> Float:
        """The unit vectors of some rows, by ascending position."""
        size = self.parts[0].block.vectors.shape[1] if self.parts else 0
        found = np.empty((len(at), size), np.float32)
        for _, part, own, rows in self.split(at):
            found[own] = part.block.units(rows)
        return found

    def positions_of(self, numbers: Int) -> Int:
        """The positions of passages by ascending number; those that are not here are left out."""
        found = [np.zeros(0, np.int64)]
        for part in self.parts:
            low, high = np.searchsorted(numbers, [part.block.number[0], part.block.number[-1] + 1])
            found.append(part.block.rows_of(numbers[low:high]) + part.offset)
        return np.concatenate(found)

    # --- rows by what they belong to ---------------------------------------------------------------------------------
    def around(self, at: Int) -> Int:
        """The rows around living ones in reading order within their session, by OFFSETS (n, 5); -1: there is none."""
        if not self._follows:
            return np.stack([at, *4 * [np.full(len(at), -1, np.int64)]], axis=1)
        before, after = self._beside(at, at)
        second_before, second_after = self._beside(before, after)
        return np.stack([at, before, after, second_before, second_after], axis=1)

    @cached_property
    def _follows(self) -> bool:
        """Whether any row is part of a conversation's text; titles and documents are not."""
        return any(len(part.block.by_message.rows) for part in self.parts)

    def _beside(self, these: Int, those: Int) -> tuple[Int, Int]:
        """What stands before these rows and what behind those. Of several branches it is the one written last; further
        passages of a message share what is behind it.
        """
        previous, own_sessions = self.gather(these, "previous", "session")
        messages, sessions, first = self.gather(those, "message", "session", "first")
        found = self._latest("by_message", np.concatenate([previous, messages]))
        before, own = found[: len(these)], found[len(these) :]
        (sessions_before,) = self.gather(before, "session")
        before[sessions_before != own_sessions] = -1
        stands = (own >= 0) & ((own == those) | (first == 0))
        return before, self._latest("by_previous", np.where(stands, messages, 0), sessions)

    def _latest(self, name: Literal["by_message", "by_previous"], keys: Int, sessions: Int | None = None) -> Int:
        """For each key that is not 0 the last living row that has it (in this session); -1 where there is none."""
        found = np.full(len(keys), -1, np.int64)
        by_key = np.argsort(keys, kind="stable")
        by_key = by_key[np.searchsorted(keys[by_key], 1) :]
        ascending = keys[by_key]
        for part in reversed(self.parts[self.joined.count :]):
            order: RowOrder = getattr(part.block, name)
            self._find(order.keys, order.rows, part.offset, ascending, by_key, sessions, found)
        sorted_keys, positions = getattr(self.joined, name)
        self._find(sorted_keys, positions, 0, ascending, by_key, sessions, found)
        return found

    def _find(
        self,
        keys: Int,
        rows: NDArray[np.integer[Any]],
        offset: int,
        wanted: Int,
        pending: Int,
        sessions: Int | None,
        found: Int,
    ) -> None:
        """Looks for wanted keys, ascending, among sorted ones, and sets what is found at the `pending` places."""
        low, high = np.searchsorted(wanted, (keys[0], keys[-1] + 1)) if len(keys) else (0, 0)
        wanted, pending = wanted[low:high], pending[low:high]
        at = np.searchsorted(keys, wanted, "right") - 1
        while len(at):  # mostly once: the last row of a key is the living one
            hit = np.flatnonzero((keys[at] == wanted) & (found[pending] < 0))
            wanted, pending, at = wanted[hit], pending[hit], at[hit]
            own = rows[at].astype(np.int64) + offset
            good = self._lives(own)
            if sessions is not None:
                good &= self.gather(own, "session")[0] == sessions[pending]
            found[pending[good]] = own[good]
            left = np.flatnonzero(~good & (at > 0))
            wanted, pending, at = wanted[left], pending[left], at[left] - 1

    def _lives(self, at: Int) -> Bool:
        """Which rows live."""
        lives = np.ones(len(at), bool)
        for part in self.parts:
            if part.alive is not None:
                own = np.flatnonzero((at >= part.offset) & (at < part.offset + part.block.size))
                lives[own] = part.alive[at[own] - part.offset]
        return lives

    def sessions(self, wanted: Int) -> tuple[Int, Int]:
        """The living rows of sessions (m,), ascending: their positions, session by session, and where each begins."""
        groups, positions = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for part in self.parts:
            order = part.block.by_session
            low, high = np.searchsorted(wanted, [order.keys[0], order.keys[-1] + 1])
            own = wanted[low:high]
            begins = np.searchsorted(order.keys, own)
            sizes = np.searchsorted(order.keys, own, "right") - begins
            rows = order.rows[ranges(begins, sizes)]
            group = np.repeat(np.arange(low, high), sizes)
            if part.alive is not None:
                living = part.alive[rows]
                rows, group = rows[living], group[living]
            groups.append(group)
            positions.append(rows.astype(np.int64) + part.offset)
        group = np.concatenate(groups)
        by_group = np.argsort(group, kind="stable")
        return np.concatenate(positions)[by_group], np.searchsorted(group[by_group], np.arange(len(wanted) + 1))

    def flagged(self, flag: int) -> list[int]:
        """The numbers of the living passages that have a flag."""
        found: list[int] = []
        for part in self.parts:
            has = (part.block.flags & flag) != 0
            found += part.block.number[has if part.alive is None else has & part.alive].tolist()
        return found

    # --- terms -------------------------------------------------------------------------------------------------------
    def numbers(self, term: str, limit: int) -> list[int]:
        """The numbers of the first passages that hold a term."""
        wanted, found = np.array([term_hash(term)], np.uint64), list[int]()
        for part in self.parts:
            start, end = part.block.terms.find(wanted)[0]
            rows = part.block.terms.rows[start:end]
            if part.alive is not None:
                rows = rows[part.alive[rows]]
            found += part.block.number[rows[: limit - len(found)]].tolist()
        return found
