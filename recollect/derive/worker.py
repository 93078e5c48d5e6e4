"""The worker: drains what is due in the namespaces of a store, with a few calls of a model at a time."""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from random import Random

from recollect.derive import registry
from recollect.derive.facts.work import entering
from recollect.derive.summaries.tasks import SUMMARY_TASK, ask_for_all
from recollect.derive.tasks.desk import LEASE, Backoff, Consolidated, Handlers, NamespaceWorker, WorkerConfig
from recollect.derive.tasks.enrol import enrol
from recollect.derive.tasks.heartbeat import Heartbeat
from recollect.derive.tasks.late import catch_up, work_without
from recollect.derive.tasks.retry import Retry
from recollect.models.embedding import Embedder
from recollect.models.language.base import LanguageModel
from recollect.record import Namespace, utc_now
from recollect.store import Store, WrongEmbedder

#: How many calls of a model are made at the same time unless told otherwise.
CONCURRENCY = 4

_ALL = 1 << 62
_A_MOMENT = 1.0  # seconds of waiting for a model before looking for other work again

_log = logging.getLogger("recollect.worker")

#: Tells what has been done so far.
Progress = Callable[[Consolidated], None]


class Worker:
    """Does what is due. Any number of them may work on one store, in threads, processes and machines."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        handlers: Handlers | None = None,
        model: Callable[[Namespace], LanguageModel | None] = lambda namespace: None,
        concurrency: int = CONCURRENCY,
        retry: Retry | None = None,
        clock: Callable[[], datetime] = utc_now,
        random: Random | None = None,
        name: str = "",
    ) -> None:
        self._store, self._embedder, self._model, self._concurrency = store, embedder, model, max(1, concurrency)
        self._handlers = handlers or registered()
        self._config = WorkerConfig(
            name=name or f"{os.getpid()}-{secrets.token_hex(4)}",
            clock=clock,
            random=random or Random(),
            retry=retry or Retry(),
            backoff=Backoff(),
        )
        #: When something that failed will be tried again, at the earliest.
        self.wake: datetime | None = None

    def drain(
        self,
        namespaces: Sequence[Namespace] | None = None,
        *,
        limit: int | None = None,
        again: bool = False,
        progress: Progress | None = None,
        stop: threading.Event | None = None,
    ) -> Consolidated:
        """Works until nothing is due, `limit` tasks are settled, or `stop` is set; in all namespaces, or in some.
        With `again` everything is derived anew from the messages first; what a person corrected stays.

        What failed and is for later is not waited for (`wake`). Told to stop in the middle, it waits for the calls that
        are under way, which are paid for, and gives the rest back. Raises WrongEmbedder where namespaces are named,
        StoreError.
        """
        stop = stop or threading.Event()
        if self.wake is not None and self.wake <= self._config.clock():
            self.wake = None
        done = Consolidated()
        calling: set[Future[Consolidated]] = set()

        def left() -> int:
            return _ALL if limit is None else limit - done.settled - len(calling)

        with Heartbeat(LEASE) as heartbeat, ThreadPoolExecutor(self._concurrency, "recollect-calls") as pool:
            names = self._namespaces(namespaces)
            for name in names:
                self._enrol(name, again)
            workers = [self._worker(name, heartbeat) for name in names]
            while True:
                claimed = sum(worker.claimed for worker in workers)
                for worker in workers:
                    if stop.is_set():
                        break
                    done += worker.conversations(left())
                    done += worker.works(left())
                    for lease in worker.claim_calls(min(left(), self._concurrency - len(calling))):
                        calling.add(pool.submit(worker.call, lease))
                idle = claimed == sum(worker.claimed for worker in workers)
                if idle and not calling:
                    break
                ready, _ = wait(calling, _A_MOMENT if idle else 0, FIRST_COMPLETED)
                for future in ready:
                    calling.discard(future)
                    done += future.result()
                if progress is not None:
                    progress(done)
        wakes = [moment for moment in (self.wake, *(worker.wake for worker in workers)) if moment is not None]
        self.wake = min(wakes, default=None)
        return done

    def _enrol(self, name: Namespace, again: bool) -> None:
        """Puts what was never derived, or never asked about, in the namespace."""
        space, versions = (
            self._store.space(name),
            {deriver.name: deriver.version for deriver in self._handlers.derivers},
        )
        enrol(space, versions, again=again, more=partial(entering, space))
        if self._model(name) is None:
            work_without(space)
        elif self._handlers.model_works:
            catch_up(space, versions)
            if any(work.kind == SUMMARY_TASK for work in self._handlers.model_works):
                ask_for_all(space)

    def _worker(self, name: Namespace, heartbeat: Heartbeat) -> NamespaceWorker:
        return NamespaceWorker(
            self._store.space(name), self._handlers, self._embedder, self._model(name), self._config, heartbeat
        )

    def _namespaces(self, named: Sequence[Namespace] | None) -> list[Namespace]:
        """Those whose vectors are made by this embedder; what is derived could else not be found beside them."""
        usable = []
        for name in self._store.namespaces() if named is None else named:
            with self._store.space(name).view() as view:
                known = view.index().embedder
            if known is None or known.name == self._embedder.name:
                usable.append(name)
            elif named is not None:
                raise WrongEmbedder(
                    f"The vectors of {name} were made by {known.name}, and this is {self._embedder.name}.",
                    hint="Name that one as the embedder, or make them anew: recollect reindex",
                )
            else:
                _log.warning("%s is left out: its vectors were made by %s", name, known.name)
        return usable


def registered() -> Handlers:
    """Everything that there is to do."""
    return Handlers(
        derivers=registry.derivers(),
        works=registry.works(),
        model_works=registry.model_works(),
        finish=registry.finish,
    )
