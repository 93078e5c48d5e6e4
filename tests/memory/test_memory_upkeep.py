"""What the pages ask of a memory: is search well, what was deleted, what goes with what is forgotten, a kept report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.derive import worker
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import InvalidInput, NotFound, StoreError
from recollect.memory import Memory
from recollect.record import namespace


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as opened:
        yield opened


def test_a_probe_finds_what_is_there(memory: Memory) -> None:
    assert memory.upkeep.probe().well
    assert memory.upkeep.probe().message_id is None
    said = memory.store_message("The spare key to the cellar hangs behind the blue door.")
    probe = memory.upkeep.probe()
    assert (probe.well, probe.message_id) == (True, said.id)
    assert probe.took_ms > 0


def test_a_probe_of_copies_finds_one_of_them(memory: Memory) -> None:
    for _ in range(20):
        memory.store_message("ok thanks a lot, that works")
    assert memory.upkeep.probe().well


def test_what_was_deleted_is_listed_by_conversation_until_it_is_restored_or_forgotten(memory: Memory) -> None:
    kept = memory.store_message("We drop Redis for the queue.", title="Queue")
    gone = memory.store_message("And the licence changed too.", conversation_id=kept.conversation_id)
    other = memory.store_message("Buy rye flour, the coarse one.", title="Bread")
    memory.delete(gone.id, other.id)
    rows = memory.upkeep.deleted()
    assert [(row.conversation.title, [m.id for m in row.messages]) for row in rows] == [
        ("Bread", [other.id]),
        ("Queue", [gone.id]),
    ]
    assert [row.conversation.title for row in memory.upkeep.deleted(limit=1, offset=1)] == ["Queue"]
    memory.restore(gone.id)
    memory.forget(other.conversation_id)
    assert memory.upkeep.deleted() == []


def test_what_was_made_of_it_is_counted_before_it_goes(memory: Memory) -> None:
    first = memory.store_message("My sister Ana lives in Porto and works as a nurse.", title="Family")
    memory.store_messages(
        [{"content": f"Ana told me about her shift number {n} in Porto."} for n in range(12)],
        conversation_id=first.conversation_id,
    )
    memory.upkeep.consolidate()
    plan = memory.forget(first.conversation_id, dry_run=True)
    assert plan.messages == 13
    assert plan.derived["fact"] >= 1
    assert plan.derived["summary"] >= 1
    assert memory.forget(first.conversation_id) == plan
    assert not memory.facts()


def test_a_kept_report_comes_with_what_it_cites(memory: Memory) -> None:
    for title, text in (
        ("Queue incident", "Redis lost jobs at failover."),
        ("Decision", "We drop Redis for Postgres."),
    ):
        memory.store_message(text, title=title)
    made = memory.research("what happened to Redis, and why did we drop Redis?")
    kept = memory.report(made.id[-8:])
    assert (kept.id, kept.title, kept.text, kept.known) == (made.id, made.title, made.text, made.known)
    assert [(c.number, c.quote, c.conversation) for c in kept.citations] == [
        (c.number, c.quote, c.conversation) for c in made.citations
    ]
    assert kept.citations
    memory.delete(kept.citations[0].message.id)
    with pytest.raises(NotFound):  # it was made of something that is hidden now
        memory.report(made.id)
    with pytest.raises(NotFound):
        memory.report("nothing")
    with pytest.raises((NotFound, InvalidInput)):
        memory.report("")


def test_a_worker_ends_where_trying_again_would_not_help(memory: Memory) -> None:
    memory.close()
    with pytest.raises(StoreError, match="This memory is closed"):
        memory.upkeep.work(is_over=lambda idle, attempt: idle > 0)


def test_a_worker_that_works_until_nothing_is_left_does_all_the_upkeep(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_UPKEEP", timedelta(0))  # as where there is much to do
    said = memory.store_message("The heron stands.")
    memory.store_message("It waits.")
    memory.upkeep.work(once=True)
    with closing(SQLiteStore(Path(memory.location))) as store:
        space = store.space(namespace(memory.namespace))
        with space.view() as view:
            memory.forget(said.id)  # its words are wiped out when nobody reads any more
            for _ in range(9):
                space.generation("begin", view.index().embedder)
                space.generation("drop")
    memory.upkeep.work(once=True)
    with closing(apsw.Connection(memory.location)) as connection:
        assert connection.execute("SELECT scrub FROM about").get == 0
