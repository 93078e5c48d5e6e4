"""What holds a word of a question and is not in the pool: all else that a search reaches, in an order of its own.

The order depends on the question alone, not on how much of it is wanted: a page begins where the one before ended. It
is that in which candidates are chosen; what a page shows of it is then scored as all else is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from recollect.models.embedding import TokenEmbedder
from recollect.search.query.asking import Asked
from recollect.search.ranking import Ranked, Ranking, numbers, rank
from recollect.store import View
from recollect.store.passages import Int, Rows


class Beyond:
    """What a ranking left out."""

    def __init__(self, view: View, asked: Asked, ranking: Ranking, model: Callable[[], TokenEmbedder]) -> None:
        self._view, self._asked, self._ranking, self._model = view, asked, ranking, model

    @cached_property
    def conversations(self) -> Int:
        """The conversations in which a word is held, in the pool or not, each once, ascending."""
        return numbers(*(own.conversations for own in self._ranking.held))

    @cached_property
    def messages(self) -> Int:
        """The messages that hold a word, in the pool or not, each once, ascending."""
        return numbers(*(own.rows.messages for own in self._ranking.held))

    def further_conversations(self, known: Int, last: Sequence[int]) -> list[int]:
        """The conversations that are not among the known ones, by their best passages; then the `last` ones."""
        rows = self._sorted.take(~np.isin(self._sorted.conversations, known))
        firsts = np.sort(np.unique(rows.conversations, return_index=True)[1])
        found = rows.conversations[firsts].tolist()
        there = {*found, *known.tolist()}
        return [*found, *(number for number in last if number not in there)]

    def of_conversations(self, wanted: Collection[int], most: int, at: int) -> dict[int, list[tuple[int, Ranked]]]:
        """The best messages of each of some conversations, at most so many, in order; they all rank `at` a place."""
        rows = self._ranking.held_within(np.array(sorted(wanted), np.int64))
        rows = _one_a_message(_of_messages(rows))
        places: dict[int, list[int]] = {}
        for place, number in enumerate(rows.conversations.tolist()):
            if len(own := places.setdefault(number, [])) < most:
                own.append(place)
        chosen = sorted(place for own in places.values() for place in own)
        found: dict[int, list[tuple[int, Ranked]]] = {}
        for entry in self._scored(rows.take(np.array(chosen, np.int64))):
            found.setdefault(entry.conversation, []).append((at, entry))
        return found

    def further_messages(self, known: Int, first: int, last: int) -> list[Ranked]:
        """The best passages of messages that are not among the known ones, from one place to another."""
        rows = _one_a_message(self._sorted.take(~np.isin(self._sorted.messages, known)))
        return self._scored(rows.take(np.arange(len(rows))[first:last]))

    @cached_property
    def passages(self) -> Rows:
        """All that hold a word and are not in the pool, best first."""
        rows = self._ranking.held_rows
        rows = rows.take(~np.isin(rows.passages, self._ranking.pool.passages))
        return rows.take(np.argsort(-rows.leads, kind="stable"))

    def of_passages(self, wanted: Sequence[int]) -> dict[int, Ranked]:
        """Passages as ranked ones, by their numbers; none has a higher score than the last one of the pool."""
        found = dict[int, Ranked]()
        for own in self._ranking.held if wanted else ():
            ranking = rank(self._view, self._asked, own.partition, self._model, passages=wanted)
            found |= {entry.passage: entry for entry in ranking.passages}
        return {n: replace(entry, shift=min(0.0, self._least - entry.total)) for n, entry in found.items()}

    @cached_property
    def _sorted(self) -> Rows:
        """All passages of messages that hold a word, best first."""
        return _of_messages(self._ranking.held_rows)

    @cached_property
    def _least(self) -> float:
        """The score of the last one of the pool: none of these is better."""
        return float(self._ranking.pool.leads.min()) if len(self._ranking.pool) else 0.0

    def _scored(self, rows: Rows) -> list[Ranked]:
        """Passages as ranked ones, in their order."""
        found = self.of_passages(rows.passages.tolist())
        return [found[number] for number in rows.passages.tolist() if number in found]


def _of_messages(rows: Rows) -> Rows:
    """The rows of messages, best first."""
    rows = rows.take((rows.messages > 0) & (rows.conversations > 0))
    return rows.take(np.argsort(-rows.leads, kind="stable"))


def _one_a_message(rows: Rows) -> Rows:
    """The first of the rows of each message, in order."""
    return rows.take(np.sort(np.unique(rows.messages, return_index=True)[1]))
