"""Attacks on the store: dumps that another hand has changed, and files that are damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import Incomplete, StoreError
from recollect.importers.records.forgotten import FORGOTTEN
from recollect.memory import Memory
from tests.disks import needs_root, small_disk
from tests.exports import dump_of, opened

pytestmark = pytest.mark.long

KEYS = [f"sk-ant-api03-{part * 9}-AAAAAAAA" for part in ("Ab3dEf6hIj", "Zy9xWv6uTs")]
SAID = ("Who repaired the clock of the town hall?", "Old Mr Becker did, in the spring of the flood year.")
NO_BODIES: tuple[dict[str, Any], ...] = (
    {},
    {"key": "zz", "digests": [1]},
    {"key": "00" * 100, "digests": [1]},
    {"key": 5, "digests": []},
    {"key": "00" * 16, "digests": [[1]]},
    {"key": "00" * 16, "digests": "abc"},
    {"key": "00" * 16, "digests": [1], "gone": 5},
    {"key": "00" * 16, "digests": [-1, 2**70], "gone": [[2]]},
    {"keys": 5},
    {"keys": {"zz": {}}},
    {"keys": {"00" * 99: {"a": "b"}}},
    {"keys": {"00" * 16: {"a": 5}}},
    {"keys": {"00" * 16: [1]}},
)


def dump_with_what_was_forgotten(folder: Path) -> list[dict[str, Any]]:
    """The lines of a dump: a conversation and a secret were forgotten."""
    with opened(folder / "source.db") as source:
        source.store_messages([{"content": text} for text in SAID], conversation_id="clock")
        source.store_message(f"The key is {KEYS[0]}", conversation_id="keys")
        source.forget("clock")
        source.upkeep.forget_secrets()
        return [json.loads(line) for line in dump_of(source).splitlines()]


@pytest.mark.parametrize("body", NO_BODIES, ids=str)
def test_a_dump_whose_digests_another_hand_has_changed_does_no_harm(tmp_path: Path, body: dict[str, Any]) -> None:
    lines = dump_with_what_was_forgotten(tmp_path)
    nodes = [line["node"] for line in lines if line.get("type") == "node"]
    assert {node["state"] for node in nodes} == {FORGOTTEN, "withheld"}
    for node in nodes:
        node["body"] = body
    (tmp_path / "dump.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    turns = [{"role": "user", "content": text} for text in SAID]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"messages": turns}) + "\n")
    with opened(tmp_path / "memory.db") as memory:
        memory.import_file(tmp_path / "dump.jsonl")
        memory.import_file(tmp_path / "talk.jsonl")
        memory.store_message(f"Another key is {KEYS[1]}", conversation_id="more")
        memory.upkeep.forget_secrets()
        memory.forget(*(row.conversation.id for row in memory.conversations() if row.conversation.id != "more"))
        assert memory.import_file(tmp_path / "talk.jsonl").forgotten == 1
        assert KEYS[1] not in dump_of(memory).decode()
        assert memory.upkeep.check() == []


def test_secrets_stay_out_after_the_dump_of_another_memory(memory: Memory, tmp_path: Path) -> None:
    own = memory.beside("secrets")
    with opened(tmp_path / "other.db") as other:
        for kept, key in ((other, KEYS[1]), (own, KEYS[0])):
            kept.store_message(f"The key is {key}", conversation_id="keys")
            kept.upkeep.forget_secrets()
        other.export(tmp_path / "other.jsonl")
    own.import_file(tmp_path / "other.jsonl")
    for number, key in enumerate(KEYS):
        own.store_message(f"Again: {key}", conversation_id=f"again{number}")
    (tmp_path / "own.jsonl").write_bytes(dump_of(own))
    with recollect.open(tmp_path / "moved.db", background=False) as moved:
        moved.import_file(tmp_path / "own.jsonl")
        moved.store_message(f"And again: {' '.join(KEYS)}", conversation_id="moved")
        for dump in (dump_of(own), dump_of(moved)):
            assert not any(key.encode() in dump for key in KEYS)


_STOPPED = """
import os, sys
import recollect
from recollect.errors import Incomplete, StoreError
from recollect.engines.sqlite import salvage
salvage._mend = lambda connection: os._exit(9)  # the process is gone
recollect.recover(sys.argv[1], sys.argv[2])
"""


def test_what_a_killed_recovery_leaves_behind_goes_with_the_next(tmp_path: Path) -> None:
    path, target = tmp_path / "memory.db", tmp_path / "new.db"
    with opened(path) as memory:
        memory.store_messages([{"content": text} for text in SAID], conversation_id="clock")
    command = [sys.executable, "-c", _STOPPED, str(path), str(target)]
    assert subprocess.run(command, check=False).returncode == 9
    assert [one for one in tmp_path.iterdir() if one.name.endswith(".part")]
    assert not target.exists()
    recollect.recover(path, target)
    assert {one.name for one in tmp_path.iterdir() if one.is_dir()} <= {"memory.db-index"}
    with opened(target) as memory:
        assert [message.content for message in memory.conversation("clock").messages] == [*SAID]


@pytest.mark.parametrize("size", [512, 4096])
def test_a_text_that_lost_a_sector_is_told_and_not_exported(tmp_path: Path, size: int) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        for name in ("whole", "broken"):
            said = " ".join(f"{name} number {n}" for n in range(1000))
            memory.store_message(said, conversation_id=name)
        memory.upkeep.maintain()
    data = bytearray(path.read_bytes())
    start = data.index(b"broken number 500") // size * size
    data[start + 4 : start + size] = bytes(size - 4)  # the chain of its pages stays whole
    path.write_bytes(data)
    with opened(path) as memory:
        assert [one.remedy for one in memory.upkeep.check()][:1] == ["backup"]
        with pytest.raises(Incomplete) as told:
            memory.export(tmp_path / "left.jsonl")
        assert told.value.lost["unreadable"] == 1
    assert recollect.recover(path, tmp_path / "new.db")["default"].unreadable == 1
    with opened(tmp_path / "new.db") as memory:
        left = [message.content for name in ("whole", "broken") for message in memory.conversation(name).messages]
        assert left == [said.replace("broken", "whole")]


@needs_root
def test_a_recovery_that_finds_no_room_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        memory.store_message("otters " * 600_000, conversation_id="long")
    with small_disk(tmp_path / "disk", 2) as disk:
        for target in (disk / "new.db", path / "new.db"):
            with pytest.raises(StoreError, match=r"new\.db"):
                recollect.recover(path, target)
        assert [*disk.iterdir()] == []


_WRITING = """
import sys
import recollect
from datetime import timedelta
with recollect.open(sys.argv[1], background=False) as memory:
    for number in range(10**6):
        memory.store_message(f"late {number}", conversation_id=f"late{number % 5}")
        print(number, flush=True)
"""


def test_recovering_beside_a_program_that_writes_tells_no_wrong_text(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    early = {f"early {number} " + "egret " * (number * 40) for number in range(60)}
    with opened(path) as memory:
        for number, text in enumerate(sorted(early)):
            memory.store_message(text, conversation_id=f"early{number % 9}")
    command = [sys.executable, "-c", _WRITING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writing:
        assert writing.stdout is not None
        writing.stdout.readline()
        for number in range(5):
            recollect.recover(path, tmp_path / f"{number}.db")
        writing.kill()
        count = 2 + len(writing.stdout.readlines())
    said = early | {f"late {number}" for number in range(count)}
    for number in range(5):
        with opened(tmp_path / f"{number}.db") as memory:
            assert {one.remedy for one in memory.upkeep.check()} == {"reindex"}
            found = {
                m.content
                for row in memory.conversations(limit=99)
                for m in memory.conversation(row.conversation.id).messages
            }
        assert early < found <= said


def test_a_page_of_nodes_that_is_lost_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        for number in range(40):
            memory.store_fact(f"The heron of pond {number} eats {number} frogs a day.", entity=f"Heron {number}")
    data = bytearray(path.read_bytes())
    start = data.index(b"pond 17 eats") // 4096 * 4096
    data[start : start + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    assert recollect.recover(path, tmp_path / "new.db")["default"].unreadable == 1


def test_a_dump_with_zeros_in_a_text_does_not_get_in(tmp_path: Path) -> None:
    with opened(tmp_path / "source.db") as source:
        for number, text in enumerate(SAID):
            source.store_message(text, conversation_id=f"c{number}")
        dump = dump_of(source)
    (tmp_path / "dump.jsonl").write_bytes(dump.replace(b"Mr Becker", b"Mr " + rb"\u0000" * 20))
    with opened(tmp_path / "memory.db") as memory:
        report = memory.import_file(tmp_path / "dump.jsonl")
        assert any("NUL" in problem.reason for problem in report.problems)
        assert memory.upkeep.stats().messages == 1
        assert memory.upkeep.check() == []
