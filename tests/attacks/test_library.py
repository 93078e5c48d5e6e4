"""Attacks on the library: ids of another namespace, names that look alike, and moves that are killed at each write."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.memory import Memory
from recollect.record import stable_id

pytestmark = pytest.mark.long

SECRET = "zyxwvut"
#: Calls about the whole store or its upkeep, which no id is given to.
LEFT_OUT = {
    "close", "drop_namespace", "work", "export", "backup", "import_file", "import_documents", "import_growing",
    "restore", "beside", "reindex", "repair", "embed", "maintain", "consolidate",
}  # fmt: skip
NEEDED: dict[str, dict[str, Any]] = {
    "store_messages": {"messages": [{"content": "One"}]},
    "store_tool_calls": {"calls": [{"name": "x", "arguments": "", "result": "y"}]},
    "update_messages": {"changes": []},
}
CALLS = [
    (name, one)
    for name in sorted(dir(Memory))
    if not name.startswith("_") and name not in LEFT_OUT and inspect.isfunction(getattr(Memory, name))
    for one in list(inspect.signature(getattr(Memory, name)).parameters.values())[1:]
    if "str" in str(one.annotation)
]
ALIKE = (
    "acme", "acme/x", "acme/x/y", "acmes", "acme-", "acme.", "ACME", "acme_", "acme%", "%", "_", "*", "a'b", "a;b",
    "acm\u00e9", "acme\u0301", "acme\u200b", "\uff41cme", "...", ".a", "a\\b", "x" * 200,
)  # fmt: skip
REFUSED = (
    "", "a b", "/a", "a/", "a//b", "a\n", "x" * 201, "\0", " a", ".", "..", "a/..", "a/./b", "\ud800", "a\u00a0b",
    "a\u2028b", "a\x85",
)  # fmt: skip
IDS = ("a", "A", "\u65e5\u672c", "x y", "a/b", "a?b#c", "%2F", "..", "'", "<b>", "x" * 200, "-1", "\u00e9", "e\u0301")
WRONG_IDS = (" a", "a ", "\0", "a\nb", "x" * 201, "\ud800", "\u00a0", 1, b"a")


@pytest.fixture(scope="module")
def attacked(memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, list[str]]:
    """A namespace with something of each kind, and the ids of it."""
    own = memory.beside("acme/a")
    said = f"I live in Leeds with my dog Luna {SECRET}. Luna is allergic to chicken."
    own.store_message(said, id="M1", conversation_id="C1", title=f"Title {SECRET}")
    own.store_message((f"The {SECRET} paper. " + "more words here. " * 40 + "\n\n") * 40, id="M2", conversation_id="C1")
    call = own.store_tool_call("look", {"q": SECRET}, f"result {SECRET}", "M1", id="T1")
    own.integration.add_aliases({"M1": ["AL"]})
    document = tmp_path_factory.mktemp("documents") / "doc.md"
    document.write_text(f"# Doc {SECRET}\n\nthe text {SECRET}")
    own.import_documents(document)
    own.store_fact(f"Luna weighs 12 kg {SECRET}", entity="Luna")
    own.upkeep.consolidate()
    report = own.research("Luna dog chicken")
    thread = own.conversation("C1")
    several = [
        own.documents(),
        own.facts(),
        own.entities(),
        own.topics(),
        own.knowledge.segments("C1"),
        own.summaries(),
    ]
    ids = ["M1", "M2", "C1", "T1", "AL", call.result_message_id or "", report.id]
    ids += [str(one.id) for some in several for one in some]  # type: ignore[attr-defined]
    return own, [*ids, *(chunk.id for chunk in thread.chunks[:2]), *(turn.id for turn in thread.turns)]


def state(memory: Memory) -> object:
    messages = memory.conversation("C1").messages
    return memory.upkeep.stats(), [(m.content, m.deleted) for m in messages], [f.content for f in memory.facts()]


@pytest.mark.parametrize(("call", "one"), CALLS, ids=[f"{call}-{one.name}" for call, one in CALLS])
def test_the_id_of_another_namespace_is_of_no_use(
    memory: Memory, attacked: tuple[Memory, list[str]], call: str, one: inspect.Parameter
) -> None:
    victim, ids = attacked
    attacker, before = memory.beside("acme/b"), state(victim)
    parameters = list(inspect.signature(getattr(Memory, call)).parameters.values())[1:]
    needed = {
        p.name: NEEDED.get(call, {}).get(p.name, "word")
        for p in parameters
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL and p.name != one.name
    }
    for own in ids:
        try:
            if one.kind is one.VAR_POSITIONAL:
                done = getattr(attacker, call)(*needed.values(), own)
            else:
                done = getattr(attacker, call)(
                    **needed, **{one.name: [own] if "Iterable" in str(one.annotation) else own}
                )
            shown = repr(list(done) if inspect.isgenerator(done) else done)
        except RecollectError as problem:
            shown = str(problem)
        assert SECRET not in shown, own
    assert state(victim) == before
    assert victim.upkeep.check() == attacker.upkeep.check() == []


@pytest.mark.parametrize("gone", ALIKE)
def test_a_namespace_goes_without_those_that_look_alike(memory: Memory, gone: str) -> None:
    for name in ALIKE:
        handle = memory.beside(name)
        if not handle.upkeep.stats().messages:
            handle.store_message(f"otter in {name}", id="one", conversation_id="all")
            handle.integration.add_aliases({"one": ["k"]})
    assert memory.upkeep.drop_namespace(gone) is True
    assert memory.upkeep.drop_namespace(gone) is False
    for name in ALIKE:
        handle, there = memory.beside(name), name != gone
        assert (
            handle.upkeep.stats().messages
            == len(handle.search("otter"))
            == len(handle.integration.aliased(["k"]))
            == there
        ), name
        assert (name in memory.upkeep.namespaces()) is there
        assert handle.upkeep.check() == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_namespace_is_refused(memory: Memory, name: str) -> None:
    for call in (memory.beside, memory.upkeep.drop_namespace):
        with pytest.raises(InvalidInput):
            call(name)


def test_ids_are_exact(memory: Memory) -> None:
    own: Any = memory.beside("forms")
    for name in IDS:
        assert own.store_message(f"m {name}", id=name, conversation_id="c").id == name
    for wrong in WRONG_IDS:
        for call in (own.forget, own.delete, own.restore):
            with pytest.raises((InvalidInput, NotFound)):
                call(wrong)
        with pytest.raises(InvalidInput):
            own.store_message("m", id=wrong)
    for name in IDS:
        own.delete(name)
        assert [m.id for m in own.messages(IDS) if m.deleted] == [name]
        own.restore(name)


def test_an_id_stands_for_one_record(memory: Memory) -> None:
    own = memory.beside("kinds")
    own.store_message("root", id="R", conversation_id="CC")
    call = own.store_tool_call("t", "a", "b", "R", id="TC")
    for taken in ("CC", "TC", call.result_message_id or ""):
        with pytest.raises(InvalidInput):
            own.store_message("z", id=taken)
    for taken in ("R", "TC", call.result_message_id or ""):
        with pytest.raises(InvalidInput):
            own.store_message("z", conversation_id=taken)
    for taken in ("R", "CC", call.result_message_id or ""):
        with pytest.raises(InvalidInput):
            own.store_tool_call("t", "a", "b", "R", id=taken)
    with pytest.raises(InvalidInput):
        own.store_messages([{"content": "a", "id": "NEW"}, {"content": "b", "id": "NEW"}])
    assert own.upkeep.stats().messages == 2
    assert own.upkeep.check() == []


_KILLED = """
import os, sys
import recollect
from recollect.frameworks.mem0 import Memory
path, at, when = sys.argv[1], int(sys.argv[2]), sys.argv[3]
memory, done = recollect.open(path, background=False), 0
space = type(memory._space)
write = space.write
def counted(self, change):
    global done
    done += 1
    if done == at and when == "before":
        os._exit(9)
    result = write(self, change)
    if done == at and when == "after":
        os._exit(9)
    return result
space.write = counted
Memory(memory)
print(done)
"""


def _users(path: Path) -> dict[str, list[tuple[str, bool, int]]]:
    with recollect.open(path, background=False) as memory:
        found: dict[str, list[tuple[str, bool, int]]] = {}
        for name in memory.upkeep.namespaces():
            own = memory.beside(name)
            assert own.upkeep.check() == []
            threads = [own.conversation(row.conversation.id) for row in own.conversations(limit=99)]
            found[name] = sorted((m.content, m.deleted, len(m.versions)) for t in threads for m in t.messages)
        return found


def test_a_move_of_users_that_is_killed_at_any_write_loses_nothing(tmp_path: Path) -> None:
    import shutil

    source = tmp_path / "source.db"
    with recollect.open(source, background=False) as memory:
        for user in ("alice", "bob", "ann lee"):
            said = [
                {"content": f"I live in {town}. {user}", "metadata": {"mem0": {"user_id": user, "role": "user"}}}
                for town in ("Leeds", "Porto", "York")
            ]
            own = stable_id("conversation", "mem0", user, None, None)
            stored = memory.store_messages(said, conversation_id=own, title=f"mem0 user_id={user};")
            memory.delete(stored[1].id)
            memory.update_message(stored[2].id, f"I live in Bergen. {user}")
        memory.store_message("not of mem0", conversation_id="mine")

    def moved(path: Path, at: int, when: str) -> str:
        command = [sys.executable, "-c", _KILLED, str(path), str(at), when]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    whole = Path(shutil.copy(source, tmp_path / "whole.db"))
    writes, wanted = int(moved(whole, 10**6, "")), _users(whole)
    assert len(wanted) == 4
    texts = {text for own in wanted.values() for text in own}
    for at in range(1, writes + 1):
        for when in ("before", "after"):
            path = Path(shutil.copy(source, tmp_path / f"{at}{when}.db"))
            moved(path, at, when)
            assert texts <= {text for own in _users(path).values() for text in own}, (at, when)
            moved(path, max(1, at // 2), "after")
            moved(path, 10**6, "")
            assert _users(path) == wanted, (at, when)
