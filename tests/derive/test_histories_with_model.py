"""The same histories where a model answers, babbles or is away, and two workers ask it at once."""

from __future__ import annotations

import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from recollect.derive.tasks.base import Retry
from recollect.derive.worker import Worker
from recollect.memory import Memory
from recollect.models.language.base import (
    BrokenAnswer,
    Completion,
    LanguageModelError,
    ModelTimeout,
    RateLimited,
    Request,
)
from tests.derive.histories import broken, derived, opened
from tests.derive.test_histories import UNSHRUNK, Histories
from tests.derive.test_isolation import Echo
from tests.exports import dump_of
from tests.properties import examples

PROBLEMS = st.lists(st.sampled_from([ModelTimeout, BrokenAnswer, RateLimited]), max_size=5)
#: Drains until all that waits for a pause, a quiet conversation or the end of a month is done.
MOST = 12


class Moody(Echo):
    """Echoes what it is asked about, after the problems that it is told to have."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[type[LanguageModelError]] = []
        self.answered: Counter[tuple[str, str]] = Counter()

    def complete(self, request: Request) -> Completion:
        with self._lock:
            problem = self.problems.pop(0) if self.problems else None
            if problem is None:
                self.answered[request.prompt.name, request.text] += 1
        if problem is not None:
            raise problem("Not now.")
        return super().complete(request)

    def twice(self) -> set[str]:
        """The prompts by which something was asked, and answered, more than once."""
        return {name for (name, _), times in self.answered.items() if times > 1}


class HistoriesWithModel(Histories):
    """One memory, its workers, the model that they ask, and everything that may happen to all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Moody()

    @rule(problems=PROBLEMS)
    def the_model_is_asked(self, problems: list[type[LanguageModelError]]) -> None:
        self.model.problems = list(problems)
        self.drain(self.memory, self.model)
        self.model.problems = []

    @rule(problems=PROBLEMS)
    def two_workers_ask_the_model(self, problems: list[type[LanguageModelError]]) -> None:
        self.model.problems = list(problems)
        with ThreadPoolExecutor(2) as both:
            for beside in [both.submit(self.drain_beside) for _ in range(2)]:
                beside.result(60)
        self.model.problems = []

    @rule(most=st.integers(1, 3))
    def a_worker_takes_requests_and_dies(self, most: int) -> None:
        self.memory.handle.space.claim("the late", ["summary", "facts", "entities"], most, timedelta(minutes=5))

    @rule()
    def consolidate(self) -> None:
        self.clock.catch_up()
        self.settle(self.memory, self.model)
        assert broken(self.memory, self.gone(), self.aside()) == []
        assert derived(self.memory, self.clock) == self.rebuilt_with_model()
        answered = self.model.answered.copy()
        self.settle(self.memory, self.model, again=True)
        assert self.model.answered == answered  # what stands is not paid for again
        assert self.model.twice().isdisjoint({"facts", "entities"})

    def rebuilt_with_model(self) -> dict[str, Any]:
        made = Path(tempfile.mkdtemp(dir=self.folder))
        (made / "dump.jsonl").write_bytes(dump_of(self.memory))
        with opened(made / "memory.db", self.clock) as other:
            if self.memory.upkeep.stats().conversations:
                other.import_file(made / "dump.jsonl")
            self.settle(other, Moody())
            return derived(other, self.clock)

    def settle(self, memory: Memory, model: Moody, *, again: bool = False) -> None:
        for number in range(MOST):
            self.drain(memory, model, again=again and not number)
            if not memory.upkeep.tasks("due") + memory.upkeep.tasks("leased") + memory.upkeep.tasks("dead"):
                return
            self.clock.move(60 * 24 * 10)
        raise AssertionError("it never comes to rest")

    def drain(self, memory: Memory, model: Moody, *, again: bool = False) -> None:
        Worker(
            memory.handle.store,
            memory.handle.embedder,
            model=lambda _: model,
            retry=Retry(attempts=1000),
            clock=self.clock,
            random=Random(1),
        ).drain([memory.namespace], again=again)

    def drain_beside(self) -> None:
        with opened(self.folder / "memory.db", self.clock) as other:
            self.drain(other, self.model)


def test_whatever_is_done_with_a_model_what_is_derived_is_what_a_rebuild_makes() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        HistoriesWithModel, settings=settings(max_examples=examples(10), stateful_step_count=15, phases=UNSHRUNK)
    )


def test_what_was_taken_away_and_comes_back_is_paid_for_again_and_nothing_else() -> None:
    """A summary holds no word of what is deleted, so it goes with it; what is quiet, or only grows, stays paid for."""
    history = HistoriesWithModel()
    try:
        said = [history.begin("We use {} for the project.") for _ in range(3)]
        for _ in range(7):
            said = [history.append(before, "Where did I put the {}?", "user") for before in said]
            history.settle(history.memory, history.model)
        assert history.model.twice() <= {"period"}  # a week of one day reads as its month does
        for change in (history.delete, history.restore):
            change(said[0])
            history.settle(history.memory, history.model)
        assert {"conversation"} <= history.model.twice() <= {"period", "conversation", "topic"}
        asked = Counter(name for (name, _), times in history.model.answered.items() if times > 1)
        assert asked["conversation"] == 2  # as it was before the last message came, and with it
    finally:
        history.teardown()
