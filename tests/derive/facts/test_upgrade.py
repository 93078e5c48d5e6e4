"""Facts that 0.2.0 stored, and what a hand did to them: all is there, under its id, however often it is killed."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import HierarchicalMemory
from recollect.engines.sqlite.engine import SQLiteSpace
from recollect.errors import NotFound
from recollect.memory import Memory
from tests.fixtures.make_facts_0_2_0 import shown
from tests.paths import ROOT
from tests.test_upgrade import Killed, kill_at

FIXTURES = ROOT / "tests" / "fixtures"
FACTS = zipfile.ZipFile(FIXTURES / "memory-0.2.0.facts.zip")
TOLD: dict[str, Any] = json.loads(FACTS.read("told.json"))
#: Of two homes that a program stored and one that was said before, one holds; 0.2.0 held two to be current.
ONE_HOME = ["The user lives in Hull.", "Hull", False, False]


def expected() -> list[list[Any]]:
    before = [one for one in TOLD["shown"] if one[0] != ONE_HOME[0]]
    return sorted([*before, ONE_HOME])


def unpacked(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress((FIXTURES / "memory-0.2.0.facts.db.gz").read_bytes()))
    return path


@pytest.fixture(params=["sqlite", "dump", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory of 0.2.0: its file, or its dump in a new file or on a server."""
    place: Any = unpacked(tmp_path) if request.param == "sqlite" else tmp_path / "new.db"
    if request.param == "neo4j":
        place = request.getfixturevalue("neo4j_place")
    with recollect.open(place, namespace="agent") as memory:
        if request.param != "sqlite":
            (tmp_path / "dump.jsonl").write_bytes(FACTS.read("facts.jsonl"))
            memory.import_file(tmp_path / "dump.jsonl")
            memory.upkeep.consolidate()
        yield memory


def test_what_was_stored_and_decided_is_there(old: Memory) -> None:
    seen = [shown(old)]
    for again in (False, True):
        old.upkeep.consolidate(again=again)
        seen.append(shown(old))
        assert old.upkeep.check() == []
    assert seen[1:] == [expected()] * 2
    by_id = {fact.id: fact for fact in old.facts(include_past=True)}
    for name in ("leeds", "porto", "pinned", "edited", "undone", "back", "kept", "quay", "tide"):
        assert TOLD[name] in by_id, name
    assert [by_id[TOLD[name]].pinned for name in ("pinned", "quay", "edited")] == [True, True, False]
    assert [by_id[TOLD[name]].value for name in ("edited", "undone", "tide")] == ["dyer", "cello", "one"]
    assert old.knowledge.pin_fact(TOLD["derived"]).value == "all nuts"
    assert [fact.value for fact in by_id[TOLD["porto"]].history] == ["Leeds", "Hull"]


@pytest.mark.parametrize("first", [False, True])
def test_what_was_decided_is_taken_back(old: Memory, first: bool) -> None:
    """Before what was stored has records as well as after."""
    if first:
        old.upkeep.consolidate()
    with pytest.raises(NotFound):
        old.knowledge.pin_fact(TOLD["forgotten"])
    assert [fact.content for fact in old.knowledge.undo_fact(TOLD["forgotten"])] == ["Carin collects theremins."]
    assert [fact.value for fact in old.knowledge.undo_fact(TOLD["edited"])] == ["weaver"]
    assert old.knowledge.undo_fact(TOLD["tide"])[0].content == "The tide turns at noon"
    assert not old.knowledge.pin_fact(TOLD["pinned"], pinned=False).pinned
    undone = {fact.content for fact in old.knowledge.undo_fact(TOLD["merged"])}
    assert "The shed's key is behind the clock." in undone
    assert old.store_fact("The user lives in Faro.", "home", value="Faro").history[0].id == TOLD["porto"]
    assert old.knowledge.edit_fact(TOLD["leeds"], value="Leicester").id == TOLD["leeds"]
    old.upkeep.consolidate()
    assert old.upkeep.check() == []


def test_hierarchical_memory_goes_on_where_it_was(tmp_path: Path) -> None:
    path = unpacked(tmp_path)
    with HierarchicalMemory("agent", path) as agent:
        assert agent.get_all_facts() == [fact for fact in TOLD["listed"] if fact["metadata"]]  # its own alone
        agent.store_fact("Klebb has 13 golds", "Klebb golds", temporal_metadata={"temporal_index": 4})
        agent.store_fact("Klebb has 9.5 golds", "Klebb golds", temporal_metadata={"temporal_index": 0.5})
        steps = [e["metadata"] for e in agent.export_graph()["edges"] if e["relationship"] == "TRANSITIONED_TO"]
        assert sorted(float(step["to_value"]) for step in steps) == [9.5, 10, 11, 12]
        found = {fact["content"]: fact["confidence"] for fact in agent.get_all_facts()}
        assert [found[f"Klebb has {n} golds"] for n in ("9.5", 10, 11, 12, 13)] == [0.4, 0.4, 0.4, 0.4, 0.8]


def test_moving_into_records_may_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for last in count(1):
        with recollect.open(unpacked(tmp_path / str(last)), namespace="agent") as memory:
            with monkeypatch.context() as patch:
                died = kill_at(patch, SQLiteSpace, last)
                with suppress(Killed):
                    memory.upkeep.consolidate()
            if not died():
                break
            memory.upkeep.consolidate()
            assert shown(memory) == expected()
            assert memory.upkeep.check() == []
    assert last > 2
