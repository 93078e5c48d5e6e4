"""A further message costs the same, however long the conversation is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from recollect.derive.summaries.deriver import Summaries
from recollect.derive.tasks.base import Cursor, Portion, Setting, cursor_id
from recollect.derive.tasks.queue import due
from recollect.record import Conversation, Message, Node
from recollect.store import Change
from tests.derive.histories import Clock, opened
from tests.derive.summaries.talks import CONVERSATION, alternating, embedder

_MOST_READ = 120  # messages that wait, and a few nodes
_MOST_PUT = 3  # the conversation's summary, and an L1 with its L2
_MOST_STATE = 6_000  # bytes


class Counting:
    """A view that counts what is read through it."""

    def __init__(self, view: Any) -> None:
        self._view, self.read = view, 0

    def get(self, kind: Any, ids: Sequence[Any]) -> list[Any]:
        self.read += len(ids)
        found: list[Any] = self._view.get(kind, ids)
        return found


@pytest.mark.parametrize("count", [40, 400, 1_600])
def test_appending_reads_and_writes_no_more_the_longer_the_talk(tmp_path: Path, count: int) -> None:
    talk = alternating([f"Luna barked for {n} minutes, then she slept." for n in range(count + 12)])
    with opened(tmp_path / "memory.db", Clock()) as memory:
        conversation = Conversation(CONVERSATION, "test", leaf_id=talk[count - 1].id)
        memory.handle.space.write(Change(put=[conversation, *talk[:count]], tasks=due([CONVERSATION])))
        memory.upkeep.consolidate()
        with memory.handle.space.view() as view:
            cursor = Cursor.read(view.get(Node, [cursor_id(CONVERSATION)])[0])
            assert cursor is not None
            assert len(orjson.dumps(dict(cursor.states["summaries"]))) < _MOST_STATE
            for more in range(1, 12):
                counting = Counting(view)
                effects = _derive(counting, conversation, talk[count : count + more], cursor)
                assert counting.read < _MOST_READ
                assert len(effects.put) <= _MOST_PUT
                assert len(effects.edges) < _MOST_READ


def _derive(view: Any, conversation: Conversation, new: Sequence[Message], cursor: Cursor) -> Any:
    portion = Portion(
        conversation=conversation, messages=tuple(new), whole=False, state=dict(cursor.states["summaries"])
    )
    return Summaries(embedder()).derive(view, [portion], Setting(now=Clock().now))
