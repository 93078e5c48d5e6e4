"""All rows of a snapshot that hold a word of a query, in the pool or not: counts are exact, and a search is complete.

Nothing is computed before somebody asks: most searches want the number of conversations alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.index.parts import distinct
from recollect.index.snapshot import Snapshot
from recollect.index.words import Words
from recollect.store.passages import ROLE_SHIFT, ROLES, Float, Int, Rows

_COLUMNS = ("number", "message", "conversation", "kind", "time", "flags")


class WordMatches:
    """Implements `recollect.store.passages.Matches`."""

    def __init__(
        self, snapshot: Snapshot, words: Words, rows: Sequence[Int], leads: Sequence[NDArray[Any]] | None
    ) -> None:
        """`rows` of each part, and what sorts all rows of each; None: nothing is left to sort."""
        self._snapshot, self._words, self._rows, self._leads = snapshot, words, rows, leads

    @cached_property
    def conversations(self) -> Int:
        """Their conversations, each once, ascending."""
        found = [np.zeros(0, np.int64)]
        for part, rows in zip(self._snapshot.parts, self._rows, strict=True):
            conversations, own = part.block.talks
            held = np.zeros(len(conversations), bool)
            held[own[rows]] = True
            found.append(conversations[held])
        every = distinct(*found)
        return every[every > 0]

    @cached_property
    def rows(self) -> Rows:
        """They themselves, by position."""
        return self._columns(self._rows)

    def within(self, conversations: Int) -> Rows:
        """Those of some conversations, by position."""
        parts = zip(self._snapshot.parts, self._rows, strict=True)
        return self._columns([rows[part.block.of_conversations(conversations)[rows]] for part, rows in parts])

    def _columns(self, of: Sequence[Int]) -> Rows:
        number, message, conversation, kind, time, flags = self._snapshot.columns(self._positions(of), *_COLUMNS)
        if self._leads is None:
            leads = np.zeros(len(number))
        else:
            leads = np.concatenate([own[rows] for own, rows in zip(self._leads, of, strict=True)])
        roles = (flags.astype(np.int64) >> ROLE_SHIFT) & (len(ROLES) - 1)
        return Rows(number, message, conversation, kind, time, roles, leads.astype(np.float64))

    @cached_property
    def shares(self) -> Float:
        """How much of the query's idf each of the rows holds."""
        idf = self._words.idf
        total = float(idf.sum())
        if not total:
            return np.zeros(len(self._at), np.float32)
        return np.asarray(self._words.holds(self._at) @ idf / total, np.float32)

    @cached_property
    def _at(self) -> Int:
        return self._positions(self._rows)

    def _positions(self, of: Sequence[Int]) -> Int:
        parts = zip(self._snapshot.parts, of, strict=True)
        return np.concatenate([rows + part.offset for part, rows in parts])
