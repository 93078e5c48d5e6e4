"""ChatGPT's exports, as they come and as they should not. "Line n" is the n-th of what other readers got wrong."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.importers.base import DraftConversation, DraftMessage, Entry, Problems
from recollect.importers.formats.chatgpt.chatgpt import ChatGPT
from recollect.importers.reading.archive import walk
from recollect.importers.reading.lenient import drafts as drafts_of
from recollect.importers.records.assemble import assemble
from recollect.record import DEFAULT_NAMESPACE, Kind, Message, PartKind, Role, Thread
from tests.paths import SHARED
from tests.properties import examples

FIXTURES = SHARED / "fixtures"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")
NOW = 1_750_000_000.0  # messages of the tests are so many seconds after it
KINDS = {"said": Kind.SAID, "hidden": Kind.CONTEXT, "tool": Kind.TOOL, "thinking": Kind.REASONING}


def entry(data: Any, name: str = "conversations.json") -> Entry:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return Entry(name, name, name, len(raw), lambda: io.BytesIO(raw))


def read(*entries: Entry) -> tuple[list[DraftConversation], Problems]:
    problems = Problems()
    drafts = list(drafts_of(ChatGPT(), entries, problems))
    assert all(isinstance(draft, DraftConversation) for draft in drafts)
    return [draft for draft in drafts if isinstance(draft, DraftConversation)], problems


def thread(draft: DraftConversation) -> Thread:
    return assemble(draft, DEFAULT_NAMESPACE, count_tokens=lambda text: len(text) // 4)


def message(role: str, content: Any, time: float | None = None, **more: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    return {"author": {"role": role}, "content": content, "create_time": None if time is None else NOW + time, **more}


def conversation(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A chain: each message the child of the one before."""
    mapping = {
        f"n{at}": {"id": f"n{at}", "parent": f"n{at - 1}" if at else None, "message": one and {"id": f"m{at}", **one}}
        for at, one in enumerate(messages)
    }
    return {"title": "Trip to Porto", "conversation_id": "c1", "mapping": mapping, **more}


def one(*messages: dict[str, Any] | None, **more: Any) -> DraftConversation:
    drafts, problems = read(entry([conversation(*messages, **more)]))
    assert not problems.found
    return drafts[0]


def only(**of_message: Any) -> DraftMessage:
    return one({"author": {"role": "assistant"}, **of_message}).messages[0]


def chat(number: int = 1) -> dict[str, Any]:
    return conversation(
        None,
        message("user", f"Where shall we eat in Porto? {number}", 100.0),
        message("assistant", "By the river.", 101.0),
        conversation_id=f"c{number}",
    )


def words(messages: tuple[Message, ...]) -> list[str]:
    return [each.content for each in messages]


def is_at(moment: datetime | None, seconds: float | None) -> bool:
    """Whether the two are the same, but for the rounding of microseconds."""
    if moment is None or seconds is None:
        return moment is seconds
    return abs(moment.timestamp() - seconds) < 2e-6


def truths() -> list[Any]:
    cases = []
    for kind in ("chatgpt", "chatgpt-slim") if SHARED.is_dir() else ():
        truth = json.loads((FIXTURES / "made" / f"{kind}.truth.json").read_text())
        cases += [pytest.param(kind, told, id=f"{kind}: {told['title']}") for told in truth["conversations"]]
    return cases


def imported(path: Path) -> tuple[list[DraftConversation], Problems]:
    problems = Problems()
    found = [each for each in walk(path, problems) if ChatGPT().recognises(each)]
    drafts = [draft for draft in drafts_of(ChatGPT(), found, problems) if isinstance(draft, DraftConversation)]
    return drafts, problems


@needs_shared
@pytest.mark.parametrize(("kind", "truth"), truths())
def test_every_message_of_the_made_exports_is_told_as_it_is(kind: str, truth: dict[str, Any]) -> None:
    drafts, problems = imported(FIXTURES / "made" / f"{kind}.zip")
    assert not problems.found
    draft = next(draft for draft in drafts if draft.source_id == truth["id"])
    told = thread(draft)
    assert told.conversation.title == truth["title"]
    assert is_at(told.conversation.created, truth["created"])
    assert is_at(told.conversation.updated, truth["updated"])
    messages = {each.source_id: each for each in told.messages}
    assert len(messages) == len(told.messages) == len(truth["messages"])
    for expected in truth["messages"]:
        found = messages[expected["id"]]
        assert (found.role, found.kind, found.active) == (expected["role"], KINDS[expected["kind"]], expected["active"])
        assert is_at(found.timestamp, expected["time"])
        assert expected["text"] in found.content
        if expected["phrase"]:
            assert expected["phrase"] in found.content
        if expected["parent"] in messages:
            assert found.parent_id == messages[expected["parent"]].id
        for phrase in expected.get("also", ()):
            assert any(phrase in part.text or phrase in part.name for part in found.parts)
    calls = {call.message_id: call for call in told.tool_calls}
    assert all(
        calls[each.id].result_message_id for each in told.messages if (each.kind, each.role) == (Kind.TOOL, "assistant")
    )


@needs_shared
@pytest.mark.parametrize("kind", ["chatgpt", "chatgpt-slim"])
def test_the_made_exports_give_their_number_of_conversations_line_1(kind: str) -> None:
    """Line 1: success reported, nothing imported, with sharded files; shells without `mapping` are counted."""
    drafts, problems = imported(FIXTURES / "made" / f"{kind}.zip")
    truth = json.loads((FIXTURES / "made" / f"{kind}.truth.json").read_text())
    assert len(drafts) == len(truth["conversations"])
    assert problems.notes == ({"entries without messages": 1} if kind == "chatgpt-slim" else {})


@needs_shared
def test_pages_on_the_canvas_are_found_as_artifacts_of_the_message_that_wrote_them() -> None:
    drafts, _ = imported(FIXTURES / "made" / "chatgpt.zip")
    pages = [(part, each) for draft in drafts for each in draft.messages for part in each.parts if part.text]
    ((page, holder),) = pages
    assert (page.kind, page.name, page.text) == (PartKind.ARTIFACT, "Plan", holder.content)
    assert json.loads(holder.calls[0].arguments) == {"name": "Plan", "type": "document"}


@needs_shared
@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("branch.json", [5]),
        ("native-conversation.json", [8]),
        ("no-children.json", [4, 2]),
        ("no-current-node.json", [4, 3]),
        ("representative.json", [3]),
        ("simple.json", [4]),
        ("synthetic-export.zip", [5, 5]),
    ],
)
def test_foreign_exports_are_read_whole(name: str, messages: list[int]) -> None:
    drafts, problems = imported(FIXTURES / "chatgpt" / name)
    assert [len(thread(draft).messages) for draft in drafts] == messages
    assert not problems.found


@needs_shared
def test_no_other_format_is_taken_for_chatgpts_line_14() -> None:
    """Line 14: look-alikes. The fixtures hold 15 other formats, trees and lists of messages among them."""
    problems = Problems()
    for path in FIXTURES.iterdir():
        if path.is_dir() and path.name not in ("chatgpt", "made"):
            assert not [each.path for each in walk(path, problems) if ChatGPT().recognises(each)]
    made = [each.path for each in walk(FIXTURES / "made", problems) if ChatGPT().recognises(each)]
    assert all(path.startswith("chatgpt") for path in made)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("conversations.json", [chat()]),
        ("conversations-017.json", [chat()]),
        ("my talks.txt", [chat()]),
        ("conversations.json", {"version": 1, "conversations": [chat()]}),
        ("Trip to Porto.json", chat()),
    ],
)
def test_lists_objects_and_single_conversations_are_read_under_any_name_line_1_and_2(name: str, data: Any) -> None:
    """Lines 1 and 2: renamed files, an array where an object was expected and the other way round."""
    assert ChatGPT().recognises(entry(data, name))
    drafts, problems = read(entry(data, name))
    assert [draft.source_id for draft in drafts] == ["c1"]
    assert not problems.found


def test_shells_before_the_first_conversation_do_not_hide_it_line_2() -> None:
    """Line 2: the format judged by the first entry, which was a shell without `mapping`."""
    shells = [{"title": f"Folder {at}", "create_time": 1.0, "id": f"f{at}"} for at in range(2000)]
    assert ChatGPT().recognises(entry([*shells, {**chat(), "mapping": {}}, chat()]))
    drafts, problems = read(entry([*shells, {**chat(), "mapping": None}, chat()]))
    assert len(drafts) == 1
    assert problems.notes == {"entries without messages": 2001}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("chat.html", b"<html><script>var jsonData = " + json.dumps([chat()]).encode()),
        ("shared_conversations.json", [{"id": "1", "conversation_id": "2", "title": "x"}]),
        ("group_chats.json", {"chats": []}),
        ("user.json", {"id": "u", "email": "someone@example.org"}),
        ("deepseek.json", [{"mapping": {"1": {"message": {"inserted_at": "x", "fragments": [{"type": "REQUEST"}]}}}}]),
        ("talk.json", [{"uuid": "1", "chat_messages": [{"text": json.dumps(chat()), "sender": "human"}]}]),
        ("openai.json", {"messages": [{"role": "user", "content": json.dumps(chat())}]}),
        ("half.json", [{"mapping": {"a": "b"}, "title": "t", "create_time": 1}]),
        ("photo.png", b"\x89PNG\r\n" + bytes(range(256))),
        ("empty.json", b""),
    ],
)
def test_what_is_no_conversation_of_chatgpt_is_refused_line_14(name: str, data: Any) -> None:
    """Line 14: detect by several keys, and refuse what only half fits."""
    assert not ChatGPT().recognises(entry(data, name))


@pytest.mark.parametrize("children", ["none", "some", "wrong"])
def test_parents_alone_make_the_tree_line_3(children: str) -> None:
    """Line 3: the tree walked down `children`, absent since May 2026."""
    data = chat()
    if children == "some":
        data["mapping"]["n0"]["children"] = ["n1"]
    if children == "wrong":
        data["mapping"]["n0"]["children"] = ["n2", "nowhere", None]
        data["mapping"]["n2"]["children"] = ["n1"]
    told = thread(read(entry([data]))[0][0])
    assert words(told.messages) == ["Where shall we eat in Porto? 1", "By the river."]
    assert told.messages[1].parent_id == told.messages[0].id


def test_children_are_asked_where_no_parent_is_named() -> None:
    data = chat()
    for node in data["mapping"].values():
        del node["parent"]
    data["mapping"]["n0"]["children"], data["mapping"]["n1"]["children"] = ["n1"], ["n2"]
    told = thread(read(entry([data]))[0][0])
    assert told.messages[1].parent_id == told.messages[0].id


def test_nodes_without_any_links_keep_the_order_of_the_mapping() -> None:
    mapping = {name: {"message": message("user", name, time)} for name, time in (("b", 9.0), ("a", 5.0), ("c", None))}
    told = thread(read(entry([{"title": "x", "mapping": mapping}]))[0][0])
    assert words(told.messages) == ["b", "a", "c"]
    assert all(each.active for each in told.messages)


def test_all_branches_are_kept_siblings_by_time_and_the_current_one_active_line_6() -> None:
    """Line 6: only the active branch, the first or the deepest kept; time and model lost."""
    data = conversation(
        None, message("user", "Where to?", 100.0), message("assistant", "late", 300.5), current_node="n3"
    )
    for at, (text, time) in enumerate((("early", 200.0), ("middle", 250.0)), start=3):
        data["mapping"][f"n{at}"] = {"parent": "n1", "message": message("assistant", text, time)}
    data["mapping"]["n3"]["message"]["metadata"] = {"model_slug": "gpt-x"}
    draft = read(entry([data]))[0][0]
    assert [each.content for each in draft.messages if each.parent == "n1"] == ["early", "middle", "late"]
    told = thread(draft)
    assert {each.content: each.active for each in told.messages} == {
        "Where to?": True, "early": True, "middle": False, "late": False
    }  # fmt: skip
    assert {each.model for each in told.messages} == {"gpt-x", None}
    assert told.messages[1].timestamp == datetime.fromtimestamp(NOW + 200, UTC)


def test_without_a_current_node_the_newest_leaf_is_active_line_4() -> None:
    """Line 4: one `current_node` null refused a whole archive."""
    data = chat() | {"current_node": None}
    data["mapping"]["n9"] = {"parent": "n1", "message": message("assistant", "newer", 500.0)}
    active = [each.content for each in thread(read(entry([data]))[0][0]).messages if each.active]
    assert active[-1] == "newer"


def test_circles_orphans_and_several_roots_are_kept_line_3() -> None:
    """Line 3: walk up by `parent`, with a guard against cycles."""
    mapping = {
        "a": {"parent": "b", "message": message("user", "one", 1.0)},
        "b": {"parent": "a", "message": message("assistant", "two", 2.0)},
        "c": {"parent": "c", "message": message("user", "three", 3.0)},
        "d": {"parent": "gone", "message": message("user", "four", 4.0)},
    }
    told = thread(read(entry([{"title": "x", "current_node": "b", "mapping": mapping}]))[0][0])
    assert sorted(words(told.messages)) == ["four", "one", "three", "two"]


@pytest.mark.parametrize("missing", ["title", "create_time", "update_time", "current_node", "default_model_slug"])
@pytest.mark.parametrize("value", [None, "absent", 0, [], {"a": 1}])
def test_no_missing_or_wrong_field_ends_a_conversation_line_4(missing: str, value: Any) -> None:
    """Line 4: `title` null, `create_time` missing."""
    broken = {**chat(1), missing: value}
    if value == "absent":
        del broken[missing]
    drafts, problems = read(entry([broken, chat(2)]))
    assert [len(thread(draft).messages) for draft in drafts] == [2, 2]
    assert not problems.found


@pytest.mark.parametrize("field", ["id", "author", "metadata", "weight", "recipient", "channel", "status", "content"])
@pytest.mark.parametrize("value", [None, "", 7, [None], {"parts": None}, True])
def test_no_missing_or_wrong_field_ends_a_message_line_4(field: str, value: Any) -> None:
    """Line 4: `metadata`, `parts`, `weight`, `is_user_system_message` missing; block text null."""
    data = chat()
    data["mapping"]["n1"]["message"][field] = value
    draft = read(entry([data]))[0][0]
    assert "By the river." in words(thread(draft).messages)


def test_nodes_that_cannot_be_read_are_told_and_the_others_are_in_line_4() -> None:
    """Line 4: one bad conversation ended the whole import."""
    data = chat()
    data["mapping"] |= {"x": None, "y": 17, "z": {"parent": "n2", "message": ["?"]}}
    drafts, problems = read(entry([17, data, {"mapping": [1], "title": "list"}, chat(2)]))
    assert [draft.source_id for draft in drafts] == ["c1", "c2"]
    told = {problem.place: (problem.reason, problem.lost) for problem in problems.found}
    assert told["conversations.json #0"][1] is True
    assert told['conversations.json #1 "Trip to Porto"'] == ("3 of its messages cannot be read", False)
    assert 'conversations.json #2 "list"' in told


def test_a_broken_conversation_and_a_cut_end_are_told_with_their_places_line_4() -> None:
    """Line 4: a BOM, a lone surrogate, one bad byte or a cut end refused a whole archive."""
    whole = json.dumps([chat(number) for number in range(4)]).encode()
    broken = b"\xef\xbb\xbf" + whole.replace(b"Porto? 0", b"Port\xff \\ud83d 0").replace(
        b'"m1", "author"', b'"m1" "author"', 2
    )
    drafts, problems = read(entry(broken[:-30]))
    assert [draft.source_id for draft in drafts] == ["c2"]
    assert [problem.place for problem in problems.found] == [f"conversations.json #{at}" for at in (0, 1, 3)]
    drafts, problems = read(entry(b"\xef\xbb\xbf" + whole.replace(b"Porto? 0", b"Port\xff \\ud83d 0")))
    assert drafts[0].messages[1].content == "Where shall we eat in Port� � 0"
    assert not problems.found


def test_a_file_that_cannot_be_read_is_told() -> None:
    drafts, problems = read(entry(b'{"title": '), entry([chat()], "conversations-001.json"))
    assert len(drafts) == 1
    assert [problem.place for problem in problems.found] == ["conversations.json #0"]


@pytest.mark.parametrize(
    "put_in",
    [
        message("system", "You are ChatGPT."),
        message("developer", "You are ChatGPT."),
        message("user", {"content_type": "user_editable_context", "user_profile": "You are ChatGPT."}),
        message("assistant", {"content_type": "model_editable_context", "model_set_context": "You are ChatGPT."}),
        message("system", "", metadata={"user_context_message_data": {"about_model_message": "You are ChatGPT."}}),
        message("user", "You are ChatGPT.", metadata={"is_user_system_message": True}),
        message("user", "You are ChatGPT.", metadata={"is_visually_hidden_from_conversation": True}),
        message("user", "You are ChatGPT.", weight=0.0),
    ],
)
def test_what_was_put_into_the_talk_is_nobodys_words_line_5(put_in: dict[str, Any]) -> None:
    """Line 5: custom instructions, memory and injected context imported as the user's words, as raw JSON."""
    first = one(put_in).messages[0]
    assert (first.kind, first.content) == (Kind.CONTEXT, "You are ChatGPT.")


def test_empty_system_messages_are_joints() -> None:
    told = thread(one(message("system", "", weight=0), message("user", "Hello"), message("tool", None)))
    assert words(told.messages) == ["Hello"]


def test_thoughts_are_reasoning() -> None:
    thoughts = [{"summary": "Weighing", "content": "Fish or meat"}, {"summary": None, "chunks": ["a", "b"]}, None]
    draft = one(
        message("assistant", {"content_type": "thoughts", "thoughts": thoughts}, channel="analysis"),
        message("assistant", {"content_type": "reasoning_recap", "content": "Thought for 7 seconds"}),
        message("assistant", "Let me see.", channel="analysis"),
        message("assistant", "I look it up.", channel="commentary"),
    )
    assert [each.content for each in draft.messages][:2] == ["Weighing\nFish or meat\n\nab", "Thought for 7 seconds"]
    assert [each.kind for each in draft.messages] == [Kind.REASONING] * 3 + [Kind.SAID]


def test_calls_of_tools_lead_to_their_results_line_12() -> None:
    """Line 12: tool results dropped without a word."""
    draft = one(
        message("user", "Add it up"),
        message("assistant", {"content_type": "code", "language": "python", "text": "1 + 1"}, recipient="python"),
        message("tool", {"content_type": "execution_output", "text": "2"})
        | {"author": {"role": "tool", "name": "python"}},
        message("assistant", "Two.", recipient="all"),
    )
    assert [each.kind for each in draft.messages] == [Kind.SAID, Kind.TOOL, Kind.TOOL, Kind.SAID]
    call, result = draft.messages[1].calls[0], draft.messages[2]
    assert (call.name, call.arguments, call.result_of) == ("python", "1 + 1", "m2")
    assert (result.content, result.speaker, result.metadata["author"]) == ("2", None, "python")
    assert thread(draft).tool_calls[0].result_message_id == thread(draft).messages[2].id


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "execution_output", "text": "out"}, "out"),
        ({"content_type": "tether_quote", "title": "T", "url": "https://example.org", "text": "quoted"}, "quoted"),
        ({"content_type": "tether_browsing_display", "result": "", "summary": "found"}, "found"),
        ({"content_type": "sonic_webpage", "text": "a page", "snippet": "a"}, "a page"),
        ({"content_type": "computer_output", "state": {"title": "Desk", "url": "about:blank"}}, "Desk\nabout:blank"),
        ({"content_type": "system_error", "name": "Timeout", "text": "too slow"}, "Timeout: too slow"),
        ({"content_type": "citable_code_output", "output_str": "out"}, "out"),
        ({"content_type": "text", "parts": ["one", None, 3, {"text": "two"}]}, "one\ntwo"),
    ],
)
def test_what_tools_gave_back_is_kept_as_tool_output(content: dict[str, Any], text: str) -> None:
    draft = one(message("tool", content))
    assert (draft.messages[0].kind, draft.messages[0].content) == (Kind.TOOL, text)


def test_types_that_nobody_knows_are_kept_as_text_and_counted() -> None:
    odd = {"content_type": "hologram", "result": "a boat", "text": "a boat", "shape": [1, 2]}
    drafts, problems = read(entry([conversation(message("assistant", odd))]))
    assert drafts[0].messages[0].content == "a boat"
    assert drafts[0].messages[0].metadata["content"] == {"shape": [1, 2]}
    assert problems.notes == {"content of type hologram, kept as text": 1}


def test_images_sound_and_files_hang_on_their_message_by_name_line_12() -> None:
    """Line 12: attachments dropped without a word."""
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file-1", "metadata": {"dalle": None}},
        {"content_type": "audio_transcription", "text": "what I said", "direction": "in"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"asset_pointer": "x://a"}},
        "and what I typed",
    ]
    attachments = [
        {"id": "file-1", "name": "photo.png", "mimeType": "image/png"},
        {"id": "file-2", "name": "plan.pdf", "mime_type": "application/pdf"},
        {"id": "file-3", "name": "song.mp3", "mimeType": "audio/mpeg"},
        "nothing",
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    first = one(message("user", content, metadata={"attachments": attachments})).messages[0]
    assert (first.kind, first.content) == (Kind.SAID, "what I said\nand what I typed")
    assert [(part.kind, part.name) for part in first.parts] == [
        (PartKind.ASSET, "photo.png"),
        (PartKind.ASSET, "a"),
        (PartKind.ATTACHMENT, "plan.pdf"),
        (PartKind.ASSET, "song.mp3"),
    ]


def test_changes_on_the_canvas_are_artifacts_under_the_name_that_the_tool_gives_back_line_12() -> None:
    """Line 12: artifacts dropped without a word."""
    updates = [{"pattern": "one", "replacement": "First passage."}, {"pattern": "two", "replacement": "Second."}]
    asked = message("assistant", json.dumps({"updates": updates}), recipient="canmore.update_textdoc")
    draft = one(asked, message("tool", "Done.", metadata={"canvas": {"title": "Plan", "textdoc_id": "68a"}}))
    page = draft.messages[0].parts[0]
    assert (page.kind, page.name, page.text) == (PartKind.ARTIFACT, "Plan", "First passage.\n\nSecond.")
    assert draft.messages[0].content == page.text
    assert json.loads(draft.messages[0].calls[0].arguments) == {"updates": [{"pattern": "one"}, {"pattern": "two"}]}


def test_a_canvas_call_that_was_cut_is_kept_as_it_stands() -> None:
    first = one(message("assistant", '{"name": "Plan", "cont', recipient="canmore.create_textdoc")).messages[0]
    assert (first.content, first.parts) == ('{"name": "Plan", "cont', ())
    assert first.calls[0].arguments == first.content


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Take the train \ue200cite\ue202turn0search0\ue202turn0search1\ue201.", "Take the train."),
        ("See \ue200url\ue202Fares of 2026\ue202turn0search0\ue201 first.", "See Fares of 2026 first."),
        ('In \ue200entity\ue202["city","Porto","Portugal"]\ue201 it rains.', "In Porto it rains."),
        ("\ue203It rains\ue204 \ue200filecite\ue202turn0file0\ue202L1-L2\ue201", "It rains"),
        ("It rains \ue200cite\ue202turn0sea", "It rains"),
        ("It rains【1†source】 and pours 【12:0†plan.pdf】.", "It rains and pours."),
        ("No mark 【here】 at all", "No mark 【here】 at all"),
    ],
)
def test_marks_of_sources_are_taken_out_of_answers(raw: str, text: str) -> None:
    draft = one(message("assistant", raw), message("user", raw))
    assert draft.messages[0].content == text
    assert draft.messages[1].content == raw


def test_the_sources_that_the_marks_stood_for_are_kept() -> None:
    reference = {
        "matched_text": "\ue200cite\ue202turn0search0\ue201",
        "items": [{"title": "Fares", "url": "https://a.b"}],
    }
    older = {"metadata_list": [{"title": "Fares", "url": "https://a.b"}, {"title": "Times", "url": None}]}
    metadata = {"content_references": [reference, None], "_cite_metadata": older, "citations": 7}
    assert one(message("assistant", "x", metadata=metadata)).messages[0].metadata["citations"] == [
        {"title": "Fares", "url": "https://a.b"},
        {"title": "Times", "url": ""},
    ]


def test_models_are_told_of_answers_only_by_message_or_by_conversation() -> None:
    draft = one(
        message("user", "Hello"),
        message("assistant", "Hi", metadata={"model_slug": "gpt-x"}),
        message("assistant", "Again"),
        default_model_slug="gpt-y",
    )
    assert [each.model for each in draft.messages] == [None, "gpt-x", "gpt-y"]


def test_what_else_is_told_of_a_conversation_is_in_its_metadata() -> None:
    told = {"gizmo_id": "g-1", "is_archived": True, "is_starred": None, "is_do_not_remember": True, "novelty": [1]}
    assert one(message("user", "x"), **told).metadata == {
        "gizmo_id": "g-1", "is_archived": True, "is_do_not_remember": True, "novelty": [1]
    }  # fmt: skip


def test_ids_are_the_messages_own_else_the_nodes() -> None:
    data = conversation(message("user", "a"), message("user", "b"))
    data["mapping"]["n1"]["message"]["id"] = None
    messages = read(entry([data]))[0][0].messages
    assert [(each.source_id, each.key, each.parent) for each in messages] == [("m0", "n0", None), ("n1", "n1", "n0")]
    assert all(each.speaker is None for each in messages)


@pytest.mark.parametrize("time", [float("inf"), float("nan"), 10**400, "inf", "1e999", -1, True, "soon"])
def test_times_that_no_clock_shows_are_absent(time: Any) -> None:
    drafts, _ = read(entry([conversation({**message("user", "x"), "create_time": time}, create_time=time)]))
    assert (drafts[0].created, drafts[0].messages[0].timestamp) == (None, None)


def test_an_export_in_a_zip_is_read_from_it(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for number in range(3):
            target.writestr(f"conversations-{number:03}.json", json.dumps([chat(number)]))
        target.writestr("chat.html", "<html>" + json.dumps([chat()]))
        target.writestr("export_manifest.json", json.dumps({"files": ["conversations-000.json"]}))
    drafts, problems = imported(path)
    assert [draft.place for draft in drafts] == [
        f'export.zip: conversations-{number:03}.json #0 "Trip to Porto"' for number in range(3)
    ]
    assert not problems.found


def test_a_chain_of_thousands_of_messages_is_read_without_recursion() -> None:
    draft = one(*(message("user", "word", float(at + 1)) for at in range(5_000)))
    assert len(thread(draft).messages) == 5_000


JUNK = st.sampled_from(
    [None, 0, -1, 1e300, True, "", "x", "n1", [], [None], {}, {"a": {}}, {"parts": [{}]}, {"role": []}]
)


@settings(max_examples=examples(200))
@given(st.data())
def test_whatever_stands_where_nothing_of_it_belongs_the_reader_goes_on(data: st.DataObject) -> None:
    draft = conversation(
        message("user", {"content_type": "multimodal_text", "parts": ["x", {"asset_pointer": "a://b"}]}, 1.0),
        message("assistant", '{"updates": [{"replacement": "y"}]}', 2.0, recipient="canmore.update_textdoc"),
        message("tool", {"content_type": "thoughts", "thoughts": [{"content": "z"}]}, 3.0, metadata={"canvas": {}}),
    )
    for _ in range(data.draw(st.integers(1, 3))):
        _put(copy_at := draft, data)
        draft = copy.deepcopy(copy_at)
    drafts, _ = read(entry([draft, chat(2)]))
    assert drafts[-1].source_id == "c2"
    for each in drafts:
        thread(each)


def _put(value: Any, data: st.DataObject) -> None:
    """Puts junk somewhere into nested lists and objects."""
    while True:
        keys = sorted(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            value[key] = copy.deepcopy(data.draw(JUNK))
            return
        value = inner


def test_roles_that_nobody_knows_are_put_in_by_the_system() -> None:
    assert only(author={"role": "critic"}, content="x").role is Role.SYSTEM
