"""The daily budget: never exceeded, by no number of workers, and never lost, by no restart or crash."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

import recollect
from recollect.derive.tasks.base import Effects, Retry, Setting
from recollect.derive.tasks.runs import backlog
from recollect.models.language.base import (
    BudgetHeld,
    BudgetSpent,
    Completion,
    ModelNotReady,
    ModelUnreachable,
    Price,
    Request,
    Usage,
    WrongAnswer,
)
from recollect.models.language.budget import FILE, Estimate, Limits, Metered, SpendingLog, estimate, metered, most_usage
from recollect.models.language.prompts import request
from recollect.store import Change, Task, View
from tests.models.language.conftest import GOOD, PROMPT, REQUEST

PRICE = Price(1.0, 5.0)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2025, 3, 2, 23, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Counting:
    """A model that answers, and counts."""

    name = "anthropic:claude-test"

    def __init__(self, usage: Usage | None = None) -> None:
        self.asked, self.usage = 0, usage or Usage(1, 1000, 100)
        self.problem: Exception | None = None

    def complete(self, request: Request) -> Completion:
        self.asked += 1
        if self.problem:
            raise self.problem
        cost = PRICE.of(self.usage)
        return Completion(
            data=GOOD,
            model=self.name,
            calls=self.usage.calls,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cost=cost,
        )


def within(tmp_path: Path, model: Counting, limits: Limits, clock: Any = None, **more: Any) -> Metered:
    ledger = SpendingLog(tmp_path / FILE, clock=clock or Clock())
    return Metered(model, ledger, limits, **({"price": PRICE, "store": "memory.db", "namespace": "acme"} | more))


def spend_all(model: Metered) -> BudgetSpent:
    for _ in range(10_000):
        try:
            model.complete(REQUEST)
        except BudgetHeld:
            continue
        except BudgetSpent as problem:
            return problem
    raise AssertionError("the budget has no end")


def test_calls_are_counted_and_stop_at_the_limit(tmp_path: Path) -> None:
    model = Counting()
    problem = spend_all(within(tmp_path, model, Limits(calls=10)))
    assert model.asked == 9  # a request may take two calls
    assert (problem.again, problem.outage, problem.retry_after) == (True, True, 3600)
    assert "calls" in problem.message


@pytest.mark.parametrize("limits", [Limits(tokens=60_000), Limits(cost=0.5), Limits(calls=7, tokens=60_000, cost=0.3)])
def test_no_limit_is_ever_exceeded(tmp_path: Path, limits: Limits) -> None:
    model = Counting(Usage(2, 3_000, 900))
    meter = within(tmp_path, model, limits)
    spend_all(meter)
    [spent] = meter.spent(today=True)
    assert model.asked >= 3
    assert limits.calls is None or spent.calls <= limits.calls
    assert limits.tokens is None or spent.input_tokens + spent.output_tokens <= limits.tokens
    assert limits.cost is None or spent.cost <= limits.cost


def test_many_workers_share_one_budget(tmp_path: Path) -> None:
    model, clock = Counting(), Clock()
    threads = [
        threading.Thread(target=lambda: spend_all(within(tmp_path, model, Limits(calls=20), clock))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 10 <= model.asked <= 20


def test_a_restart_does_not_begin_anew_and_the_next_day_does(tmp_path: Path) -> None:
    model, clock = Counting(), Clock()
    spend_all(within(tmp_path, model, Limits(calls=4), clock))
    asked = model.asked
    spend_all(within(tmp_path, model, Limits(calls=4), clock))
    assert model.asked == asked
    clock.now += timedelta(hours=1)
    spend_all(within(tmp_path, model, Limits(calls=4), clock))
    assert model.asked == asked * 2


def test_a_clock_that_goes_back_finds_its_day_again(tmp_path: Path) -> None:
    model, clock = Counting(), Clock()
    spend_all(within(tmp_path, model, Limits(calls=4), clock))
    asked = model.asked
    clock.now += timedelta(days=1)
    spend_all(within(tmp_path, model, Limits(calls=4), clock))
    clock.now -= timedelta(days=1)
    spend_all(within(tmp_path, model, Limits(calls=4), clock))
    assert model.asked == asked * 2


def test_what_others_hold_is_waited_for_and_not_taken_for_spent(tmp_path: Path) -> None:
    model, clock = Counting(), Clock()
    ledger, limits = SpendingLog(tmp_path / FILE, clock=clock), Limits(tokens=60_000)
    holds = [ledger.hold(Usage(1, 9_000, 1_000), 0.0, limits) for _ in range(6)]
    with pytest.raises(BudgetHeld) as told:
        ledger.hold(Usage(1, 9_000, 1_000), 0.0, limits)
    assert (told.value.again, told.value.outage, told.value.retry_after) == (True, True, None)
    pauses = [Retry().pause(1, Random(seed), told.value.retry_after) for seed in range(99)]
    assert max(pauses) <= timedelta(seconds=5)
    for held in holds:
        ledger.enter(held, "memory.db", "acme", "facts", model.name, Usage(1, 500, 100), None)
    for _ in range(5):
        ledger.hold(Usage(1, 9_000, 1_000), 0.0, limits)
    assert sum(one.input_tokens + one.output_tokens for one in ledger.spent("memory.db", "acme")) == 3_600


def test_what_a_killed_process_held_stays_counted_for_as_long_as_a_request_may_take(tmp_path: Path) -> None:
    model, clock = Counting(), Clock()
    model.problem = KeyboardInterrupt()  # type: ignore[assignment]
    meter = within(tmp_path, model, Limits(calls=5), clock)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            meter.complete(REQUEST)
    model.problem = None
    with pytest.raises(BudgetHeld):
        meter.complete(REQUEST)
    assert model.asked == 2
    clock.now += timedelta(minutes=31)
    meter.complete(REQUEST)


def test_failures_cost_what_they_took(tmp_path: Path) -> None:
    model = Counting()
    meter = within(tmp_path, model, Limits(calls=100))
    model.problem = WrongAnswer("wrong")
    model.problem.usage = Usage(2, 500, 50)
    with pytest.raises(WrongAnswer):
        meter.complete(REQUEST)
    model.problem = ModelUnreachable("down")
    with pytest.raises(ModelUnreachable):
        meter.complete(REQUEST)
    [spent] = meter.spent()
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (2, 500, 50)
    assert spent.cost == pytest.approx(PRICE.of(Usage(2, 500, 50)))


def test_a_budget_too_small_for_any_request_is_told_as_such(tmp_path: Path) -> None:
    model = Counting()
    with pytest.raises(ModelNotReady, match="too small"):
        within(tmp_path, model, Limits(calls=1)).complete(REQUEST)
    with pytest.raises(ModelNotReady, match="too small"):
        within(tmp_path, model, Limits(cost=0.0001)).complete(REQUEST)
    assert model.asked == 0


def test_what_was_spent_is_told_by_namespace_and_kind(tmp_path: Path) -> None:
    model, clock = Counting(), Clock()
    facts = Request(prompt=type(PROMPT)(name="facts", version=1, system="", schema={}), text="")
    acme = within(tmp_path, model, Limits(), clock)
    other = within(tmp_path, model, Limits(), clock, namespace="other")
    acme.complete(REQUEST)
    acme.complete(facts)
    acme.complete(facts)
    other.complete(REQUEST)
    assert [(row.kind, row.calls) for row in acme.spent()] == [("facts", 2), ("l1", 1)]
    assert [(row.kind, row.calls) for row in other.spent()] == [("l1", 1)]
    clock.now += timedelta(days=1)
    assert acme.spent(today=True) == []
    assert len(acme.spent()) == 2


def test_an_unknown_price_is_told_and_not_taken_for_nothing(tmp_path: Path) -> None:
    class Unpriced(Counting):
        def complete(self, request: Request) -> Completion:
            return Completion(data=GOOD, model=self.name, input_tokens=5, output_tokens=5)

    meter = within(tmp_path, Unpriced(), Limits(calls=10, cost=0.0), price=None)
    meter.complete(REQUEST)
    [spent] = meter.spent()
    assert (spent.cost, spent.unpriced) == (0.0, 1)


def test_without_a_place_to_count_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    model = Counting()
    with pytest.raises(ModelNotReady, match="counted"):
        metered(model, tmp_path / "file", Limits(), store="s", namespace="n").complete(REQUEST)
    assert model.asked == 0


def test_a_backlog_is_told_before_it_is_worked_off() -> None:
    requests = [Request(prompt=PROMPT, text="word " * 1_000, max_tokens=1_000) for _ in range(50)]
    told = estimate(requests, PRICE, Limits(calls=20, cost=100.0))
    assert told.calls == 50
    assert 1_300 * 50 < told.input_tokens < 1_800 * 50
    assert told.output_tokens == 25_000
    assert told.cost == pytest.approx(told.input_tokens / 1e6 + 25_000 * 5 / 1e6)
    assert told.days == 3
    assert estimate([], PRICE, Limits(calls=1)) == Estimate(0, 0, 0, 0.0, None)
    assert estimate(requests, None).cost is None


def test_what_is_held_is_more_than_any_request_takes() -> None:
    most = most_usage(REQUEST)
    assert most.calls == 2
    assert most.input_tokens > 2 * len(REQUEST.text) / 3
    assert most.output_tokens >= REQUEST.max_tokens * 3


def test_one_model_for_many_namespaces_is_counted_apart_and_bounded_together(tmp_path: Path) -> None:
    model = Counting()
    meter = within(tmp_path, model, Limits(calls=6))
    rex, luna = meter.within("acme/rex"), meter.within("acme/luna")
    for _ in range(2):
        rex.complete(REQUEST)
    luna.complete(REQUEST)
    spend_all(luna)
    assert [row.calls for row in rex.spent()] == [2]
    assert sum(row.calls for row in [*rex.spent(), *luna.spent()]) <= 6
    assert meter.spent() == []


# A backlog's cost is told before it is worked off, from the messages themselves, and nothing is asked for it.


class Asking:
    kind = "ask"

    def request(self, view: View, task: Task) -> Request | None:
        return request("l1", "word " * 1_000) if task.payload else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        raise AssertionError


@pytest.fixture
def model(tmp_path: Path) -> Metered:
    ledger = SpendingLog(tmp_path / "spending.db")
    return Metered(Counting(), ledger, Limits(calls=10), price=Price(1, 5), store="s", namespace="n")


def talk(memory: recollect.Memory, lines: Sequence[str]) -> None:
    first = memory.store_message(lines[0])
    for number, line in enumerate(lines[1:], 1):
        role = "assistant" if number % 2 else "user"
        memory.store_message(line, role, conversation_id=first.conversation_id)


def test_messages_that_wait_are_told_with_about_what_they_will_take(tmp_path: Path, model: Metered) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        for _ in range(3):
            talk(memory, ["word " * 100] * 48)
        found = backlog(memory.handle.space, [], model)
    assert (found.requests, found.conversations, found.messages) == (0, 3, 144)
    # facts, entities, tactical summaries, a block of them, the conversation; a day, a week and a month
    assert found.estimate.calls == 3 * (3 + 3 + 3 + 1 + 1) + 3
    assert 3 * 144 * 100 < found.estimate.input_tokens < 3 * 144 * 100 * 3
    assert found.estimate.cost is not None
    assert found.estimate.days == 4
    assert isinstance(model._model, Counting)
    assert model._model.asked == 0


def test_requests_that_are_due_are_told_as_they_are(tmp_path: Path, model: Metered) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        tasks = [Task(id=memory.handle.ids(), kind="ask", payload=payload) for payload in (b"1", b"2", b"")]
        memory.handle.space.write(Change(tasks=tasks))
        found = backlog(memory.handle.space, [Asking()], model)
    assert (found.requests, found.messages, found.estimate.calls) == (2, 0, 2)
    assert found.estimate == model.estimate([request("l1", "word " * 1_000)] * 2)


def test_what_was_only_pasted_called_or_deleted_costs_nothing(tmp_path: Path, model: Metered) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        first = memory.store_message("Hello")
        memory.store_message("x" * 100_000, "tool", conversation_id=first.conversation_id, kind="tool")
        memory.delete(first.id)
        found = backlog(memory.handle.space, [], model)
    assert (found.messages, found.estimate.calls, found.estimate.cost) == (0, 0, 0.0)
