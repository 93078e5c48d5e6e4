"""A damaged file: `check` names the damage, and everything that can be read is saved."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.engines.sqlite.file import log_file
from recollect.engines.sqlite.salvage import salvage
from recollect.errors import Incomplete, InvalidInput, StoreDamaged, StoreError
from recollect.record import Document, NodeId
from tests.store.builders import DEFAULT, ELSEWHERE, branched, change_of, document_change, talk

_PAGE = 4096
Damage = Callable[[bytearray], None]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of some hundred pages, with messages that go on over several of them."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with closing(SQLiteStore(path)) as store:
        space = store.space(DEFAULT)
        talks = [talk(f"t{i}", *(f"heron {i} {j} " + "egret " * (j * 41 % 97) for j in range(20))) for i in range(20)]
        space.write(change_of(*talks, branched(), talk("long", "zeppelin " * 3000, "a short answer")))
        space.write(document_change(Document(NodeId("guide"), "test", "Guide", "how to fly " * 900)))
        store.space(ELSEWHERE).write(change_of(talk("luna", "a secret of somebody else")))
    return path


@pytest.fixture(scope="module")
def texts(whole: Path) -> dict[str, str]:
    """What the messages of the default namespace say."""
    with recollect.open(whole, background=False) as memory:
        return said(memory)


def said(memory: recollect.Memory) -> dict[str, str]:
    """The messages of an export by id; one that is not complete counts too."""
    stream = io.BytesIO()
    try:
        memory.export(stream)
    except Incomplete:
        assert "lost" in json.loads(stream.getvalue().splitlines()[-1])
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    return {
        m["id"]: m.get("content", "") for one in lines if one.get("type") == "conversation" for m in one["messages"]
    }


def damaged(whole: Path, target: Path, damage: Damage) -> Path:
    data = bytearray(whole.read_bytes())
    damage(data)
    target.write_bytes(data)
    return target


def header(data: bytearray) -> None:
    data[:100] = bytes(100)


def first_page(data: bytearray) -> None:
    data[:_PAGE] = bytes(_PAGE)


def schema(data: bytearray) -> None:
    data[100:_PAGE] = bytes(_PAGE - 100)


def version(data: bytearray) -> None:
    data[60:64] = bytes(4)


@pytest.mark.parametrize("damage", [header, first_page, schema, version])
def test_a_file_that_cannot_be_opened_is_recovered_whole(
    whole: Path, texts: dict[str, str], tmp_path: Path, damage: Damage
) -> None:
    broken = damaged(whole, tmp_path / "broken.db", damage)
    with pytest.raises(StoreDamaged, match="recollect export"):
        recollect.open(broken, background=False)
    recollect.recover(broken, tmp_path / "new.db")
    with recollect.open(tmp_path / "new.db", background=False) as memory:
        assert said(memory) == texts
        assert [one.remedy for one in memory.upkeep.check()] == ["reindex"]
        assert memory.upkeep.repair() == []
        assert memory.search("zeppelin").hits[0].conversation.title == "long"
        assert memory.upkeep.namespaces() == ["acme/luna", "default"]


def pages(path: Path) -> list[int]:
    """The roots of tables and indexes, and some pages that chance names."""
    dice = random.Random(7)
    with closing(apsw.Connection(str(path))) as connection:
        roots = [row[0] for row in connection.execute("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")]
    return [*dice.sample(roots, 14), *(dice.randrange(2, path.stat().st_size // _PAGE) for _ in range(10))]


def left_of(path: Path, number: int) -> dict[str, str]:
    """What an export of the damaged store holds, or where it cannot be opened one of what is recovered."""
    try:
        with recollect.open(path, background=False) as memory:
            assert memory.upkeep.check(), number
            return said(memory)
    except StoreDamaged:
        made = path.with_suffix(".new")
        recollect.recover(path, made)
        with recollect.open(made, background=False) as memory:
            return said(memory)


@pytest.mark.slow
def test_a_broken_page_costs_what_it_held_and_no_more(whole: Path, texts: dict[str, str], tmp_path: Path) -> None:
    dice = random.Random(1)
    for number in pages(whole):
        filling = dice.choice([bytes(_PAGE), b"\xff" * _PAGE, dice.randbytes(_PAGE)])

        def broken(data: bytearray, at: int = number, filling: bytes = filling) -> None:
            data[(at - 1) * _PAGE : at * _PAGE] = filling

        path = damaged(whole, tmp_path / f"{number}.db", broken)
        left = left_of(path, number)
        assert left.items() <= texts.items(), number
        assert len(left) >= len(texts) - 40, number
        shutil.rmtree(tmp_path, ignore_errors=True)
        tmp_path.mkdir()


def test_what_is_lost_is_counted_and_the_rest_can_be_imported(
    whole: Path, texts: dict[str, str], tmp_path: Path
) -> None:
    path = damaged(whole, tmp_path / "broken.db", lambda data: _wipe(data, b"heron 7 3 egret"))
    with recollect.open(path, background=False) as memory:
        with pytest.raises(Incomplete, match="Everything that can be read was exported") as told:
            memory.export(tmp_path / "rest.jsonl")
        assert any("whole" in one.invariant for one in memory.upkeep.check())
    with recollect.open(tmp_path / "new.db", background=False) as memory:
        report = memory.import_file(tmp_path / "rest.jsonl")
        assert any("damaged memory" in problem.reason for problem in report.problems)
        assert memory.upkeep.check() == []
        there = said(memory)
    assert told.value.lost["messages"] == len(texts) - len(there) > 0
    assert there.items() <= texts.items()
    assert told.value.records == 23  # conversations and a document


def _wipe(data: bytearray, text: bytes) -> None:
    """Breaks the page that holds a text."""
    at = data.index(text) // _PAGE * _PAGE
    data[at : at + _PAGE] = bytes(_PAGE)


@pytest.mark.parametrize("left", [0.5, 0.7, 0.95])
def test_a_file_that_was_cut_off_keeps_what_is_there(
    whole: Path, texts: dict[str, str], tmp_path: Path, left: float
) -> None:
    path = tmp_path / "broken.db"
    path.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * left)])
    lost = salvage(path, tmp_path / "new.db")[DEFAULT]
    with recollect.open(tmp_path / "new.db", background=False) as memory:
        there = said(memory)
        assert {one.remedy for one in memory.upkeep.check()} <= {"reindex"}
    assert 0 < len(there) <= len(texts)
    assert there.items() <= texts.items()
    assert lost.unreadable > 0


def test_what_stands_in_the_log_alone_is_recovered_with_a_broken_frame(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    shutil.copyfile(whole, path)
    with closing(SQLiteStore(path)) as store:
        for number in range(8):
            store.space(DEFAULT).write(change_of(talk(f"late{number}", f"a late heron {number}")))
        log = bytearray(log_file(path).read_bytes())
        kept = path.read_bytes()
    frame = 24 + _PAGE
    first = 32 + frame * (len(log) // frame // 2)
    log[first + 24 + 2000 : first + 24 + 2010] = b"\xff" * 10  # in a page of it: SQLite reads none of those behind it
    path.write_bytes(kept)
    log_file(path).write_bytes(log)
    recollect.recover(path, tmp_path / "new.db")
    with recollect.open(tmp_path / "new.db", background=False) as memory:
        found = said(memory).values()
    assert "a late heron 7" in found
    assert sum("a late heron" in text for text in found) >= 7


def test_what_was_forgotten_is_not_recovered(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, background=False) as memory:
        for number in range(30):
            memory.store_message(f"the kingfisher {number} " + "dives " * 200, conversation_id=f"c{number}")
        memory.forget(*(f"c{number}" for number in range(0, 30, 2)))
        left = said(memory)
        assert sum("kingfisher" in text for text in left.values()) == 15
    first_page_gone = damaged(path, tmp_path / "broken.db", first_page)
    recollect.recover(first_page_gone, tmp_path / "new.db")
    with recollect.open(tmp_path / "new.db", background=False) as memory:
        assert said(memory) == left


def test_a_file_that_holds_nothing_of_ours_is_refused(whole: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"somebody else's" * 9999)
    with pytest.raises(StoreError, match="Nothing of a store"):
        recollect.recover(other, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(InvalidInput, match="is there already"):
        recollect.recover(whole, whole)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other.db"]
