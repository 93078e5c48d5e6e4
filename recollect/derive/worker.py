"""The worker: what there is to do, and the loops that do it in the namespaces of a store."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random

from recollect.derive.entities.deriver import Entities, with_names
from recollect.derive.facts.correct import SettleWork, entering
from recollect.derive.facts.deriver import Facts
from recollect.derive.summaries.deriver import Summaries
from recollect.derive.summaries.periods import SUMMARY_TASK, ask_for_all
from recollect.derive.summaries.works import Periods, Together
from recollect.derive.tasks import quality
from recollect.derive.tasks.base import Deriver, Heartbeat, ModelWork, Retry, Work
from recollect.derive.tasks.queue import catch_up, enrol, work_without
from recollect.derive.tasks.worker import (
    LEASE,
    NOTHING_DONE,
    Backoff,
    Consolidated,
    Handlers,
    NamespaceWorker,
    WorkerConfig,
)
from recollect.derive.topics.segments import Segments
from recollect.derive.topics.work import Topics
from recollect.errors import ModelError, StoreError, StoreUnusable
from recollect.models.embedding import Embedder, TokenEmbedder
from recollect.models.embedding.static import StaticEmbedder
from recollect.models.language.base import LanguageModel
from recollect.record import Namespace, utc_now
from recollect.store import Store, WrongEmbedder


def derivers() -> Sequence[Deriver]:
    """What is derived from the messages of a conversation."""
    return Facts(), Entities(), Segments(), Summaries(StaticEmbedder())


def works() -> Sequence[Work]:
    """Kinds of tasks that need no model."""
    return SettleWork(), Periods(StaticEmbedder()), Together(StaticEmbedder()), Topics(StaticEmbedder())


#: Whoever makes a summary: it leads to the entities that it names.
finish = with_names


def model_works() -> Sequence[ModelWork]:
    """Kinds of tasks for a language model."""
    from recollect.derive.entities.deriver import EntitiesByModel
    from recollect.derive.facts.deriver import FactsByModel, bears_out
    from recollect.derive.summaries.models import SummariesByModel

    return FactsByModel(), SummariesByModel(), EntitiesByModel(bears_out)


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
        derivers=derivers(),
        works=works(),
        model_works=model_works(),
        finish=finish,
    )


# A worker's shift at a store: what is due, then passages of an earlier version and the quality vectors, then the
# store's own upkeep, over and over.

_TURN = 5.0  # seconds of making vectors before looking for tasks again
_UPKEEP = timedelta(seconds=1)
_LOOK = 1.0  # seconds between two looks at a store where nothing is due
_LONGEST_PAUSE = 30.0  # seconds, where something fails
_LONGEST_WAIT = 100.0  # seconds for others, longer than a lease that nobody renews


@dataclass(frozen=True, slots=True)
class Done:
    """What was done in a shift, or a round of it."""

    consolidated: Consolidated = NOTHING_DONE
    vectors: int = 0

    def __add__(self, other: Done) -> Done:
        return Done(self.consolidated + other.consolidated, self.vectors + other.vectors)

    def __bool__(self) -> bool:
        return bool(self.vectors or self.consolidated.settled or self.consolidated.calls)


class WorkerLoop:
    """Works on a whole store, or on some namespaces of it, until `stop` is set."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        model: Callable[[], TokenEmbedder],
        renew: Callable[[Namespace, Callable[[], bool]], bool] = lambda name, is_time: False,
        *,
        namespaces: Sequence[Namespace] | None = None,
        again: bool = False,
        stop: threading.Event | None = None,
        clock: Callable[[], datetime] = utc_now,
        progress: Callable[[Done], None] | None = None,
    ) -> None:
        self._store, self._worker, self._namespaces, self._clock = store, worker, namespaces, clock
        self._model, self._renew, self._again = model, renew, again
        self._loaded: TokenEmbedder | None = None
        self._stop = stop or threading.Event()
        self._progress = progress
        self._done = Done()
        self._idle_since: float | None = None
        self._busy_until = 0.0  # when another worker was seen at work last

    def once(self) -> Done:
        """Until nothing is left to do; what another worker holds is waited for, or taken over where it was killed.
        Returns what was done.
        """
        seen = time.monotonic()
        while not self._stop.is_set():
            if self._round():
                seen = time.monotonic()
            elif time.monotonic() - seen < _LONGEST_WAIT and self._others_work():
                self._stop.wait(_LOOK)
            else:
                break
        while self._keep_up() and not self._stop.is_set():
            pass
        return self._done

    def run(self, is_over: Callable[[float, float | None], bool] | None = None) -> Done:
        """Until it is told to stop, or `is_over`, which is told between rounds for how many seconds nothing was done,
        and in how many something that failed is to be tried again.

        A store that is busy or away, or a model that cannot be used, is tried again. Raises StoreUnusable where that
        would not help, as with a store that is read-only, and WrongEmbedder where namespaces are named.
        """
        pause = _LOOK
        # Of all namespaces, those of another embedder are left out in the next round.
        lasting = (StoreUnusable,) if self._namespaces is None else (StoreUnusable, WrongEmbedder)
        while not self._stop.is_set() and not (is_over and is_over(self._idle(), self._next_attempt())):
            moved = False
            try:
                moved = self._round()
                pause = _LOOK
            except lasting:
                raise
            except (StoreError, ModelError) as problem:
                _log.warning("%s", problem)
                pause = min(2 * pause, _LONGEST_PAUSE)
            if moved:
                self._idle_since = None
            else:
                self._rest(pause)
        return self._done

    def _rest(self, pause: float) -> None:
        """Nothing was done. While another worker holds tasks, which may have been killed, nobody calls that idle."""
        with suppress(StoreError):
            if self._idle_since is None:
                self._keep_up()
            if time.monotonic() - (self._idle_since or time.monotonic()) < _LONGEST_WAIT and self._others_work():
                self._busy_until = time.monotonic()
        self._idle_since = self._idle_since or time.monotonic()
        self._stop.wait(pause)

    def _next_attempt(self) -> float | None:
        """In how many seconds something that failed is to be tried again; None where nothing is."""
        wake = self._worker.wake
        left = None if wake is None else (wake - self._clock()).total_seconds()
        return None if left is None or left < -_LONGEST_PAUSE else left  # long past: it is done, or somebody else's

    def _idle(self) -> float:
        return 0.0 if self._idle_since is None else time.monotonic() - max(self._idle_since, self._busy_until)

    def _others_work(self) -> bool:
        for name in self._names():
            with self._store.space(name).view() as view:
                if view.tasks("leased", 1):
                    return True
        return False

    def _keep_up(self) -> bool:
        """The store's own upkeep, for a moment; whether there is more. What was forgotten while somebody read is wiped
        out by that, too.
        """
        more = [self._store.space(name).maintain(_UPKEEP) for name in self._names()]
        return any(more)

    def _round(self) -> bool:
        """Whether anything was done."""
        before = self._done
        drained = self._worker.drain(
            self._namespaces, again=self._again, progress=self._draining(before), stop=self._stop
        )
        self._again = False
        if Done(drained):
            self._tell(Done(drained))
        until = time.monotonic() + _TURN
        renewed = False
        for name in self._names():
            if not self._stop.is_set():
                if self._renew(name, lambda: self._is_time(until)):
                    renewed = True
                    continue
                space = self._store.space(name)
                made = quality.embed_some(space, self._quality, self._clock, lambda: self._is_time(until))
                if made:
                    self._tell(Done(vectors=made))
        moved = renewed or bool(Done(drained)) or self._done.vectors > before.vectors
        if moved:
            self._keep_up()
        return moved

    def _names(self) -> list[Namespace]:
        return self._store.namespaces() if self._namespaces is None else list(self._namespaces)

    def _is_time(self, until: float) -> bool:
        return self._stop.is_set() or time.monotonic() > until

    def _draining(self, before: Done) -> Callable[[Consolidated], None] | None:
        tell = self._progress
        return None if tell is None else lambda done: tell(before + Done(done))

    def _tell(self, more: Done) -> None:
        self._done += more
        if self._progress is not None:
            self._progress(self._done)

    def _quality(self) -> TokenEmbedder:
        if self._loaded is None:
            self._loaded = self._model()
        return self._loaded
