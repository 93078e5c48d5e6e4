"""An id stands for one thing in a namespace: what is written live under the id of another record is refused at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import recollect
from recollect.derive.tasks.base import HEAD
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.record import Node, Part, PartKind
from recollect.store import Where
from recollect.store.transfer import every

Write = Callable[[Memory, str], object]

#: Everything that writes live under an id that the caller gives.
WRITES: dict[str, Write] = {
    "a message": lambda memory, own: memory.store_message("Luna sings.", conversation_id="c", id=own),
    "a conversation": lambda memory, own: memory.store_message("Luna sings.", conversation_id=own),
    "messages": lambda memory, own: memory.store_messages([{"content": "One."}, {"content": "Two.", "id": own}]),
    "a tool call": lambda memory, own: memory.store_tool_call("sing", {}, "done", "m", id=own),
    "a chat": lambda memory, own: memory.chat(own, "Does Luna sing?"),
}


@pytest.fixture(params=["sqlite", "neo4j"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Iterator[Memory]:
    place = tmp_path / "memory.db" if request.param == "sqlite" else str(request.getfixturevalue("neo4j_place"))
    with recollect.open(place, durable=False, background=False) as memory:
        (tmp_path / "zinc.md").write_text("# Zinc\n\nThe zinc is in the shed.\n", encoding="utf-8")
        memory.import_documents(tmp_path / "zinc.md")
        memory.store_message("I live in Leeds with my dog Luna.", conversation_id="c", id="m")
        memory.store_tool_call("weather", {"city": "Leeds"}, "rain", "m", id="t")
        memory.upkeep.consolidate()
        yield memory


def ids_in(memory: Memory) -> dict[str, str]:
    """One record of every kind that has an id, by what it is."""
    with memory.handle.space.view() as view:
        nodes = {str(node.kind): node.id for node in every(view, Node, Where())}
    thread = memory.conversation("c")
    return {
        **nodes,
        "head": HEAD,
        "document": next(memory.documents()).id,
        "turn": thread.turns[0].id,
        "tool call": "t",
        "message": "m",
        "conversation": "c",
    }


@pytest.mark.parametrize("write", WRITES)
def test_the_id_of_another_record_is_refused_at_once(
    memory: Memory, write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.update._PATIENCE", 0.0)  # what is planned again for ever, fails at once
    before = memory.upkeep.stats()
    same = {"a conversation": {"conversation"}, "a chat": {"conversation"}, "a tool call": {"tool call"}}
    for kind, own in ids_in(memory).items():
        if kind in same.get(write, ()):
            continue  # goes on in it; a call that comes again is the same call, or told so
        with pytest.raises(InvalidInput, match="already"):
            WRITES[write](memory, own)
    assert memory.upkeep.stats() == before
    assert memory.upkeep.check() == []


def test_a_tool_call_does_not_take_the_place_of_another(memory: Memory) -> None:
    made = memory.store_tool_call("weather", {"city": "York"}, "sun", "m")
    with pytest.raises(InvalidInput, match="already belongs to something else"):
        memory.store_tool_call("other", {}, "else", "m", id=made.id)
    assert memory.toolbox().get_tool_call(made.id) == made


def test_what_comes_again_is_the_same(memory: Memory) -> None:
    part = Part(PartKind.ATTACHMENT, "a.txt")
    first = memory.store_message("Luna barks.", conversation_id="c", id="again", parts=[part])
    assert memory.store_message("Luna barks.", conversation_id="c", id="again", parts=[part]) == first
    call = memory.store_tool_call("weather", {"city": "Leeds"}, "rain", "m", id="t")
    assert memory.toolbox().get_tool_call("t") == call
