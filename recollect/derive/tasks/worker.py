"""The worker of one namespace: claims tasks, does them, and gives them back with the reason where they fail."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import orjson

from recollect.derive.tasks.base import (
    HEAD,
    Deriver,
    Effects,
    Finish,
    Heartbeat,
    ModelWork,
    Retry,
    Setting,
    Work,
    as_they_are,
    merged,
)
from recollect.derive.tasks.conversation import ConversationWork
from recollect.derive.tasks.queue import CONVERSATION, Publisher, head_revision
from recollect.errors import ModelError, RecollectError, StoreError
from recollect.models.embedding import Embedder, is_remote
from recollect.models.embedding.remote import DiscreetEmbedder
from recollect.models.language.base import Completion, LanguageModel, LanguageModelError, Request
from recollect.record import NodeId
from recollect.search.secrets import Masking
from recollect.store import Change, Fenced, Lease, Space, View
from recollect.store.update import insist

#: How long a task is held before it is renewed; what a killed worker held is taken over after that.
LEASE = timedelta(minutes=1)

T = TypeVar("T")

_AT_ONCE = 64  # tasks that are claimed together
_FASTER = 8
_KEEPING = (0.2, 1.0, 3.0, 10.0, 30.0)  # seconds between attempts to keep what was paid for

_log = logging.getLogger("recollect.worker")


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What was done: the messages that were looked at, tasks, and calls of a language model. `later` are tasks that
    failed and will be tried again, `dead` those that will not (`recollect tasks`).
    """

    messages: int = 0
    tasks: int = 0
    calls: int = 0
    later: int = 0
    dead: int = 0

    def __add__(self, other: Consolidated) -> Consolidated:
        return Consolidated(
            self.messages + other.messages,
            self.tasks + other.tasks,
            self.calls + other.calls,
            self.later + other.later,
            self.dead + other.dead,
        )

    @property
    def settled(self) -> int:
        """Tasks that this worker has let go of, one way or the other."""
        return self.tasks + self.later + self.dead


NOTHING_DONE = Consolidated()


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """What a worker can do."""

    derivers: Sequence[Deriver]
    works: Sequence[Work]
    model_works: Sequence[ModelWork]
    finish: Finish = as_they_are


class Backoff:
    """Until when no model is asked: it is away, or wants no more for now."""

    def __init__(self) -> None:
        self.until: datetime | None = None
        self._lock = threading.Lock()

    def pull(self, until: datetime) -> None:
        """Nobody asks before that."""
        with self._lock:
            self.until = max(until, self.until or until)

    def holds(self, now: datetime) -> bool:
        """Whether it is still too early."""
        return self.until is not None and now < self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """What a worker works with. Randomness and time come from outside."""

    name: str  # by which it claims
    clock: Callable[[], datetime]
    random: Random
    retry: Retry
    backoff: Backoff
    sleep: Callable[[float], None] = time.sleep


class NamespaceWorker:
    """Does the tasks of one namespace. Calls of a model may be made from several threads."""

    def __init__(
        self,
        space: Space,
        handlers: Handlers,
        embedder: Embedder,
        model: LanguageModel | None,
        config: WorkerConfig,
        heartbeat: Heartbeat,
    ) -> None:
        self._space, self._model, self._masking = space, model, Masking()
        embedder = DiscreetEmbedder(embedder, self._masked) if is_remote(embedder) else embedder
        self._publisher = Publisher(embedder)
        self._config, self._heartbeat = config, heartbeat
        self._conversations = ConversationWork(space, handlers.derivers, embedder, handlers.finish)
        self._finish = handlers.finish
        self._works = {work.kind: work for work in handlers.works}
        self._model_works = {work.kind: work for work in handlers.model_works}
        #: What a model is being asked for: since when, by the clock and by a time that never jumps, and its lease.
        self._calling: dict[NodeId, tuple[datetime, float, Lease]] = {}
        self._turn = threading.Lock()  # to write: who plans beside another would only have to plan again
        self._batch = 1
        #: How many tasks it has claimed.
        self.claimed = 0
        #: When something that failed will be tried again, at the earliest.
        self.wake: datetime | None = None

    # --- tasks that need no model ----------------------------------------------------------------------------------
    def conversations(self, most: int) -> Consolidated:
        """Does some of the tasks that writing left behind, if any are due."""
        leases = self._claim([CONVERSATION], most)
        with self._heartbeat.holding(self._space, leases):
            return self._derive(leases)

    def works(self, most: int) -> Consolidated:
        """Does some of the other tasks that need no model."""
        leases = self._claim(list(self._works), most)
        done = Consolidated()
        with self._heartbeat.holding(self._space, leases):
            waiting = self._grouped(leases)
            while waiting:
                try:
                    done += self._work(waiting[0])
                except BaseException:
                    self._give_back([lease for group in waiting for lease in group])
                    raise
                del waiting[0]
        return done

    def _grouped(self, leases: Sequence[Lease]) -> list[list[Lease]]:
        """Those that are written in one change together, the groups in the order of their oldest tasks."""
        groups: dict[tuple[str, str], list[Lease]] = {}
        for lease in leases:
            kind, group = lease.task.kind, self._works[lease.task.kind].group(lease.task)
            groups.setdefault((kind, group or lease.task.id), []).append(lease)
        return list(groups.values())

    def _claim(self, kinds: Sequence[str], most: int) -> list[Lease]:
        """Begins with one and takes more while all goes well: a task that ends its worker is then claimed alone, and
        those behind it are not counted as tried with it.
        """
        if not kinds or most <= 0:
            return []
        leases = self._space.claim(self._config.name, kinds, min(self._batch, most), LEASE)
        self.claimed += len(leases)
        again = any(lease.attempt > 1 for lease in leases)
        self._batch = 1 if again else min(_AT_ONCE, self._batch * _FASTER)
        return leases

    def _derive(self, leases: Sequence[Lease]) -> Consolidated:
        if not leases:
            return Consolidated()
        if len(leases) == 1 and self._is_tired(leases[0]):
            return self._bury(leases[0])
        try:
            with self._turn:
                messages = self._conversations.run(leases, self._setting())
            return Consolidated(messages=messages, tasks=len(leases))
        except Exception as problem:
            if len(leases) == 1:
                return self._failed(leases[0], problem)
        except BaseException:
            self._give_back(leases)
            raise
        return self._each(leases, self._derive)

    def _work(self, leases: Sequence[Lease]) -> Consolidated:
        if len(leases) == 1 and self._is_tired(leases[0]):
            return self._bury(leases[0])
        work = self._works[leases[0].task.kind]
        try:
            self._write(leases, lambda view: merged(work.run(view, one.task, self._setting()) for one in leases))
            return Consolidated(tasks=len(leases))
        except Exception as problem:
            if len(leases) == 1:
                return self._failed(leases[0], problem)
        return self._each(leases, self._work)

    def _each(self, leases: Sequence[Lease], do: Callable[[Sequence[Lease]], Consolidated]) -> Consolidated:
        """One of them is to blame: each by itself."""
        done = Consolidated()
        for number, lease in enumerate(leases):
            try:
                done += do([lease])
            except BaseException:
                self._give_back(leases[number + 1 :])
                raise
        return done

    # --- tasks for a model -----------------------------------------------------------------------------------------
    def claim_calls(self, most: int) -> list[Lease]:
        """Tasks that a model is to be asked for, or has already answered."""
        if self._model is None or not self._model_works or most <= 0:
            return []
        if self._config.backoff.holds(self._config.clock()):
            return []
        if self._clock_jumped():
            return []
        leases = self._space.claim(self._config.name, list(self._model_works), most, LEASE)
        self.claimed += len(leases)
        own = [lease for lease in leases if lease.task.id in self._calling]  # it jumped just now: they go on under it
        began = (self._config.clock(), time.monotonic())
        self._calling |= {lease.task.id: (*began, lease) for lease in leases}
        return [lease for lease in leases if lease not in own]

    def _clock_jumped(self) -> bool:
        """Whether the clock went forward during a call, so that its lease looks as if it had run out: this worker would
        take over from itself, and ask twice.
        """
        now, ticks = self._config.clock(), time.monotonic()
        passed = [(now - clock).total_seconds() - (ticks - then) for clock, then, _ in list(self._calling.values())]
        return any(seconds > LEASE.total_seconds() / 2 for seconds in passed)

    def call(self, lease: Lease) -> Consolidated:
        """Asks the model, keeps what it says, and then writes what follows from it. What was kept by an earlier attempt
        is written without asking again.
        """
        try:
            return self._called(lease)
        finally:
            self._calling.pop(lease.task.id, None)

    def _called(self, lease: Lease) -> Consolidated:
        calls = 0
        work = self._model_works[lease.task.kind]
        with self._heartbeat.holding(self._space, [lease]):
            try:
                answer = _decoded(lease.answer)
                if answer is None:
                    request = self._request(work, lease)
                    if request is None:
                        return Consolidated(tasks=1)
                    assert self._model is not None
                    answer = self._model.complete(replace(request, text=self._masked([request.text])[0]))
                    calls = answer.calls
                    lease = self._calling[lease.task.id][2]
                    self._keep(lease, answer)
                self._write([lease], lambda view: work.apply(view, lease.task, answer, self._setting()))
            except Exception as problem:
                failed = self._failed(lease, problem)
                if failed.dead:
                    self._write([], lambda view: work.go_without(view, lease.task, self._setting()))
                return failed + Consolidated(calls=calls)
        return Consolidated(tasks=1, calls=calls)

    def _request(self, work: ModelWork, lease: Lease) -> Request | None:
        """What to ask. Not wanted (any more, or yet), the task is done: as of a revision, since the last part that it
        waits for may be written at this moment, and puts it again only if it is gone by then.
        """

        def once() -> Request | None:
            with self._space.view() as view:
                revision = head_revision(view)
                request = None if work.is_early(view, lease.task) else work.request(view, lease.task)
            if request is None:
                self._space.write(Change(expect={HEAD: revision}, leases=[lease], begins=False))
            return request

        return self._insist(once)

    def _masked(self, texts: list[str]) -> list[str]:
        """The texts without the secrets of the messages that they tell."""
        with self._space.view() as view:
            mask = self._masking.of(view)
        return list(map(mask, texts))

    def _keep(self, lease: Lease, answer: Completion) -> None:
        """It is paid for: a store that is busy or away for a moment does not lose it."""
        raw = orjson.dumps(asdict(answer))
        for pause in _KEEPING:
            try:
                return self._space.keep(lease, raw)
            except StoreError:
                self._config.sleep(pause)
        return self._space.keep(lease, raw)

    # --- writing ---------------------------------------------------------------------------------------------------
    def _write(self, leases: Sequence[Lease], plan: Callable[[View], Effects]) -> None:
        """Writes what is planned, planned again where others were faster. Raises Fenced, StoreError."""

        def once() -> None:
            with self._turn:
                with self._space.view() as view:
                    revision = head_revision(view)
                    effects = self._finish(view, plan(view))
                self._space.write(self._publisher.change(effects, revision, leases=leases))

        self._insist(once)

    def _insist(self, work: Callable[[], T]) -> T:
        return insist(
            work, "What is to be consolidated is", sleep=self._config.sleep, uniform=self._config.random.uniform
        )

    def _setting(self) -> Setting:
        return Setting(now=self._config.clock(), model=self._model.name if self._model else None)

    # --- what fails ------------------------------------------------------------------------------------------------
    def _failed(self, lease: Lease, problem: Exception) -> Consolidated:
        """Gives a task back: for later, or dead. Raises StoreError where not even that can be written."""
        if isinstance(problem, Fenced):
            return Consolidated()  # it is somebody else's by now
        again, outage, retry_after = True, isinstance(problem, StoreError | ModelError), None
        if isinstance(problem, LanguageModelError):
            again, outage, retry_after = problem.again, problem.outage, problem.retry_after
        last = not again or lease.attempt >= self._config.retry.attempts
        if last and not outage:
            return self._release(lease, _told(problem), None)
        when = self._config.clock() + self._config.retry.pause(lease.attempt, self._config.random, retry_after)
        if outage and isinstance(problem, LanguageModelError):
            self._config.backoff.pull(when)
        self.wake = min(when, self.wake or when)
        return self._release(lease, _told(problem), when)

    def _is_tired(self, lease: Lease) -> bool:
        """Whether it was tried so often that it must have ended those who tried it: what fails otherwise is dead by
        then.
        """
        return lease.attempt > 2 * self._config.retry.attempts

    def _bury(self, lease: Lease) -> Consolidated:
        return self._release(lease, f"It was begun {lease.attempt - 1} times and never came to an end.", None)

    def _release(self, lease: Lease, why: str, again: datetime | None) -> Consolidated:
        _log.warning("Task %s (%s), attempt %d: %s", lease.task.id, lease.task.kind, lease.attempt, why)
        try:
            self._space.release(lease, why, again)
        except Fenced:
            return Consolidated()
        return Consolidated(dead=1) if again is None else Consolidated(later=1)

    def _give_back(self, leases: Sequence[Lease]) -> None:
        """The worker is told to stop: others can take these at once."""
        for lease in leases:
            try:
                self._space.release(lease, "", self._config.clock())
            except (Fenced, StoreError):
                continue


def _told(problem: Exception) -> str:
    """The reason as it is kept with the task. What is not of our wording may quote messages: of that only the place."""
    if isinstance(problem, RecollectError):
        return problem.message
    at = traceback.extract_tb(problem.__traceback__)[-1:]
    where = "".join(f" in {Path(frame.filename).name}:{frame.lineno}" for frame in at)
    return f"{type(problem).__name__}{where}"


def _decoded(raw: bytes | None) -> Completion | None:
    """What an earlier attempt kept; None where there is nothing that can be read."""
    if raw is None:
        return None
    try:
        plain: Any = orjson.loads(raw)
        answer = Completion(**plain)
    except (orjson.JSONDecodeError, TypeError):
        return None
    return answer if isinstance(answer.data, dict) and isinstance(answer.model, str) else None
