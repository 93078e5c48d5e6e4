"""Counting in the embedded engine: what an import asks at its end does not read the whole memory."""

from __future__ import annotations

from contextlib import closing
from itertools import count
from pathlib import Path

import apsw

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.engines.sqlite.find import counts
from recollect.record import NodeId
from tests.store.builders import DEFAULT, START, change_of, talk


def steps_of_counting(place: Path, of: NodeId, others: int) -> int:
    """The instructions that SQLite carries out to count one conversation beside others."""
    talks = [talk(f"c{number}", "hello", "good morning", "and a good day") for number in range(others + 1)]
    with closing(SQLiteStore(place)) as store:
        store.space(DEFAULT).write(change_of(*talks))
    connection, steps = apsw.Connection(str(place)), count()
    connection.set_progress_handler(lambda: bool(next(steps) < 0), 1)
    found = counts(connection, 1, [of], START)
    assert (found.conversations, found.messages, found.turns) == (1, 3, 2)
    return next(steps)


def test_one_conversation_is_counted_by_what_is_in_it(tmp_path: Path) -> None:
    few, many = (steps_of_counting(tmp_path / f"{n}.db", talk("c0", "").conversation.id, n) for n in (5, 105))
    assert many - few < 60 * 100  # of the others only passages are counted, which is told of the whole
