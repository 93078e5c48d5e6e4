"""The shape of mem0's Memory: its calls, arguments and results; filters; nothing of another user."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput
from recollect.frameworks.mem0 import Memory

CALLS = ("add", "get", "get_all", "search", "update", "delete", "delete_all", "history", "reset")
ALICE = {"user_id": "alice"}


@pytest.fixture
def mem(memory: recollect.Memory) -> Memory:
    return Memory(memory)


def test_the_calls_are_those_of_mem0() -> None:
    mem0 = pytest.importorskip("mem0", reason="mem0ai is not installed")

    def shape(call: Any) -> list[Any]:
        named = inspect.signature(call).parameters.values()
        return [(p.name, p.kind) for p in named if p.kind is not p.VAR_KEYWORD]

    for name in CALLS:
        assert shape(getattr(Memory, name)) == shape(getattr(mem0.Memory, name)), name


def test_what_is_added_is_found_by_its_user(mem: Memory) -> None:
    added = mem.add(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "I am allergic to nuts.", "name": "Alice"},
            {"role": "assistant", "content": "Noted: no nuts."},
        ],
        user_id="alice",
        run_id="r1",
        metadata={"topic": "food"},
    )["results"]
    mem.add("Nuts are my favourite food.", user_id="bob")
    assert [(one["memory"], one["event"]) for one in added] == [
        ("I am allergic to nuts.", "ADD"),
        ("Noted: no nuts.", "ADD"),
    ]
    found = mem.search("nuts", filters=ALICE)["results"]
    assert {one["id"] for one in found} == {one["id"] for one in added}
    assert all(0.1 <= one["score"] <= 1 and one["user_id"] == "alice" for one in found)
    own = mem.get(added[0]["id"])
    assert own is not None
    assert (own["run_id"], own["role"], own["actor_id"], own["metadata"]) == ("r1", "user", "Alice", {"topic": "food"})
    assert mem.search("nuts", filters={"user_id": "carol"}) == {"results": []}
    assert len(mem.search("nuts", filters={"user_id": {"in": ["alice", "bob"]}})["results"]) == 3


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"n": 2}, [2]),
        ({"n": {"gte": 2}}, [2, 3]),
        ({"n": {"gt": 1, "lt": 3}}, [2]),
        ({"n": {"in": [1, 3]}}, [1, 3]),
        ({"n": {"nin": [1, 3]}}, [2]),
        ({"tag": {"contains": "re"}}, [1, 3]),
        ({"tag": {"icontains": "RE"}}, [1, 3]),
        ({"missing": {"gt": 1}}, []),
        ({"tag": "*"}, [1, 2, 3]),
        ({"OR": [{"n": 1}, {"tag": "green"}]}, [1, 3]),
        ({"AND": [{"n": {"ne": 1}}, {"NOT": [{"n": 3}]}]}, [2]),
    ],
)
def test_filters_are_those_of_mem0(mem: Memory, filters: dict[str, Any], numbers: list[int]) -> None:
    for n, tag in ((1, "red"), (2, "blue"), (3, "green")):
        mem.add(f"Number {n}", user_id="alice", metadata={"n": n, "tag": tag})
    found = mem.get_all(filters=ALICE | filters)["results"]
    assert sorted(one["metadata"]["n"] for one in found) == numbers
    assert {one["id"] for one in mem.search("number", filters=ALICE | filters)["results"]} == {o["id"] for o in found}


def test_a_memory_is_changed_deleted_and_its_history_told(mem: Memory) -> None:
    own = mem.add("I like tea.", user_id="alice")["results"][0]["id"]
    assert mem.update(own, text="I like coffee.", metadata={"sure": True, "user_id": "bob"}) == {
        "message": "Memory updated successfully!"
    }
    assert mem.update(own, metadata={"n": 1})
    item = mem.get(own)
    assert item is not None
    assert (item["memory"], item["metadata"], item["user_id"]) == ("I like coffee.", {"sure": True, "n": 1}, "alice")
    assert mem.delete(own) == {"message": "Memory deleted successfully!"}
    assert mem.get(own) is None
    assert mem.search("coffee", filters=ALICE) == mem.get_all(filters=ALICE) == {"results": []}
    told = [(one["event"], one["old_memory"], one["new_memory"]) for one in mem.history(own)]
    assert told == [
        ("ADD", None, "I like tea."),
        ("UPDATE", "I like tea.", "I like coffee."),
        ("DELETE", "I like coffee.", None),
    ]
    with pytest.raises(ValueError, match="not found"):
        mem.delete(own)


def test_expired_memories_are_hidden(mem: Memory) -> None:
    mem.add("Parked in row 5.", user_id="alice", expiration_date="2020-01-01")
    assert mem.search("parked", filters=ALICE) == mem.get_all(filters=ALICE) == {"results": []}
    assert mem.search("parked", filters=ALICE, show_expired=True)["results"]


def test_all_of_a_user_goes_and_nothing_of_another(mem: Memory) -> None:
    mem.add("One", user_id="alice")
    mem.add("Two", user_id="alice", agent_id="a")
    mem.add("Three", user_id="alicette")
    mem.delete_all(user_id="alice")
    assert mem.get_all(filters=ALICE) == {"results": []}
    assert len(mem.get_all(filters={"user_id": "alicette"})["results"]) == 1
    mem.reset()
    assert mem.get_all(filters={"user_id": "alicette"}) == {"results": []}


@pytest.mark.parametrize("scope", ["user_id", "agent_id", "run_id"])
def test_whose_name_is_a_star_deletes_nothing_of_others(mem: Memory, scope: str) -> None:
    star: dict[str, Any] = {scope: "*"}
    alice: dict[str, Any] = {scope: "alice"}
    mem.add("Of a star", **star)
    mem.add("Of another", **alice)
    mem.delete_all(**star)
    assert [one["memory"] for one in mem.get_all(filters=star)["results"]] == ["Of another"]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.add("x"),
        lambda m: m.search("x"),
        lambda m: m.search("x", user_id="alice"),
        lambda m: m.get_all(filters={"n": 1}),
        lambda m: m.delete_all(),
        lambda m: m.update("nothing", text=None),
        lambda m: m.get_all(filters={"user_id": "alice", "n": {"like": 1}}) if m.add("x", user_id="alice") else None,
    ],
)
def test_what_cannot_be_is_told(mem: Memory, call: Any) -> None:
    with pytest.raises(InvalidInput):
        call(mem)


def test_the_same_words_with_other_metadata_are_found_by_these(mem: Memory) -> None:
    walks = "I love the long walks along the northern harbour in the early evening of a dry autumn day"
    for mood in ("calm", "wild", "calm"):
        mem.add(walks, metadata={"mood": mood}, **ALICE)
    mem.add(walks, user_id="bob", metadata={"mood": "wild"})
    for mood, count in (("calm", 2), ("wild", 1)):
        found = mem.search("walks at the harbour", filters={**ALICE, "mood": mood})["results"]
        assert [one["metadata"]["mood"] for one in found] == [mood] * count


@pytest.mark.parametrize(
    "filters", [{"user_id": {}}, {"user_id": "alice", "topic": {}}, {"user_id": "*", "OR": [{"user_id": {}}]}]
)
def test_an_empty_filter_lets_nothing_pass(memory: recollect.memory.Memory, filters: dict[str, Any]) -> None:
    adapter = Memory(memory)
    adapter.add("I am allergic to nuts.", user_id="alice")
    with pytest.raises(InvalidInput, match="is empty"):
        adapter.get_all(filters=filters)
    with pytest.raises(InvalidInput, match="is empty"):
        adapter.search("nuts", filters=filters)


def test_a_filter_finds_what_passes_it_however_far_down(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        mem.add("nut " * (12 - number), user_id="alice", metadata={"kept": number == 11})
    monkeypatch.setattr("recollect.frameworks.mem0._MOST", 3)
    for kept, many in ((True, 1), (False, 11)):
        assert len(mem.search("nut", filters=ALICE | {"kept": kept}, threshold=0)["results"]) == many
