"""Damage: what is derived is told apart from the record, and is made anew from it (U6)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from itertools import product
from pathlib import Path

import apsw
import pytest

from recollect.engines.codec import decode, encode, names
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import StoreDamaged
from recollect.memory import Memory
from recollect.record import Conversation, NodeId
from recollect.store import Change, IndexDamaged, Space, Where
from tests.exports import opened
from tests.store.builders import DEFAULT, change_of, embedder_id, holding, index_of, passages_of, query, talk

pytestmark = pytest.mark.slow


def tail(connection: apsw.Connection) -> None:
    connection.execute("UPDATE tail SET terms = 'x' WHERE num = (SELECT max(num) FROM tail WHERE partition = 0)")


def short_vector(connection: apsw.Connection) -> None:
    connection.execute(
        "UPDATE tail SET vector = zeroblob(3) WHERE num = (SELECT max(num) FROM tail WHERE partition = 0)"
    )


def flipped(connection: apsw.Connection) -> None:
    num, data = connection.execute("SELECT num, data FROM segment_data ORDER BY num LIMIT 1").get
    middle = len(data) // 2
    wrong = data[:middle] + bytes(b ^ 0xFF for b in data[middle : middle + 200]) + data[middle + 200 :]
    connection.execute("UPDATE segment_data SET data = ? WHERE num = ?", (wrong, num))


def cut_off(connection: apsw.Connection) -> None:
    connection.execute("UPDATE segment_data SET data = substr(data, 1, 999)")


def gone(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM segment_data")


def words(connection: apsw.Connection) -> None:
    connection.execute("UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10")


DAMAGES: list[Callable[[apsw.Connection], None]] = [tail, short_vector, flipped, cut_off, gone, words]


def filled(path: Path) -> SQLiteStore:
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    space.write(change_of(*(talk(f"t{i}", *(f"heron {i} {j}" for j in range(50))) for i in range(45))))
    while space.maintain(timedelta(seconds=30)):
        pass
    space.write(change_of(talk("late", "an egret flies", "a heron too")))
    return store


def reindexed(space: Space) -> None:
    number = space.generation("begin", embedder_id())
    with space.view() as view:
        threads = [view.thread(c.id) for c in view.find(Conversation, Where(), limit=999).items]
    passages = [p for t in threads if t is not None for p in passages_of(t)]
    space.write(Change(index=index_of(passages, generation=number)))
    space.generation("publish")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_told_and_built_anew(tmp_path: Path, damage: Callable[[apsw.Connection], None]) -> None:
    path = tmp_path / "memory.db"
    filled(path).close()
    with closing(apsw.Connection(str(path))) as connection:
        damage(connection)
    shutil.rmtree(path.with_name("memory.db-index"))  # what is mapped was made before, and is whole
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    with space.view() as view:
        with pytest.raises(IndexDamaged, match="recollect reindex"):
            view.candidates(query("heron", phrases=(("heron",),)))
        assert [m.content for m in view.scan(["egret"], 5)] == ["an egret flies"]
        assert view.counts().messages == 2252
    violations = space.check()
    assert violations
    assert {v.remedy for v in violations} == {"reindex"}
    space.write(change_of(talk("more", "a zeppelin lands")))  # goes on
    space.maintain(timedelta(seconds=30))
    reindexed(space)
    while space.maintain(timedelta(seconds=30)):
        pass
    assert holding(space, "zeppelin") == ["a zeppelin lands"]
    assert holding(space, "egret") == ["an egret flies"]
    assert space.check() == []
    store.close()


def test_what_lies_beside_the_store_may_be_anything(tmp_path: Path) -> None:
    store = filled(tmp_path / "memory.db")
    folder = tmp_path / "memory.db-index"
    before = holding(store.space(DEFAULT), "egret")
    store.close()
    for file in folder.glob("*") if folder.exists() else ():
        file.write_bytes(b"nonsense" * 99)
    store = SQLiteStore(tmp_path / "memory.db")
    assert holding(store.space(DEFAULT), "egret") == before
    store.close()


TWICE = """
INSERT INTO passage SELECT num + 99999, gen, partition, owner, owner_num, part, start, end, session, 0 FROM passage
WHERE num = 2
"""
ORPHAN = (
    "INSERT INTO chunk (ns, id, parent_id, part, idx, start, end, tokens) VALUES (1, 'c', 'nobody', -1, 0, 0, 1, 1)"
)
BROKEN = [
    ("reindex", "DELETE FROM passage WHERE num = 2", "what has words is in the search index"),
    ("reindex", TWICE, "nothing is in the search index twice"),
    ("reindex", "UPDATE passage SET owner_num = 99 WHERE num = 2", "the search index leads to things that are there"),
    ("reindex", "DELETE FROM words WHERE rowid = 2", "every passage has its words"),
    ("reindex", "DELETE FROM tail WHERE num = 2", "every passage is in one segment or in the tail"),
    ("reindex", "UPDATE message SET deleted = 1 WHERE num = 2", "what is deleted is not in the search index"),
    ("backup", "UPDATE message SET parent_id = 'nobody' WHERE num = 2", "the parent of a message is a message"),
    ("backup", "UPDATE message SET position = 999 WHERE num = 2", "the positions of a conversation run from 0"),
    ("backup", "UPDATE conversation SET leaf_id = NULL WHERE num = 2", "the active path ends"),
    ("backup", "UPDATE message SET active = 0 WHERE num = 2", "the parent of an active message is active"),
    ("backup", "UPDATE turn SET query_id = 'nobody' WHERE num = 2", "a turn names messages that are there"),
    ("backup", ORPHAN, "a chunk has its parent"),
    ("backup", "UPDATE message SET erased = 1 WHERE num = 2", "what was erased has no words left"),
]


@pytest.mark.parametrize(("remedy", "statement", "invariant"), BROKEN)
def test_each_invariant_is_checked(tmp_path: Path, remedy: str, statement: str, invariant: str) -> None:
    store = SQLiteStore(tmp_path / "memory.db")
    space = store.space(DEFAULT)
    space.write(change_of(*(talk(f"t{i}", "one", "two", "three") for i in range(3))))
    assert space.check() == []
    with closing(apsw.Connection(str(tmp_path / "memory.db"))) as connection:
        connection.execute(statement)
    assert any(v.invariant.startswith(invariant) and v.remedy == remedy for v in space.check())
    store.close()


#: A page of each stands in the place of one of the other: search, counts and lists read what is of other kinds.
MISPLACED = [
    ("conversation", "passage"),
    ("message", "passage"),
    ("sqlite_sequence", "run_vector"),
    ("turn", "message"),
    ("turn_by_position", "sqlite_autoindex_conversation_1"),
    ("document", "conversation"),
]

READS: list[Callable[[Memory], object]] = [
    lambda memory: memory.search("heron"),
    lambda memory: memory.upkeep.stats(),
    lambda memory: memory.conversations(limit=99),
]


@pytest.mark.parametrize(("one", "other"), MISPLACED)
def test_a_page_in_the_place_of_another_is_told_as_damage(tmp_path: Path, one: str, other: str) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        for number in range(12):
            turns = [{"content": f"heron {number} {turn} " + "reeds " * 30} for turn in range(8)]
            memory.store_messages(turns, conversation_id=f"c{number}")
        memory.upkeep.maintain()
    pages: dict[str, list[int]] = {}
    with closing(apsw.Connection(str(path))) as connection:
        for name, number in connection.execute("SELECT name, pageno FROM dbstat WHERE pagetype = 'leaf'"):
            pages.setdefault(name, []).append(number - 1)
    whole = path.read_bytes()
    told = set[type[BaseException]]()
    for source, target in product(pages[one][:3], pages[other][:3]):
        data = bytearray(whole)
        data[target * 4096 : (target + 1) * 4096] = whole[source * 4096 : (source + 1) * 4096]
        shutil.rmtree(path.with_name("memory.db-index"), ignore_errors=True)
        path.write_bytes(data)
        for read in READS:
            with opened(path) as memory:
                try:
                    read(memory)
                except Exception as problem:
                    told.add(type(problem))
    assert told <= {StoreDamaged, IndexDamaged}


@pytest.mark.parametrize("at", range(len(names(Conversation))), ids=names(Conversation))
def test_values_of_other_kinds_are_no_record(at: int) -> None:
    whole = encode(Conversation(NodeId("c"), "recollect", title="Herons"))
    assert decode(Conversation, whole).title == "Herons"
    with pytest.raises(StoreDamaged):
        decode(Conversation, [*whole[:at], b"1", *whole[at + 1 :]])
