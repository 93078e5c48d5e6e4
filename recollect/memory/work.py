"""Work for the background: consolidation, quality vectors, and the tasks that they are done by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from recollect.memory.handle import Handle
from recollect.record import Namespace, NodeId
from recollect.record import namespace as checked
from recollect.store import Task

if TYPE_CHECKING:
    from threading import Event

    from recollect.derive.tasks.runs import Backlog
    from recollect.derive.tasks.worker import Consolidated
    from recollect.derive.worker import Done, Worker


class Work(Handle):
    """What is derived, and by which tasks."""

    def embed(self, *, progress: Callable[[int, int], None] | None = None, limit: int | None = None) -> int:
        """Makes the vectors of the quality mode for what was said and has none yet, newest first; returns how many.

        Interrupted, it goes on where it was; while a background worker makes them, it waits for that. `progress` gets
        the passages made and wanted.
        """
        from recollect.derive.tasks.quality import embed_all

        return embed_all(self._space, self._make_quality, self._clock, limit, progress)

    def consolidate(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        progress: Callable[[Consolidated], None] | None = None,
    ) -> Consolidated:
        """Derives what is due in the namespace, or so many tasks of it; returns what was done.

        `again` derives everything anew from the messages: what a person corrected stays, and what a model wrote of
        words that have not changed is not asked for again. Interrupted, it goes on where it was. `progress` gets what
        has been done so far. Raises StoreError.
        """
        return self._worker.drain([self.namespace], limit=limit, again=again, progress=progress)

    def tasks(self, state: Literal["due", "leased", "dead"] = "due", *, limit: int = 100) -> list[tuple[Task, str]]:
        """What the worker has to do, is doing, or has given up, oldest first; with the reason of the last failure."""
        with self._space.view() as view:
            return view.tasks(state, limit)

    def retry(self, *ids: str) -> int:
        """Has tasks that were given up tried again: those with these ids, or all. Returns how many."""
        revived = self._space.revive([NodeId(i) for i in ids] if ids else None)
        if revived and self._background is not None:
            self._background.wrote()
        return revived

    def work(
        self,
        *,
        namespaces: Sequence[str] | None = None,
        once: bool = False,
        again: bool = False,
        stop: Event | None = None,
        is_over: Callable[[float, float | None], bool] | None = None,
        progress: Callable[[Done], None] | None = None,
    ) -> Done:
        """Does what the background worker does: consolidates, makes quality vectors, keeps the store in shape; in all
        namespaces of the store, or in some. Returns what was done.

        Until nothing is left to do (`once`), or until `stop` is set or `is_over` says so, which is told between rounds
        for how many seconds nothing was done, and in how many something that failed is tried again. `again` as in
        `consolidate`.
        """
        from recollect.derive.worker import WorkerLoop

        names = None if namespaces is None else [checked(name) for name in namespaces]
        shift = WorkerLoop(
            self._store,
            self._worker,
            self._make_quality,
            self._renew_passages,
            namespaces=names,
            again=again,
            stop=stop,
            clock=self._clock,
            progress=progress,
        )
        return shift.once() if once else shift.run(is_over)

    def backlog(self, *, namespaces: Sequence[str] | None = None) -> Backlog | None:
        """What waits for the model that is set, and about what it will take; in this namespace, or in some. None where
        none is set. Nothing is asked or changed.
        """
        from recollect.derive.tasks.runs import backlogs
        from recollect.derive.worker import model_works

        if self._model is None:
            return None
        spaces = [self._store.space(checked(name)) for name in namespaces or [self.namespace]]
        return backlogs(spaces, model_works(), self._model)

    def _renew_passages(self, name: Namespace, is_time: Callable[[], bool]) -> bool:
        """Makes anew the passages that an earlier version made, until it is time for other work; search uses those
        that there are meanwhile. Returns whether there were any.
        """
        from recollect.ingest.reindex import reindex

        with self._store.space(name).view() as view:
            made_by = view.index().embedder
        if made_by is None or not made_by.is_outdated or made_by.name != self._embedder.name:
            return False
        there = self.beside(name)
        reindex(there._space, there._ingest, stop=is_time)  # noqa: SLF001  # of its own class
        return True

    @cached_property
    def _worker(self) -> Worker:
        from recollect.derive.worker import Worker
        from recollect.models.language.budget import within

        model = self._model  # not this handle, which holds the worker: who is dropped is gone at once
        return Worker(
            self._store,
            self._whole_embedder,
            model=lambda namespace: within(model, namespace) if model else None,
            clock=self._clock,
        )
