"""A small memory with all that tools open: talks on two branches, a long tool result, facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from recollect.answer.tools import Toolbox
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.memory import Handle, Memory
from recollect.record import Message, ToolCall, stable_id
from recollect.store import Store
from tests.store.builders import embedder

NOW = datetime(2025, 3, 14, 12, 0, tzinfo=UTC)

#: Some 200,000 tokens, with one line that no other is like.
HUGE = "\n\n".join(
    "Line 7007: the harbour master keeps the brass sextant." if i == 7007 else f"Line {i}: swell of {i % 97} cm."
    for i in range(17_000)
)


@dataclass
class Talk:
    """What was said in it, in order."""

    memory: Memory
    messages: list[Message]
    call: ToolCall

    @property
    def box(self) -> Toolbox:
        return self.memory.toolbox()


def spoken(store: Store) -> Talk:
    """The talk, in an empty store: the same ids wherever it is."""
    numbers = count(1)
    memory = Memory(Handle(store, embedder(), clock=lambda: NOW, ids=lambda: stable_id("talk", next(numbers))))
    said = [
        memory.store_message(
            f"Word {i} of the talk about the ferry to Cacilhas.",
            "assistant" if i % 2 else "user",
            conversation_id="01TALK",
            title="Ferries",
            timestamp=NOW - timedelta(days=30 - i),
        )
        for i in range(30)
    ]
    asked = memory.store_message("What is the swell?", title="Swell", timestamp=NOW - timedelta(minutes=2))
    earlier = NOW - timedelta(minutes=1)
    call = memory.store_tool_call("swell.list", '{"from": 0}', HUGE, asked.id, timestamp=earlier)
    memory.store_message("It is all in there.", "assistant", conversation_id=asked.conversation_id, timestamp=NOW)
    return Talk(memory, [*said, asked], call)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    talk = spoken(SQLiteStore(tmp_path_factory.mktemp("tools") / "memory.db", durable=False))
    yield talk
    talk.memory.close()
