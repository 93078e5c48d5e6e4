"""An import into another process reads and plans the next batch while one is written, and comes out as if it did not.

A file that is said to be far away stands in for a server: what is tried here is the order of things, not the engine.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect.ingest.importing
from recollect.engines.sqlite.engine import SQLiteSpace
from recollect.errors import StoreError
from recollect.importers.records import merge
from recollect.ingest.importing import ImportReport, Progress
from recollect.store.change import Change
from tests.exports import START, Json, chat, dump_of, export, file, lines, messages_of, opened
from tests.interrupting import at_every_moment
from tests.properties import examples

LATER = START + 3600
NOW = datetime(2026, 3, 1, tzinfo=UTC)
_WAIT = 10.0  # seconds, for what comes at once


@pytest.fixture(autouse=True)
def far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SQLiteSpace, "remote", True)
    monkeypatch.setattr(recollect.ingest.importing, "BATCH_MESSAGES", 4)


def talks(count: int, length: int = 4) -> list[Json]:
    return [chat(*(f"message {i} of talk {n}" for i in range(length)), name=f"talk{n}") for n in range(count)]


def told_of(report: ImportReport) -> tuple[object, ...]:
    done = report.written
    return done.new, done.changed, done.same, done.messages, sorted(done.ids), sorted(done.apart), report.stored


# --- the same as one after the other ---------------------------------------------------------------------------------

words = st.sampled_from(["heron", "otter", "weir"])
conversations = st.tuples(
    st.lists(words, min_size=1, max_size=5), st.sampled_from([None, None, "a", "b", "c"]), st.booleans()
)


def record(says: Sequence[str], name: str | None, numbered: bool) -> Json:
    roles = ("user", "assistant")
    messages = [
        {"role": roles[i % 2], "content": text, **({"id": f"{name}/{i}"} if numbered and name else {})}
        for i, text in enumerate(says)
    ]
    return {"messages": messages, **({"id": name} if name else {})}


@settings(max_examples=examples(25))
@given(st.lists(st.lists(conversations, min_size=1, max_size=6), min_size=1, max_size=2))
def test_it_comes_out_as_one_batch_after_the_other_does(archives: list[list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        paths = [
            file(Path(scratch) / f"{at}.jsonl", lines(*(record(*one) for one in archive)))
            for at, archive in enumerate(archives)
        ]
        outcomes = []
        for remote in (False, True):
            with pytest.MonkeyPatch.context() as patch, opened(Path(scratch) / f"{remote}.db") as memory:
                patch.setattr(SQLiteSpace, "remote", remote)
                patch.setattr(merge, "utc_now", lambda: NOW)
                told = [told_of(memory.import_file(path)) for path in paths]
                assert memory.upkeep.check() == []
                outcomes.append((told, dump_of(memory)))
        assert outcomes[0] == outcomes[1]


def test_what_somebody_else_writes_meanwhile_is_planned_again(tmp_path: Path) -> None:
    old = export(tmp_path / "old", [chat("one heron", "two otters", name="c1"), *talks(2)])
    new = export(
        tmp_path / "new", [chat("one heron", "two ospreys", "three weirs", name="c1", updated=LATER), *talks(3)]
    )
    said = sorted({m for n in range(3) for m in (f"message {i} of talk {n}" for i in range(4))})
    races = at_every_moment(
        tmp_path / "races",
        lambda memory: None,
        lambda memory: memory.import_file(new),
        lambda memory: memory.import_file(old),
    )
    for memory in races:
        texts = sorted(m.content for m in messages_of(memory))
        assert texts == sorted([*said, "one heron", "two ospreys", "three weirs"])
        assert memory.upkeep.check() == []


# --- one is written while the next is planned ------------------------------------------------------------------------


def test_the_next_batch_is_planned_while_one_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned, writing = threading.Event(), threading.Event()
    overlapped: list[bool] = []
    write, view = SQLiteSpace.write, SQLiteSpace.view

    def slowly(space: SQLiteSpace, change: Change) -> None:
        if not overlapped:
            writing.set()
            overlapped.append(planned.wait(_WAIT))
        write(space, change)

    def watched(space: SQLiteSpace) -> Any:
        if writing.is_set() and threading.current_thread() is threading.main_thread():
            planned.set()
        return view(space)

    monkeypatch.setattr(SQLiteSpace, "write", slowly)
    monkeypatch.setattr(SQLiteSpace, "view", watched)
    with opened(tmp_path / "memory.db") as memory:
        memory.import_file(export(tmp_path / "export", talks(3)))
        assert memory.upkeep.stats().messages == 12
    assert overlapped == [True]


def test_progress_is_told_in_order_by_who_imports(tmp_path: Path) -> None:
    told: list[tuple[Progress, threading.Thread]] = []
    with opened(tmp_path / "memory.db") as memory:
        exported = export(tmp_path / "export", talks(6))
        report = memory.import_file(exported, progress=lambda p: told.append((p, threading.current_thread())))
    assert {thread for _, thread in told} == {threading.current_thread()}
    assert list(dict.fromkeys(p.messages for p, _ in told)) == [4, 8, 12, 16, 20, 24]
    assert told[-1][0].conversations == report.written.new == 6
    reads = [p.read for p, _ in told]
    assert reads == sorted(reads)
    assert 0 < reads[-1] <= told[-1][0].total


def test_each_batch_is_followed_by_upkeep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    write, maintain = SQLiteSpace.write, SQLiteSpace.maintain

    def written(space: SQLiteSpace, change: Change) -> None:
        calls.append("write")
        write(space, change)

    def maintained(space: SQLiteSpace, budget: timedelta) -> bool:
        calls.append("maintain")
        return maintain(space, budget)

    monkeypatch.setattr(SQLiteSpace, "write", written)
    monkeypatch.setattr(SQLiteSpace, "maintain", maintained)
    with opened(tmp_path / "memory.db") as memory:
        memory.import_file(export(tmp_path / "export", talks(2)))
    assert calls[:4] == ["write", "maintain", "write", "maintain"]


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_write_that_fails_ends_the_import_and_no_later_one_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = SQLiteSpace.write, iter(range(100))

    def failing(space: SQLiteSpace, change: Change) -> None:
        if next(count) == 1:
            raise StoreError("The disk is full.")
        write(space, change)

    with opened(tmp_path / "memory.db") as memory:
        exported = export(tmp_path / "export", talks(6))
        with monkeypatch.context() as patch:
            patch.setattr(SQLiteSpace, "write", failing)
            with pytest.raises(StoreError, match="The disk is full"):
                memory.import_file(exported)
        assert next(count) == 2
        assert memory.upkeep.stats().messages == 4
        memory.import_file(exported)
        assert memory.upkeep.stats().messages == 24
        assert memory.upkeep.check() == []


def test_an_interrupt_leaves_whole_batches_and_nothing_that_is_still_being_written(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with opened(tmp_path / "memory.db") as memory:
        exported = export(tmp_path / "export", talks(6))
        with pytest.raises(KeyboardInterrupt):
            memory.import_file(exported, progress=interrupt)
        left = [t for t in threading.enumerate() if t.name.startswith("recollect-import")]
        for thread in left:
            thread.join(_WAIT)
        found = memory.upkeep.stats().messages
        assert found in (4, 8)
        assert memory.upkeep.check() == []
        memory.import_file(exported)
        assert memory.upkeep.stats().messages == 24


def test_a_file_that_breaks_off_keeps_what_was_read_of_it(tmp_path: Path) -> None:
    whole = [json.dumps(record([f"message {i} of {n}" for i in range(4)], f"c{n}", True)) for n in range(4)]
    path = file(tmp_path / "cut.jsonl", ("\n".join(whole) + '\n{"messages": [{"role"').encode())
    with opened(tmp_path / "memory.db") as memory:
        report = memory.import_file(path)
        assert report.stored.messages == 16
        assert report.problems


def test_no_thread_is_left_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with opened(tmp_path / "memory.db") as memory:
        memory.import_file(export(tmp_path / "export", talks(3)))
        left = set(threading.enumerate()) - before
        for thread in left:
            thread.join(_WAIT)
        assert not any(thread.is_alive() for thread in left)
