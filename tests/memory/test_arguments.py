"""Whatever a program gives to a public call of Memory, it is done or told why not; a wrong type names the argument."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.answer.tools import Toolbox
from recollect.errors import InvalidInput, RecollectError
from recollect.memory import Memory
from recollect.memory.integration import Integration
from recollect.memory.knowledge import Knowledge
from recollect.memory.upkeep import Upkeep
from recollect.testing import FakeModel

#: The parts of the façade, and how each is reached.
PARTS: dict[type, Callable[[Memory], Any]] = {
    Memory: lambda memory: memory,
    Knowledge: lambda memory: memory.knowledge,
    Upkeep: lambda memory: memory.upkeep,
    Integration: lambda memory: memory.integration,
    Toolbox: lambda memory: memory.toolbox(),
}
CALLS = {
    name: part
    for part in PARTS
    for name in sorted(dir(part))
    if name[0] != "_" and inspect.isfunction(getattr(part, name))
}
#: What takes anything, or nothing that is odd.
del CALLS["close"], CALLS["call"], CALLS["schemas"]
#: What a call needs beside the argument that is tried.
NEEDED: dict[str, dict[str, Any]] = {
    "store_tool_call": {"message_id": "m"},
    "store_tool_calls": {"message_id": "m", "calls": []},
    "store_messages": {"messages": [{"content": "One."}]},
    "update_messages": {"changes": [{"id": "m", "content": "Two."}]},
    "fingerprint": {"ids": ["m"]},
    "messages": {"ids": ["m"]},
    "get_messages_by_ids": {"ids": ["m"]},
    "tool_calls": {"ids": ["m"]},
    "import_growing": {"files": []},
    "days": {"period": "2026-01"},
    "work": {"once": True},
    "reindex": {},
    "record_request": {"by": "mcp", "parts": []},
}
ODD: list[Any] = [
    None, True, 0, -1, 5, 1.5, math.nan, math.inf, 10**30, "", "5", "no such", "half \ud83d", "\0", b"x", [], [None],
    [1], ["\ud83d"], [[]], {}, {"a": 1}, {1: object()}, (), {"m"}, datetime(2026, 1, 1, tzinfo=UTC), Path("nowhere"),
    object(), print,
]  # fmt: skip


class Opaque:
    """Is nothing that any call takes."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("odd")
    with recollect.open(folder / "memory.db", model=FakeModel(), durable=False, background=False) as memory:
        memory.store_message("I live in Leeds with my dog Luna.", conversation_id="c", id="m", title="At the vet")
        memory.upkeep.consolidate()
        yield memory


def tried(memory: Memory, call: str, name: str, value: Any) -> RecollectError | None:
    """What a call says to this argument, with something that fits for those that it needs."""
    parameters = inspect.signature(getattr(CALLS[call], call)).parameters
    various = parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
    named = {
        one.name: NEEDED.get(call, {}).get(one.name, "Luna")
        for one in parameters.values()
        if one.name not in ("self", name)
        and one.default is inspect.Parameter.empty
        and one.kind is not inspect.Parameter.VAR_POSITIONAL
    }
    named |= {one: given for one, given in NEEDED.get(call, {}).items() if one != name}
    try:
        before = [named.pop("keep")] if "keep" in named and various else []
        done = (
            getattr(PARTS[CALLS[call]](memory), call)(*before, value, **named)
            if various
            else getattr(PARTS[CALLS[call]](memory), call)(**named, **{name: value})
        )
        if isinstance(done, Generator):
            list(done)
    except RecollectError as problem:
        return problem
    return None


def parameters_of(call: str) -> list[str]:
    return [name for name in inspect.signature(getattr(CALLS[call], call)).parameters if name != "self"]


@pytest.mark.parametrize("call", CALLS)
def test_whatever_is_given_is_done_or_told_why_not(
    memory: Memory, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in parameters_of(call):
        for value in ODD:
            if call in ("backup", "export") and name == "target" and isinstance(value, str | Path):
                continue  # a file of this name
            try:
                tried(memory, call, name, value)
            except Exception as problem:  # named with what brought it about
                pytest.fail(f"{call}({name}={value!r}): {type(problem).__name__}: {problem}")


@pytest.mark.parametrize("call", [call for call in CALLS if parameters_of(call)])
def test_what_no_call_takes_is_named_with_what_to_give(memory: Memory, call: str) -> None:
    for name in parameters_of(call):
        if (call, name) in (("store_tool_call", "result"), ("masked", "value")):
            continue  # they take anything
        problem = tried(memory, call, name, Opaque())
        assert isinstance(problem, InvalidInput), (call, name)
        assert name in problem.message
        assert problem.hint.startswith("Give ")


@pytest.mark.parametrize("call", ["forget", "delete", "restore"])
def test_a_broken_id_is_not_mended_to_that_of_another(memory: Memory, call: str) -> None:
    memory.store_message("It is mine.", id="mine \ufffd", conversation_id="mended")
    with pytest.raises(InvalidInput, match="is 'mine"):
        getattr(memory, call)("mine \ud83d")
    assert [one.deleted for one in memory.messages(["mine \ufffd"])] == [False]


def test_a_broken_namespace_is_not_mended_to_another(memory: Memory) -> None:
    memory.beside("mine-\ufffd").store_message("It is mine.")
    for call in (memory.beside, memory.upkeep.drop_namespace):
        with pytest.raises(InvalidInput):
            call("mine-\ud83d")
    assert "mine-\ufffd" in memory.upkeep.namespaces()
