"""What has an alias is found by it, on both engines: exactly, the newest first, and in its namespace alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput
from recollect.memory import Memory


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    is_file = request.param == "sqlite"
    place = tmp_path / "memory.db" if is_file else request.getfixturevalue("neo4j_place")
    with recollect.open(place, background=False) as memory:
        yield memory


def test_the_newest_that_shares_an_alias_comes_first(memory: Memory) -> None:
    messages = [memory.store_message(f"Message {n}").id for n in range(3)]
    (call,) = memory.integration.store_tool_calls([{"name": "look", "arguments": {}, "result": "Rain"}], messages[0])
    for one in (*messages, call.id):
        memory.integration.add_aliases({one: ["shared", f"own {one}"]})
    assert memory.integration.aliased(["shared", "nothing", f"own {call.id}"]) == {
        "shared": [call.id, *reversed(messages)],
        f"own {call.id}": [call.id],
    }
    memory.integration.add_aliases({messages[0]: ["shared"]})
    assert memory.integration.aliased(["shared"])["shared"] == [messages[0], call.id, messages[2], messages[1]]
    assert memory.upkeep.check() == []


def test_of_too_many_the_oldest_lose_it(memory: Memory) -> None:
    for number in range(70):
        memory.integration.add_aliases({f"message {number:02}": ["shared"]})
    assert memory.integration.aliased(["shared"])["shared"] == [f"message {number:02}" for number in range(69, 5, -1)]


def test_so_they_do_when_all_are_given_at_once(memory: Memory) -> None:
    memory.integration.add_aliases({"message 99": ["shared"]})
    memory.integration.add_aliases({f"message {number:02}": ["shared"] for number in range(70)})
    assert memory.integration.aliased(["shared"])["shared"] == [f"message {number:02}" for number in range(69, 5, -1)]


@pytest.mark.parametrize(
    "wrong",
    [{"m": None}, {"m": 1}, {"m": "text"}, {"m": [1]}, {"m": [None]}, {"m": [""]}, {"m": ["\ud800"]}, {"m": ["a\0b"]},
     {"m": ["x" * 5000]}, {None: ["a"]}, {1: ["a"]}, {"": ["a"]}, {" m": ["a"]}, {"ok": ["a"], "m": [None]}],
)  # fmt: skip
def test_what_is_no_alias_is_refused(memory: Memory, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.integration.add_aliases(wrong)
    assert memory.integration.aliased(["a", "t"]) == {}


def test_an_alias_is_of_one_namespace(memory: Memory) -> None:
    memory.integration.add_aliases({memory.store_message("Hello").id: ["a"]})
    assert memory.beside("acme/other").integration.aliased(["a"]) == {}
    assert memory.integration.aliased([]) == {}


def test_what_was_forgotten_has_no_alias(memory: Memory) -> None:
    message = memory.store_message("Hello")
    memory.integration.add_aliases({message.id: ["a"]})
    memory.forget(message.id)
    memory.integration.add_aliases({message.id: ["b"]})
    assert memory.integration.aliased(["a", "b"]) == {}


def test_aliases_move_with_the_memory(memory: Memory, tmp_path: Path) -> None:
    message = memory.store_message("Hello")
    memory.integration.add_aliases({message.id: ["a"]})
    with (tmp_path / "dump.jsonl").open("wb") as file:
        memory.export(file)
    with recollect.open(tmp_path / "other.db", background=False) as other:
        other.import_file(tmp_path / "dump.jsonl")
        assert other.integration.aliased(["a"]) == {"a": [message.id]}
