"""Importing again: twice is once, a newer export adds, an older one undoes nothing, the order does not matter."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.importers.records import merge
from recollect.ingest import conversations
from recollect.memory import Memory
from recollect.record import Thread
from recollect.record.wire import digest
from tests.exports import (
    Json,
    archive,
    chat,
    dump_of,
    export,
    file,
    imported,
    lines,
    messages_of,
    node,
    opened,
    tree,
    tree_of,
)
from tests.paths import SHARED
from tests.properties import examples

pytestmark = pytest.mark.slow

DAY = 86_400.0
LATER = 1_740_000_000.0 + DAY


def branch(*answers: str, leaf: int = -1, question: str = "Which bread?", updated: float = 1_740_000_000.0) -> Json:
    """A question with answers, of which one is on the active path."""
    nodes = [node(f"a{i}", "q", text, "assistant", minute=i + 1) for i, text in enumerate(answers)]
    conversation = dict(tree(node("q", None, question), *nodes, name="bread", updated=updated))
    conversation["current_node"] = nodes[leaf]["id"]
    return conversation


def dumped(tmp_path: Path, name: str, *exports: Path) -> bytes:
    with imported(tmp_path / f"{name}.db", *exports) as memory:
        assert memory.upkeep.check() == []
        return dump_of(memory)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")
@pytest.mark.parametrize(
    "name",
    ["chatgpt.zip", "chatgpt-slim.zip", "claude-ai.zip", "claude-ai-2026", "claude-code", "codex", "openai.jsonl"],
)
def test_the_same_export_twice_changes_nothing(tmp_path: Path, name: str) -> None:
    path = SHARED / "fixtures" / "made" / name
    with imported(tmp_path / "memory.db", path) as memory:
        before = dump_of(memory)
        written = memory.import_file(path).written
        assert (written.new, written.changed, written.messages) == (0, 0, 0)
        assert dump_of(memory) == before
        assert memory.upkeep.check() == []


def test_the_same_export_packed_otherwise_changes_nothing(tmp_path: Path) -> None:
    one, two = chat("one", "two", name="c1"), chat("three", "four", name="c2")
    bare = export(tmp_path, [one, two])
    with imported(tmp_path / "memory.db", bare) as memory:
        before = dump_of(memory)
        memory.import_file(
            archive(tmp_path / "sharded.zip", {"conversations-000.json": [two], "conversations-001.json": [one]})
        )
        memory.import_file(file(tmp_path / "indented.json", json.dumps([one, two], indent=2)))
        assert dump_of(memory) == before


def test_a_newer_export_adds_what_is_new(tmp_path: Path) -> None:
    with imported(tmp_path / "memory.db", export(tmp_path / "old", [chat("one", "two")])) as memory:
        newer = [chat("one", "two", "three", "four", updated=LATER), chat("elsewhere", "yes", name="c2")]
        written = memory.import_file(export(tmp_path / "new", newer)).written
        assert (written.new, written.changed, written.messages) == (1, 1, 4)
        assert [m.content for m in messages_of(memory)] == ["one", "two", "three", "four", "elsewhere", "yes"]
        assert memory.upkeep.check() == []


def test_a_regenerated_answer_becomes_a_branch_and_moves_the_active_path(tmp_path: Path) -> None:
    old = export(tmp_path / "old", [branch("Rye.")])
    new = export(tmp_path / "new", [branch("Rye.", "Spelt.", updated=LATER)])
    with imported(tmp_path / "memory.db", old, new) as memory:
        assert [(m.content, m.active) for m in messages_of(memory)] == [
            ("Which bread?", True), ("Spelt.", True), ("Rye.", False),
        ]  # fmt: skip
        assert memory.upkeep.check() == []
        with imported(tmp_path / "at once.db", new) as at_once:
            assert tree_of(memory) == tree_of(at_once)


def test_an_edited_message_is_a_new_version_of_itself(tmp_path: Path) -> None:
    old = export(tmp_path / "old", [branch("Rye.")])
    new = export(tmp_path / "new", [branch("Rye, at 80 percent.", updated=LATER)])
    with imported(tmp_path / "memory.db", old, new) as memory:
        answer = messages_of(memory)[1]
        assert answer.content == "Rye, at 80 percent."
        assert [version.content for version in answer.versions] == ["Rye."]
        assert answer.versions[0].replaced_at.timestamp() == LATER
        before = dump_of(memory)
        memory.import_file(new)
        memory.import_file(old)
        memory.import_file(new)
        assert dump_of(memory) == before
        assert memory.upkeep.check() == []


def test_an_older_export_undoes_nothing_but_adds_what_it_alone_holds(tmp_path: Path) -> None:
    new = dict(branch("Spelt.", updated=LATER), title="Bread, renamed")
    old = branch("Rye.", "An answer that was lost.", leaf=0)
    with imported(tmp_path / "memory.db", export(tmp_path / "new", [new])) as memory:
        memory.import_file(export(tmp_path / "old", [old]))
        assert {(m.content, m.active) for m in messages_of(memory)} == {
            ("Which bread?", True), ("Spelt.", True), ("An answer that was lost.", False),
        }  # fmt: skip
        assert memory.conversations()[0].conversation.title == "Bread, renamed"
        assert memory.upkeep.check() == []


def test_what_was_deleted_stays_deleted_and_what_was_edited_here_stays_in_its_history(tmp_path: Path) -> None:
    path = export(tmp_path, [chat("one", "two", "three")])
    with imported(tmp_path / "memory.db", path) as memory:
        one, two, _ = messages_of(memory)
        memory.delete(one.id)
        memory.update_message(two.id, "two, put right")
        before = dump_of(memory)
        memory.import_file(path)
        assert dump_of(memory) == before
        assert memory.upkeep.check() == []


PARTS = [
    [chat("one", "two", name="c1"), chat("elsewhere", name="c2")],
    [chat("one", "two", "three", name="c1", updated=LATER), chat("a third", name="c3")],
    [chat("one", "two", "three", "four", name="c1", updated=LATER + DAY)],
]


def test_exports_of_one_account_make_one_memory_in_any_order(tmp_path: Path) -> None:
    paths = [export(tmp_path / str(i), part) for i, part in enumerate(PARTS)]
    dumps = {dumped(tmp_path, f"order {order}", *(paths[i] for i in order)) for order in permutations(range(3))}
    assert len(dumps) == 1


def test_branches_make_one_tree_in_any_order(tmp_path: Path) -> None:
    states = [
        branch("Rye."),
        branch("Rye.", "Spelt.", updated=LATER),
        branch("Rye.", "Spelt.", "Oat.", leaf=1, updated=LATER + DAY),
    ]
    paths = [export(tmp_path / str(i), [state]) for i, state in enumerate(states)]
    trees = []
    for order in permutations(range(3)):
        with imported(tmp_path / f"{order}.db", *(paths[i] for i in order)) as memory:
            assert memory.upkeep.check() == []
            trees.append(tree_of(memory))
    assert all(tree == trees[0] for tree in trees)


texts = st.lists(st.sampled_from(["heron", "otter", "weir", "belfry"]), min_size=1, max_size=6)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(accounts=st.lists(st.tuples(texts, st.integers(0, 2)), min_size=1, max_size=4), again=st.data())
def test_growing_chats_end_alike_however_often_and_in_whatever_order(
    tmp_path: Path, accounts: list[tuple[list[str], int]], again: Any
) -> None:
    """Each export holds every chat up to some message; what is stored in the end is the longest of each."""
    folder = tmp_path / str(abs(hash(str(accounts))))
    exports = [
        export(folder / str(cut), [
            chat(*words[: len(words) - cut], name=f"c{i}", updated=LATER - cut * DAY)
            for i, (words, _) in enumerate(accounts) if len(words) > cut
        ])
        for cut in range(3)
        if any(len(words) > cut for words, _ in accounts)
    ]  # fmt: skip
    order = again.draw(st.lists(st.sampled_from(exports), max_size=5))
    name = str(again.draw(st.uuids()))
    assert dumped(folder, f"{name}-a", *order, *exports) == dumped(folder, f"{name}-b", *exports[:1])


# --- conversations without ids -------------------------------------------------------------------------------------


def said(*texts: str) -> Json:
    return {"messages": [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)]}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return opened(tmp_path / "memory.db")


def test_conversations_that_begin_alike_are_told_apart(memory: Memory, tmp_path: Path) -> None:
    path = file(
        tmp_path / "chats.jsonl", lines(*(said("Hello", "Hello! How can I help?", f"Tell me of {x}") for x in "abc"))
    )
    for _ in range(2):
        assert memory.import_file(path).stored.conversations == 3
    assert sorted(m.content for m in messages_of(memory))[-3:] == ["Tell me of a", "Tell me of b", "Tell me of c"]
    assert memory.upkeep.check() == []


def test_the_same_conversation_without_an_id_is_one(memory: Memory, tmp_path: Path) -> None:
    path = file(tmp_path / "chats.jsonl", lines(*[said("Hello", "Hello! How can I help?", "Tell me of herons")] * 3))
    report = memory.import_file(path)
    assert (report.stored.conversations, report.stored.messages) == (1, 3)


def test_a_conversation_without_an_id_grows(memory: Memory, tmp_path: Path) -> None:
    memory.import_file(file(tmp_path / "old.jsonl", lines(said("Hello", "Hi!"), said("Other", "Yes?"))))
    grown = said("Hello", "Hi!", "Tell me of herons", "They fish.")
    report = memory.import_file(file(tmp_path / "new.jsonl", lines(grown, said("Other", "Yes?"))))
    assert (report.written.new, report.written.changed, report.written.same) == (0, 1, 1)
    assert memory.upkeep.stats().messages == 6


# --- documents -----------------------------------------------------------------------------------------------------


def project(text: str) -> list[Json]:
    docs = [{"uuid": "d1", "filename": "tides.md", "content": text, "created_at": "2025-03-01T09:00:00Z"}]
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    return [{"uuid": "p1", "name": "Harbour", "description": "", "prompt_template": "Be brief.", "docs": docs, **times}]


def test_a_projects_file_that_shrank_leaves_nothing_behind(memory: Memory, tmp_path: Path) -> None:
    long = "\n\n".join(f"Paragraph {i} speaks of tides and moorings, as harbour books do." for i in range(900))
    memory.import_file(file(tmp_path / "old" / "projects.json", project(long)))
    assert memory.upkeep.stats().chunks > 1
    memory.import_file(file(tmp_path / "new" / "projects.json", project("The quay is closed.")))
    assert memory.upkeep.stats().chunks == 0
    assert memory.upkeep.check() == []
    (document,) = (document for document in memory.documents() if document.title == "tides.md")
    assert [version.content for version in document.versions] == [long]
    with imported(tmp_path / "fresh.db", tmp_path / "new" / "projects.json") as fresh:
        assert [replace(d, versions=()) for d in memory.documents()] == list(fresh.documents())
        assert fresh.upkeep.stats() == memory.upkeep.stats()


def test_no_text_of_a_projects_file_is_lost_whichever_export_comes_last(memory: Memory, tmp_path: Path) -> None:
    """S6: an export says no date of a file's text, so the older one may come later."""
    newer = file(tmp_path / "newer" / "projects.json", project("The jetty is open."))
    older = file(tmp_path / "older" / "projects.json", project("The quay is closed."))
    memory.import_file(newer)
    memory.import_file(older)
    (document,) = (document for document in memory.documents() if document.title == "tides.md")
    assert (document.content, [version.content for version in document.versions]) == (
        "The quay is closed.", ["The jetty is open."],
    )  # fmt: skip
    before = dump_of(memory)
    for path in (newer, older, newer):
        memory.import_file(path)
    assert dump_of(memory) == before
    assert memory.upkeep.check() == []
    with opened(tmp_path / "other.db") as other:
        other.import_file(file(tmp_path / "dump.jsonl", before))
        assert dump_of(other) == before


# --- tools ---------------------------------------------------------------------------------------------------------


def claude(result: str, updated: str) -> list[Json]:
    use = {"type": "tool_use", "id": "t", "name": "tides", "input": {"port": "Ostend"}}
    got = {"type": "tool_result", "tool_use_id": "t", "name": "tides", "content": [{"type": "text", "text": result}]}
    words = {"type": "text", "text": "Let me consult the almanac."}
    sides = [
        {"uuid": "m1", "sender": "human", "text": "How high is the tide?", "content": []},
        {"uuid": "m2", "sender": "assistant", "text": "", "content": [words, use, *([got] if result else [])]},
    ]
    return [{"uuid": "c", "name": "Tides", "created_at": updated, "updated_at": updated, "chat_messages": sides}]


def test_the_result_of_a_tool_comes_grows_and_shrinks_with_the_exports(memory: Memory, tmp_path: Path) -> None:
    long = "\n\n".join(f"Line {i} of the almanac speaks of moorings." for i in range(900)) + "\n\nNeap at noon."
    for day, result in enumerate(["", long, "Spring at ten."], start=1):
        memory.import_file(file(tmp_path / f"{day}.json", claude(result, f"2025-03-0{day}T09:00:00Z")))
        last = result.rsplit("\n", 1)[-1]
        found = [hit.best.message.source_id for hit in memory.search(f'"{last}"', kind="tool")] if last else ["m2"]
        assert found == ["m2"]
        assert (memory.upkeep.stats().chunks > 1) == (result == long)
        assert memory.upkeep.check() == []
    assert not memory.search('"neap"', kind="tool")


def test_a_conversation_that_has_grown_is_fingerprinted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is read for that, and a session that is followed grows by a line a time."""
    said = [node(f"m{i}", f"m{i - 1}" if i else None, f"Line {i}.", minute=i) for i in range(20)]
    counted: list[str] = []

    def counting(thread: Thread) -> str:
        counted.append(digest(thread))
        return counted[-1]

    with opened(tmp_path / "memory.db") as memory:
        memory.import_file(export(tmp_path / "a", [tree(*said[:-1], name="bread", updated=DAY)]))
        monkeypatch.setattr(merge, "digest", counting)
        monkeypatch.setattr(conversations, "digest", counting)
        report = memory.import_file(export(tmp_path / "b", [tree(*said, name="bread", updated=2 * DAY)]))
        assert (report.written.changed, len(counted)) == (1, 1)
