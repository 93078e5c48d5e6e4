"""Batches of conversations on their way to another process: while one is written, the next one is read and planned.

They are written one after the other, in the order in which they came, and come out as if each had been planned when the
one before it was in. No more than two are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import timedelta

from recollect.importers.records.known import Known
from recollect.ingest.conversations import Conversations, Planned, WrittenThreads
from recollect.record import Thread
from recollect.store import Space, Stale

_FAREWELL = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A batch that is being written, and who is told of it."""

    threads: Sequence[Thread]
    planned: Planned
    known: Known | None
    then: Callable[[WrittenThreads], None]
    writing: Future[None]


class Pipeline:
    """Writes batches in a thread of its own. Everything else, errors too, comes to the thread that calls it."""

    def __init__(self, space: Space, conversations: Conversations, upkeep: timedelta, *, again: bool) -> None:
        self._space, self._conversations, self._upkeep, self._again = space, conversations, upkeep, again
        self._writer = ThreadPoolExecutor(1, "recollect-import")
        self._under_way: _UnderWay | None = None

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves a transaction that is under way some time to end: it cannot be taken back."""
        if self._under_way is not None:
            wait([self._under_way.writing], _FAREWELL)
        self._writer.shutdown(wait=False)

    def write(self, threads: Sequence[Thread], known: Known | None, then: Callable[[WrittenThreads], None]) -> None:
        """Writes a batch; `then` is told when it is in, by one of the next calls. Raises what writing the batch before
        this one has raised.
        """
        beside = self._under_way
        if beside is not None and (beside.planned.may_concern(threads) or (known is not None and known.reads_words)):
            self.settle()
        planned = self._conversations.plan_threads(threads, again=self._again, known=known)
        self.settle()
        writing = self._writer.submit(self._write, planned)
        self._under_way = _UnderWay(threads, planned, known, then, writing)
        if planned.waiting:  # the next batch would not be compared with these
            self.settle()

    def settle(self) -> None:
        """Waits until all is in."""
        if (batch := self._under_way) is None:
            return
        wait([batch.writing])
        self._under_way = None
        try:
            batch.writing.result()
            written, rest = self._conversations.written(batch.planned, batch.known), batch.planned.waiting
        except Stale:
            written, rest = WrittenThreads(), list(batch.threads)
        if rest:
            written.add(self._conversations.threads(rest, again=self._again, known=batch.known))
        batch.then(written)

    def _write(self, planned: Planned) -> None:
        self._conversations.write_planned(planned)
        if planned.change is not None:
            self._space.maintain(self._upkeep)
