"""The parts of a snapshot: blocks with their living rows, one after the other, and what dies in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.index.block import Block, Order
from recollect.index.source import IndexState
from recollect.index.statistics import NOTHING, Moments, Statistics
from recollect.store.passages import Bool, Int

_AT_ONCE = 4096  # vectors that are unpacked at once


@dataclass(frozen=True)
class Part:
    """A block with its place and its living rows. `alive` is None where all live."""

    block: Block
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

    def __init__(self, parts: Sequence[Part]) -> None:
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
    def _join(orders: Sequence[tuple[Order, int]]) -> tuple[Int, NDArray[np.int32]]:
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


def place_blocks(blocks: Sequence[Block], offset: int = 0) -> list[Part]:
    """Parts of blocks that follow each other from a position on; all their rows live."""
    parts = []
    for block in blocks:
        parts.append(Part(block, offset))
        offset += block.size
    return parts


def without_rows(parts: Sequence[Part], numbers: Int) -> tuple[list[Part], Statistics]:
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


def sums_of(block: Block, rows: Int) -> Statistics:
    """The sums over some rows of a block."""
    total = NOTHING
    for at in range(0, len(rows), _AT_ONCE):
        some = rows[at : at + _AT_ONCE]
        total += Statistics.of(block.length[some], Moments.of(block.units(some)))
    return total
