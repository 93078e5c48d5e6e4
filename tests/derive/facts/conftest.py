from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.derive.facts.correct import SETTLE, SettleWork
from recollect.derive.facts.deriver import Facts
from recollect.derive.tasks.base import Setting
from recollect.derive.tasks.conversation import ConversationWork
from recollect.derive.tasks.queue import CONVERSATION
from recollect.memory import Memory
from recollect.store import Change
from tests.exports import embedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTING = Setting(now=NOW)


def drain(memory: Memory) -> None:
    """Does all tasks that facts need, as a worker does."""
    space = memory.handle.space
    while leases := space.claim("w", [CONVERSATION], 100, timedelta(minutes=5)):
        ConversationWork(space, [Facts()], embedder()).run(leases, SETTING)
    for lease in space.claim("w", [SETTLE], 100, timedelta(minutes=5)):
        with space.view() as view:
            made = SettleWork().run(view, lease.task, SETTING)
        space.write(Change(leases=[lease], put=made.put, edges=made.edges, cut=made.cut, revive=True))


def contents(memory: Memory, about: str | None = None, **more: object) -> list[str]:
    return sorted(fact.content for fact in memory.facts(about, **more))  # type: ignore[arg-type]


@pytest.fixture
def make_memory(tmp_path: Path) -> Callable[..., Memory]:
    def make(name: str = "memory", namespace: str = "default") -> Memory:
        return recollect.open(tmp_path / f"{name}.db", namespace=namespace, durable=False)

    return make


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory()
