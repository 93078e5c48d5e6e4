"""What other readers of these exports got wrong, each line of that list a test, through the whole of the memory.

Lines 7 to 11, of agents' sessions and formats to come, are in test_importing_sessions.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import ImportProblem, InvalidInput
from recollect.ingest.importing import Progress
from recollect.memory import Memory
from recollect.record import Kind, PartKind, Role
from tests.exports import (
    Json,
    archive,
    chat,
    export,
    file,
    first_hit,
    imported,
    messages_of,
    node,
    opened,
    texts_of,
    tree,
)

GOOD = chat("Where is the heron?", "By the weir.", name="good", title="Birds")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return opened(tmp_path / "memory.db")


# --- 1. success reported, nothing imported -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "conversations.json",
        "conversations-017.json",
        "conversations (1).json",
        "chats renamed by me.json",
        "Export.JSON",
    ],
)
def test_1_the_name_of_the_file_decides_nothing(memory: Memory, tmp_path: Path, name: str) -> None:
    report = memory.import_file(file(tmp_path / name, [GOOD]))
    assert (report.stored.conversations, report.stored.messages) == (1, 2)


def test_1_shards_are_one_export_in_a_zip_or_in_a_folder(memory: Memory, tmp_path: Path) -> None:
    shards = {f"conversations-{i:03}.json": [chat(f"shard {i}", "yes", name=f"c{i}")] for i in range(12)}
    report = memory.import_file(archive(tmp_path / "export.zip", {**shards, "chat.html": "<html>"}))
    assert (report.stored.conversations, report.sources[0].files) == (12, 12)
    for name, value in shards.items():
        file(tmp_path / "folder" / name, value)
    assert memory.import_file(tmp_path / "folder").written.same == 12


def test_1_a_folder_of_zips_and_a_zip_of_zips_are_read(memory: Memory, tmp_path: Path) -> None:
    inner = [
        archive(tmp_path / "folder" / f"part {i}.zip", {"conversations.json": [chat(f"part {i}", "yes", name=f"c{i}")]})
        for i in range(3)
    ]
    assert memory.import_file(tmp_path / "folder").stored.conversations == 3
    outer = archive(tmp_path / "outer.zip", {one.name: one.read_bytes() for one in inner})
    assert memory.import_file(outer).written.same == 3


def test_1_an_empty_export_is_nothing_imported(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="is not an export that Recollect knows"):
        memory.import_file(file(tmp_path / "conversations.json", []))


def test_1_where_nothing_of_an_export_can_be_kept_it_says_so(memory: Memory, tmp_path: Path) -> None:
    joints = tree(node("a", None, ""), node("b", "a", ""))
    report = memory.import_file(export(tmp_path, [joints]))
    assert report.nothing
    assert report.stored.conversations == 0
    assert report.notes["entries without messages"] == 1


def test_1_what_is_reported_is_counted_in_the_store(memory: Memory, tmp_path: Path) -> None:
    branched = tree(
        node("q", None, "Which bread?"),
        node("a1", "q", "Rye.", "assistant", minute=1),
        node("a2", "q", "Spelt.", "assistant", minute=2),
        name="branched",
    )
    report = memory.import_file(export(tmp_path, [GOOD, branched]))
    assert (report.stored.conversations, report.stored.messages, report.stored.active) == (2, 5, 4)
    row = memory.conversations(title="Birds")[0]
    memory.delete(memory.conversation(row.conversation.id).messages[0].id)
    again = memory.import_file(tmp_path / "conversations.json")
    assert (again.written.same, again.stored.messages) == (2, 4)  # what the user deleted is not in


def test_1_what_is_no_export_is_named_by_what_it_holds(memory: Memory, tmp_path: Path) -> None:
    strange = archive(tmp_path / "chat.zip", {"photos/1.jpg": "x", "photos/2.jpg": "x", "notes.txt": "milk"})
    with pytest.raises(ImportProblem, match=r"photos/ \(2\), notes.txt. Recollect reads: .*ChatGPT, Claude") as caught:
        memory.import_file(strange)
    assert "recollect import --describe" in caught.value.hint


# --- 2. the format judged by the first entry -----------------------------------------------------------------------


def test_2_a_shell_before_the_first_conversation_hides_nothing(memory: Memory, tmp_path: Path) -> None:
    shells = [{"id": f"folder-{i}", "title": "A folder", "create_time": 1.0} for i in range(300)]
    report = memory.import_file(export(tmp_path, [*shells, GOOD]))
    assert report.stored.conversations == 1
    assert report.notes["entries without messages"] == 300
    assert not report.problems


@pytest.mark.parametrize(
    "shaped",
    [lambda c: [c], lambda c: {"conversations": [c]}, lambda c: c, lambda c: json.dumps([c], indent=2)],
    ids=["array", "object", "alone", "indented"],
)
def test_2_array_object_or_alone_is_all_one(memory: Memory, tmp_path: Path, shaped: Callable[[Json], Any]) -> None:
    memory.import_file(file(tmp_path / "conversations.json", shaped(GOOD)))
    assert [(m.role, m.content) for m in messages_of(memory)] == [
        (Role.USER, "Where is the heron?"),
        (Role.ASSISTANT, "By the weir."),
    ]


# --- 3. the tree walked down `children` ----------------------------------------------------------------------------


def test_3_parents_alone_make_the_tree(memory: Memory, tmp_path: Path) -> None:
    conversation = json.loads(json.dumps(chat("one", "two", "three", "four")))
    for one in conversation["mapping"].values():
        del one["children"]
    memory.import_file(export(tmp_path, [conversation]))
    assert [(m.content, m.active) for m in messages_of(memory)] == [
        ("one", True), ("two", True), ("three", True), ("four", True),
    ]  # fmt: skip


def test_3_a_circle_ends_neither_the_import_nor_the_conversation(memory: Memory, tmp_path: Path) -> None:
    circle = tree(node("a", "c", "one"), node("b", "a", "two", "assistant"), node("c", "b", "three"), name="circle")
    report = memory.import_file(export(tmp_path, [circle, GOOD]))
    assert (report.stored.conversations, report.stored.messages) == (2, 5)
    assert memory.upkeep.check() == []


# --- 4. one bad conversation ends the import -----------------------------------------------------------------------

BROKEN: dict[str, Callable[[Any], Any]] = {
    "title null": lambda c: c.update(title=None),
    "create_time missing": lambda c: c.pop("create_time"),
    "current_node null": lambda c: c.update(current_node=None),
    "mapping a list": lambda c: c.update(mapping=list(c["mapping"].values())),
    "a node null": lambda c: c["mapping"].update(x=None),
    "message metadata missing": lambda c: c["mapping"]["c-0"]["message"].pop("metadata"),
    "message without author": lambda c: c["mapping"]["c-0"]["message"].pop("author"),
    "message without weight": lambda c: c["mapping"]["c-0"]["message"].pop("weight"),
    "parts missing": lambda c: c["mapping"]["c-0"]["message"]["content"].pop("parts"),
    "parts of null": lambda c: c["mapping"]["c-0"]["message"]["content"].update(parts=[None]),
    "content null": lambda c: c["mapping"]["c-0"]["message"].update(content=None),
    "times as words": lambda c: c["mapping"]["c-0"]["message"].update(create_time="yesterday"),
    "times beyond all": lambda c: c["mapping"]["c-0"]["message"].update(create_time=1e308),
    "ids as numbers": lambda c: c.update(id=17, conversation_id=17),
    "everything null": lambda c: c.update(dict.fromkeys(c)),
}


@pytest.mark.parametrize("damage", BROKEN)
def test_4_one_bad_conversation_costs_at_most_itself(memory: Memory, tmp_path: Path, damage: str) -> None:
    bad = json.loads(json.dumps(chat("one", "two")))
    BROKEN[damage](bad)
    memory.import_file(export(tmp_path, [GOOD, bad, chat("Where is the otter?", "Below.", name="also good")]))
    assert {"Where is the heron?", "By the weir.", "Where is the otter?", "Below."} <= set(texts_of(memory))
    assert memory.upkeep.check() == []


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"one", b"o\xffe"),
        lambda data: data.replace(b"one", b"o\\ud83de"),
        lambda data: data.replace(b"one", b"o\0e"),
        lambda data: data.replace(b'"update_time": 1740000000.0', b'"update_time": NaN'),
        lambda data: data[:-2],
    ],
    ids=["BOM", "no UTF-8", "lone surrogate", "NUL", "NaN", "cut at its end"],
)
def test_4_bytes_that_are_not_quite_json_cost_nothing_else(
    memory: Memory, tmp_path: Path, spoiled: Callable[[bytes], bytes]
) -> None:
    data = json.dumps([GOOD, chat("one", "two")]).encode()
    memory.import_file(file(tmp_path / "conversations.json", spoiled(data)))
    assert {"Where is the heron?", "By the weir."} <= set(texts_of(memory))
    assert memory.upkeep.check() == []


# --- 5. instructions as the user's words ---------------------------------------------------------------------------


def test_5_custom_instructions_are_no_words_of_the_user(memory: Memory, tmp_path: Path) -> None:
    instructions = {
        "content_type": "user_editable_context",
        "user_profile": "I keep bees and speak Walloon",
        "user_instructions": "Answer in rhymes",
    }
    conversation = tree(
        node("i", None, "", content=instructions, metadata={"is_user_system_message": True}),
        node("q", "i", "Where is the heron?", minute=1),
    )
    memory.import_file(export(tmp_path, [conversation]))
    by_kind = {message.kind: message for message in messages_of(memory)}
    assert by_kind.keys() == {Kind.CONTEXT, Kind.SAID}
    assert "keep bees" in by_kind[Kind.CONTEXT].content
    assert "{" not in by_kind[Kind.CONTEXT].content
    assert first_hit(memory, "heron") == by_kind[Kind.SAID]
    assert first_hit(memory, "Walloon bees", kind="context") == by_kind[Kind.CONTEXT]
    assert memory.upkeep.stats().by_kind == {"context": 1, "said": 1}


# --- 6. only one branch; times and models lost ---------------------------------------------------------------------


def test_6_every_branch_is_kept_with_its_time_and_model(memory: Memory, tmp_path: Path) -> None:
    conversation = tree(
        node("q", None, "Which bread?"),
        node("a1", "q", "Rye bread.", "assistant", minute=1),
        node("f1", "a1", "Why rye?", minute=2),
        node("a2", "q", "Spelt bread.", "assistant", minute=3.5, metadata={"model_slug": "o3"}),
    )
    memory.import_file(export(tmp_path, [conversation]))
    by_id = {message.source_id: message for message in messages_of(memory)}
    assert {name for name, message in by_id.items() if message.active} == {"q", "a2"}
    assert first_hit(memory, "rye bread") == by_id["a1"]
    assert (by_id["a1"].model, by_id["a2"].model) == ("gpt-4o", "o3")
    assert by_id["a1"].timestamp
    assert by_id["a2"].timestamp
    assert (by_id["a2"].timestamp - by_id["a1"].timestamp).total_seconds() == 150.0


# --- 12. artifacts, attachments, tool results dropped --------------------------------------------------------------


def test_12_what_hangs_on_a_message_is_kept_and_a_placeholder_is_no_answer(memory: Memory, tmp_path: Path) -> None:
    unsupported = "This block is not supported on your current device yet."
    attachment = {"file_name": "lease.txt", "file_type": "txt", "extracted_content": "No herons on the roof."}
    artifact = {
        "id": "belfry",
        "type": "text/markdown",
        "title": "Belfry plan",
        "command": "create",
        "content": "Bolt it.",
    }
    answer: list[Json] = [
        {"type": "text", "text": "Here is a plan."},
        {"type": "tool_use", "id": "t1", "name": "artifacts", "input": artifact},
        {"type": "tool_use", "id": "t2", "name": "web_search", "input": {"query": "bell bolts"}},
        {
            "type": "tool_result",
            "tool_use_id": "t2",
            "name": "web_search",
            "content": [{"type": "text", "text": "M24 zinc"}],
        },
    ]
    sides = [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Read my lease.",
            "content": [],
            "attachments": [attachment],
            "files": [],
        },
        {"uuid": "m2", "sender": "assistant", "text": unsupported, "content": answer, "attachments": [], "files": []},
    ]
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    talk = {
        "uuid": "c",
        "name": "Lease",
        "account": {"uuid": "me"},
        **times,
        "chat_messages": [s | times for s in sides],
    }
    memory.import_file(archive(tmp_path / "claude.zip", {"conversations.json": [talk]}))
    question, reply = (m for m in messages_of(memory) if m.kind is Kind.SAID)
    assert [(p.kind, p.name) for p in question.parts] == [(PartKind.ATTACHMENT, "lease.txt")]
    assert [(p.kind, p.name) for p in reply.parts] == [(PartKind.ARTIFACT, "Belfry plan")]
    assert first_hit(memory, "herons roof") == question
    assert first_hit(memory, "bolt") == reply
    assert first_hit(memory, "zinc", kind="tool") is not None
    assert not any("not supported" in text for text in texts_of(memory))
    assert memory.upkeep.stats().attachments == 2


# --- 13. the whole file in memory ----------------------------------------------------------------------------------


def test_13_what_was_read_first_is_stored_before_the_rest_is_read(tmp_path: Path) -> None:
    long = [chat(*(f"message {i} of {n}: {'tide ' * 40}" for i in range(100)), name=f"c{n}") for n in range(40)]
    path = export(tmp_path, long)
    seen: list[Progress] = []
    memory = imported(tmp_path / "memory.db", path, progress=seen.append)
    assert memory.upkeep.stats().messages == 4_000
    assert len(seen) >= 4
    assert seen[0].read < seen[0].total / 2
    assert [one.messages for one in seen] == sorted(one.messages for one in seen)
    assert (seen[-1].read, seen[-1].messages) == (path.stat().st_size, 4_000)


# --- 14. what only looks alike -------------------------------------------------------------------------------------

ALIKE = {
    "a memory of its own": {"conversations": [{"id": "1", "summary": "bees", "memories": ["likes bees"]}]},
    "a mapping of words": [{"title": "Glossary", "mapping": {"bee": "Biene", "heron": "Reiher"}, "create_time": 1.0}],
    "messages of another kind": [{"title": "x", "messages": [{"sender": "me", "body": "hello", "at": 17}]}],
    "a shop's chats": [{"uuid": "1", "name": "Order 7", "chat_messages": [{"role": "customer", "content": "Where?"}]}],
    "settings": {"messages": {"welcome": "Hello"}, "conversations": 7},
    "nothing but ids": [{"id": "1"}, {"id": "2"}],
}


@pytest.mark.parametrize("name", ALIKE)
def test_14_what_only_half_fits_is_refused(memory: Memory, tmp_path: Path, name: str) -> None:
    with pytest.raises(ImportProblem, match="is not an export that Recollect knows"):
        memory.import_file(file(tmp_path / "conversations.json", ALIKE[name]))


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("format", ["chatgpt", "claude", "claude-code", "codex", "openai", "sharegpt", "recollect"])
def test_14_even_forced_it_does_no_harm(memory: Memory, tmp_path: Path, name: str, format: str) -> None:
    memory.import_file(export(tmp_path, [GOOD]))
    report = memory.import_file(file(tmp_path / "alike.json", ALIKE[name]), format=format)
    assert report.nothing or report.stored.messages
    assert {"Where is the heron?", "By the weir."} <= set(texts_of(memory))
    assert memory.upkeep.check() == []


def test_a_format_that_nobody_knows_is_refused_with_those_there_are(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a format") as caught:
        memory.import_file(export(tmp_path, [GOOD]), format="msn")
    assert "chatgpt" in caught.value.hint
