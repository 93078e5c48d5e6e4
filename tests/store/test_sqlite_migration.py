"""A memory of 0.1.0 becomes one of today: the record is the same, what is derived is made again from it."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import recollect
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import StoreError
from recollect.record import Chunk, Conversation, Document, Namespace, Thread, namespace
from recollect.record.wire import dumps, thread_to_wire, to_wire
from recollect.store import Change, IndexDamaged, Space, Where
from tests.store.builders import (
    DEFAULT,
    change_of,
    embedder_id,
    holding,
    index_of,
    passages_of,
    query,
    talk,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
REX = namespace("acme/rex")
DUMPS = {DEFAULT: "memory-0.1.0.default.jsonl.gz", REX: "memory-0.1.0.acme+rex.jsonl.gz"}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that 0.1.0 wrote."""
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress((FIXTURES / "memory-0.1.0.db.gz").read_bytes()))
    return path


def dumped(name: Namespace) -> list[dict[str, Any]]:
    """What 0.1.0 exported of it."""
    return [json.loads(line) for line in gzip.decompress((FIXTURES / DUMPS[name]).read_bytes()).splitlines()]


def threads(space: Space) -> dict[str, Thread]:
    with space.view() as view:
        found = [view.thread(c.id) for c in view.find(Conversation, Where(), limit=999).items]
    return {t.conversation.id: t for t in found if t is not None}


def wired(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What a dump of today says of a record."""
    found: dict[str, Any] = json.loads(dumps(plain))
    return found


def without(row: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in fields}


def of_callers(row: dict[str, Any]) -> dict[str, Any]:
    """With tool calls of the message that called: in 0.1.0 those stored live were of their results."""
    messages = {message["id"]: message for message in row["messages"]}
    for call in row["tool_calls"]:
        while call["message_id"] == call.get("result_message_id") or messages[call["message_id"]]["role"] == "tool":
            if "parent_id" not in messages[call["message_id"]]:
                break
            call["message_id"] = messages[call["message_id"]]["parent_id"]
    return row


@pytest.mark.parametrize("name", [DEFAULT, REX])
def test_the_record_is_the_same(path: Path, name: Namespace) -> None:
    store = SQLiteStore(path)
    space = store.space(name)
    rows = dumped(name)
    found = [wired(thread_to_wire(thread)) for _, thread in sorted(threads(space).items())]
    assert found == [of_callers(without(row, "type", "windows")) for row in rows if row.get("type") == "conversation"]
    assert any(message.get("versions") for thread in found for message in thread["messages"]) or name == REX
    with space.view() as view:
        documents = view.find(Document, Where()).items
        papers = [
            {**wired(to_wire(d)), "chunks": [wired(to_wire(c)) for c in view.get(Chunk, [d.id])]} for d in documents
        ]
        edges = [wired(to_wire(edge)) for edge in view.edges(None)]
    assert papers == [without(row, "type") for row in rows if row.get("type") == "document"]
    assert edges == [row["edge"] for row in rows if row.get("type") == "edge"]
    store.close()


def test_there_is_no_index_until_one_is_built(path: Path) -> None:
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    with space.view() as view:
        assert (view.index().generation, view.index().embedder) == (0, None)
        assert view.counts().passages == 0
        with pytest.raises(IndexDamaged, match="not built yet"):
            view.candidates(query("bread"))
        assert view.scan(["bread"], 5)
    assert [(v.invariant, v.remedy) for v in space.check()] == [
        ("the messages of an older version are in the search index", "reindex")
    ]
    late = talk("late", "a zeppelin lands")
    space.write(change_of(late))  # is kept, and found when the index is built
    with space.view() as view:
        assert view.index().embedder is None
    number = space.generation("begin", embedder_id())
    for thread in threads(space).values():
        space.write(Change(index=index_of(passages_of(thread), generation=number)))
    with space.view() as view:
        documents = view.find(Document, Where()).items
    assert documents
    space.generation("publish")
    assert holding(space, "zeppelin lands") == ["a zeppelin lands"]
    space.write(change_of(talk("later", "another zeppelin")))
    assert len(holding(space, "zeppelin")) == 2
    assert space.check() == []
    store.close()
    assert not store.database.path.with_name("memory.db-wal").exists()


def test_it_is_upgraded_once_and_no_old_byte_is_left_free(path: Path) -> None:
    SQLiteStore(path).close()
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA freelist_count").get == 0
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert list(connection.execute("PRAGMA foreign_key_check")) == []
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    fresh = path.with_name("fresh.db")
    SQLiteStore(fresh).close()
    with closing(apsw.Connection(str(fresh))) as connection:
        assert tables == {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    store = SQLiteStore(path)
    assert not store.database.migrated
    store.close()


def test_a_store_on_a_read_only_disk_asks_for_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.engines.sqlite.connection.prepare", lambda _, create: False)
    with pytest.raises(StoreError, match="has to be upgraded, but it is read-only"):
        SQLiteStore(path)
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA user_version").get == 1


def test_a_running_program_of_0_1_0_can_write_no_more(path: Path) -> None:
    """S8: what it would write begins with this statement, and reading with the other."""
    with closing(apsw.Connection(str(path))) as old:
        assert old.execute("SELECT ns FROM namespace WHERE name = 'default'").get
        SQLiteStore(path).close()
        for statement in (
            "SELECT ns FROM namespace WHERE name = 'default'",
            "SELECT embedder FROM namespace WHERE ns = 1",
            "UPDATE namespace SET changes = changes + 1 WHERE ns = 1",
            "INSERT INTO passage (ns, lane, row) VALUES (1, 0, 0)",
        ):
            with pytest.raises(apsw.SQLError):
                old.execute(statement)
        # An old program that opens it anew looks for this, and says who wrote it.
        assert old.execute("SELECT sum(name = 'namespace') FROM sqlite_schema").get == 1
        assert old.execute("SELECT written_by FROM about").get


def test_killed_at_any_moment_it_opens_again(path: Path) -> None:
    raw = path.read_bytes()
    rng = random.Random(7)
    code = "import sys; from pathlib import Path; from recollect.engines.sqlite.engine import SQLiteStore\n"
    code += "print('go', flush=True); SQLiteStore(Path(sys.argv[1])); print('done', flush=True)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    versions = set()
    for attempt in range(12):
        for left in path.parent.iterdir():
            left.unlink()
        path.write_bytes(raw)
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, env=environment)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.uniform(0, 0.1) if attempt else 0)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        with closing(apsw.Connection(str(path))) as connection:
            versions.add(connection.execute("PRAGMA user_version").get)
        store = SQLiteStore(path)
        assert len(threads(store.space(DEFAULT))) == sum(r.get("type") == "conversation" for r in dumped(DEFAULT))
        assert [v.remedy for v in store.space(DEFAULT).check()] == ["reindex"]
        store.close()
    assert versions <= {1, 2, 3}


def test_live_calls_of_an_older_version_move_to_the_message_that_called(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, background=False) as memory:
        asked = memory.store_message("How is the wind?")
        calls = memory.integration.store_tool_calls(
            [{"name": n, "arguments": "{}", "result": f"{n} 7"} for n in "ab"], asked.id
        )
        assert {call.message_id for call in calls} == {asked.id}
    with closing(apsw.Connection(str(path))) as older:
        older.execute("UPDATE tool_call SET message_id = result_message_id; PRAGMA user_version = 2")
    with recollect.open(path, background=False) as memory:
        assert [call.message_id for call in memory.integration.tool_calls([call.id for call in calls])] == [
            asked.id
        ] * 2
        assert memory.upkeep.check() == []
