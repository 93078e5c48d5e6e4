"""Several processes on one store: nobody sees "database is locked", nothing is lost, and errors say what to do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.engines.sqlite.schema import MIGRATIONS
from recollect.errors import StoreBusy, StoreError
from recollect.memory import Handle, Memory
from tests.exports import chat, dump_of, export, imported, opened
from tests.processes import finished, started
from tests.store.builders import embedder

pytestmark = pytest.mark.slow

CONVERSATIONS = 40


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export that takes some batches."""
    words = ("tide", "weir", "belfry", "heron")
    chats = [
        chat(*(f"{words[(n + i) % 4]} {i} of {n}, as ever" for i in range(30)), name=f"c{n}", title=f"Talk {n}")
        for n in range(CONVERSATIONS)
    ]
    return export(tmp_path_factory.mktemp("large"), chats)


@contextmanager
def writing(store: Path, seconds: float) -> Iterator[None]:
    """Another process holds the right to write meanwhile."""
    process = started("hold", store, str(seconds))
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield
    finished(process)


def test_one_imports_while_three_search(tmp_path: Path, large: Path) -> None:
    store = tmp_path / "memory.db"
    searching = [
        started("search", store, str(CONVERSATIONS), "tide weir", "belfry", "where is the heron?") for _ in range(3)
    ]
    finished(started("import", store, large))
    told = [json.loads(finished(process)[-1]) for process in searching]
    assert all(one["searches"] > 3 for one in told)
    assert all(one["hits"] > 0 for one in told)
    with opened(store) as memory, imported(tmp_path / "alone.db", large) as alone:
        assert memory.upkeep.check() == []
        assert dump_of(memory) == dump_of(alone)


def test_two_import_the_same_export_at_once(tmp_path: Path, large: Path) -> None:
    store = tmp_path / "memory.db"
    for process in [started("import", store, large) for _ in range(2)]:
        finished(process)
    with opened(store) as memory, imported(tmp_path / "alone.db", large) as alone:
        assert memory.upkeep.check() == []
        assert dump_of(memory) == dump_of(alone)
        assert memory.upkeep.stats() == alone.upkeep.stats()


def test_two_append_to_the_same_conversation_at_once(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    told: list[str] = []
    with started("append", store, "C") as one, started("append", store, "C") as other:
        assert one.stdout
        assert other.stdout
        told += [process.stdout.readline().strip() for _ in range(40) for process in (one, other) if process.stdout]
        for process in (one, other):
            process.kill()
    with opened(store) as memory:
        assert memory.upkeep.check() == []
        assert len(memory.messages(told)) == 80
        assert all(message.active for message in memory.conversation("C").messages)


def test_threads_share_a_memory(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:

        def work(number: int) -> int:
            talk = memory.store_message(f"tide {number}", conversation_id=f"C{number % 3}").conversation_id
            return len(memory.search("tide", group_by="message", conversation=talk))

        with ThreadPoolExecutor(6) as threads:
            assert all(threads.map(work, range(60)))
        assert memory.upkeep.stats().messages == 60
        assert memory.upkeep.check() == []


def test_an_append_waits_for_another_writer(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with opened(store) as memory:
        memory.store_message("before")
        with writing(store, 1.0):
            began = time.perf_counter()
            stored = memory.store_message("after")
            assert 0.3 < time.perf_counter() - began < 5
        assert memory.messages([stored.id]) == [stored]


def test_reading_waits_for_nobody(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with opened(store) as memory:
        memory.store_message("where is the heron?")
        with writing(store, 0.5), opened(store) as reader:
            began = time.perf_counter()
            assert reader.search("heron")
            assert reader.upkeep.check() == []
            assert time.perf_counter() - began < 0.4


def test_waiting_too_long_says_for_what_and_what_to_do(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    opened(store).close()
    told: list[str] = []
    patient = Memory(
        Handle(SQLiteStore(store, wait=2.5, on_wait=lambda: told.append("waiting"), durable=False), embedder())
    )
    with opened(store, wait=0.2) as memory, patient, writing(store, 3.5):
        with pytest.raises(StoreBusy, match=r"Another process has been writing to .*memory\.db") as caught:
            memory.store_message("too late")
        assert "locked" not in str(caught.value)
        assert caught.value.hint
        with pytest.raises(StoreBusy, match="for 2"):
            patient.store_message("too late as well")
    assert told == ["waiting"]


# --- what cannot be opened -----------------------------------------------------------------------------------------


def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk, bread, a kiln\n" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt is not a Recollect store") as caught:
        opened(path)
    assert "RECOLLECT_HOME" in caught.value.hint
    assert path.read_text() == "milk, bread, a kiln\n" * 100


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE message (id, text); INSERT INTO message VALUES (1, 'not yours')")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"history\.sqlite is not a Recollect store"):
        opened(path)
    assert path.read_bytes() == before


def test_a_store_of_a_newer_recollect_says_so(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        memory.store_message("hello")
    later = apsw.Connection(str(path))
    later.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}; UPDATE about SET written_by = '99.1'")
    later.close()
    with pytest.raises(StoreError, match=r"was written by Recollect 99\.1, this is \d") as caught:
        opened(path)
    assert "pip install -U recollect" in caught.value.hint
    assert "recollect export" in caught.value.hint


def test_in_a_folder_lies_the_memory_of_its_name(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        stored = memory.store_message("hello")
    with opened(tmp_path / "memory.db") as memory:
        assert memory.messages([stored.id]) == [stored]


def test_below_a_file_there_is_no_store(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StoreError, match="cannot be created"):
        opened(file / "memory.db")


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    with recollect.open(tmp_path / "memory.db") as memory:
        memory.store_message("hello")
        assert memory.upkeep.check() == []


def test_a_damaged_store_is_told_with_what_to_do(tmp_path: Path, large: Path) -> None:
    path = tmp_path / "memory.db"
    imported(path, large).close()
    data = bytearray(path.read_bytes())
    for at in range(8192, len(data), 16_384):
        data[at : at + 2048] = b"\xa5" * 2048
    path.write_bytes(data)
    with pytest.raises(StoreError, match="is damaged") as caught, opened(path) as memory:
        dump_of(memory)
    assert "recollect export" in caught.value.hint
