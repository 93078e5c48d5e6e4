"""A backlog's cost is told before it is worked off, from the messages themselves, and nothing is asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import recollect
from recollect.derive.tasks.base import Effects, Setting
from recollect.derive.tasks.runs import backlog
from recollect.models.language.base import Completion, Request
from recollect.models.language.budget import Limits, Metered, SpendingLog
from recollect.models.language.prices import Price
from recollect.models.language.prompts import request
from recollect.store import Change, Task, View
from tests.models.language.test_budget import Counting


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
