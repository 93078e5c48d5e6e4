import json
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.importers.base import DraftDocument, Problems
from recollect.importers.formats.claude.claude_ai import ClaudeAI
from recollect.importers.registry import as_importer
from recollect.record import Kind, Message, Part, PartKind, Role, Thread
from tests.importers.given import KINDS, count_tokens, entry, files, found_by, json_lines, read, truth
from tests.paths import SHARED

FIXTURES = SHARED / "fixtures"
NIL = "00000000-0000-4000-8000-000000000000"
UNSUPPORTED = "```\nThis block is not supported on your current device yet.\n```"

shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


def message(uuid: str, sender: str = "human", **more: Any) -> dict[str, Any]:
    return {"uuid": uuid, "sender": sender, "created_at": "2026-03-01T10:00:00Z", **more}


def conversation(*messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": "c1",
        "name": "Boiler",
        "created_at": "2026-03-01T09:00:00Z",
        "chat_messages": list(messages),
        **more,
    }


def blocks(*given: dict[str, Any], text: str = "") -> Message:
    """The one message of an answer that consists of the blocks."""
    return thread_of(message("m1", "assistant", content=list(given), text=text)).messages[0]


def thread_of(*messages: Any, **more: Any) -> Thread:
    threads, _ = read(ClaudeAI(), entry([conversation(*messages, **more)]))
    return threads[0]


def told(wanted: datetime | None, seconds: float | None) -> bool:
    return seconds is None or (wanted is not None and abs(wanted.timestamp() - seconds) < 0.001)


@shared
@pytest.mark.parametrize("name", ["claude-ai", "claude-ai-2026"])
def test_every_message_of_the_made_exports_is_there_as_it_was(name: str) -> None:
    path = FIXTURES / "made" / (name if (FIXTURES / "made" / name).exists() else f"{name}.zip")
    problems = Problems()
    threads, _ = read(ClaudeAI(), *files(path), problems=problems)
    by_id = {thread.conversation.source_id: thread for thread in threads}
    wanted = truth(FIXTURES / "made" / f"{name}.truth.json")

    assert problems.found == []
    assert by_id.keys() == {conversation["id"] for conversation in wanted}
    for expected in wanted:
        thread = by_id[expected["id"]]
        assert thread.conversation.title == expected["title"]
        assert told(thread.conversation.created, expected["created"])
        assert told(thread.conversation.updated, expected["updated"])
        messages = {one.source_id: one for one in thread.messages}
        assert messages.keys() == {one["id"] for one in expected["messages"]}
        ids = {one.id: one.source_id for one in thread.messages}
        for one in expected["messages"]:
            found = messages[one["id"]]
            assert found.content == one["text"]
            assert (found.role, found.kind, found.active) == (one["role"], KINDS[one["kind"]], one["active"])
            assert told(found.timestamp, one["time"])
            assert one["parent"] is None or ids[found.parent_id] == one["parent"]
            assert all(phrase in found_by(found, thread) for phrase in one.get("also", []))


@shared
@pytest.mark.parametrize(("name", "count"), [("claude-ai.zip", 11), ("claude-ai-2026", 11)])
def test_projects_and_memories_of_the_made_exports_are_documents(name: str, count: int) -> None:
    _, documents = read(ClaudeAI(), *files(FIXTURES / "made" / name))
    assert len({document.source_id for document in documents}) == len(documents) == count
    assert all("Remember " in document.content for document in documents)


@shared
@pytest.mark.parametrize(
    ("name", "conversations", "messages"),
    [
        ("array.json", 2, 6),
        ("simple.json", 1, 4),
        ("representative.json", 1, 3),
        ("single-artifacts.json", 1, 6),
        ("single-latex.json", 1, 2),
        ("with-projects/conversations.json", 1, 3),
    ],
)
def test_exports_of_others_are_read(name: str, conversations: int, messages: int) -> None:
    threads, _ = read(ClaudeAI(), *files(FIXTURES / "claude-ai" / name))
    assert len(threads) == conversations
    assert sum(len(thread.messages) for thread in threads) == messages
    assert all(one.content or one.parts or thread.tool_calls for thread in threads for one in thread.messages)


@shared
def test_no_sentence_of_the_exporter_is_taken_for_words() -> None:
    threads, _ = read(ClaudeAI(), *files(FIXTURES / "made" / "claude-ai.zip"))
    assert not any("not supported on your current device" in one.content for at in threads for one in at.messages)


@shared
def test_only_claudes_own_files_are_recognised() -> None:
    ours = {path for folder in ("claude-ai", "made/claude-ai-2026") for path in (FIXTURES / folder).rglob("*")}
    ours.add(FIXTURES / "made" / "claude-ai.zip")
    foreign = [path for path in FIXTURES.rglob("*") if path.is_file() and path not in ours]
    assert len(foreign) > 50
    taken = [one.place for path in foreign for one in files(path) if as_importer(ClaudeAI()).recognises(one)]
    assert taken == []


@pytest.mark.parametrize(
    "value",
    [
        [conversation(message("m1", text="Hello"))],
        {"conversations": [conversation(message("m1", text="Hello"))]},
        conversation(message("m1", text="Hello"), current_leaf_message_uuid="m1", settings={}, model="claude-opus"),
        [{"kind": "shell"}, conversation(message("m1", text="Hello"))],
        [conversation(message("m1", text="long " * 50_000))],
        {"chat_messages": [message("m1", text="Hello")], "uuid": "c1"},
    ],
)
def test_conversations_are_found_in_an_array_under_a_key_and_alone(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2), "\ufeff" + json.dumps(value)):
        threads, _ = read(ClaudeAI(), entry(text))
        assert [one.content[:5] for at in threads for one in at.messages] in (["Hello"], ["long "])


def test_one_conversation_a_line_is_read_too() -> None:
    lines = json_lines(*(conversation(message("m1", text="Hello"), uuid=f"c{at}") for at in range(3)))
    assert len(read(ClaudeAI(), lines)[0]) == 3


@pytest.mark.parametrize(
    "value",
    [
        "",
        "no json",
        b"\xff\xfe\x00\x01",
        [],
        {},
        [1, "two", None],
        {"chat_messages": []},
        [{"uuid": "u", "name": "n", "chat_messages": [{"role": "user", "content": "half a Claude export"}]}],
        [{"uuid": "u", "name": "ChatGPT", "created_at": "", "mapping": {}, "chat_messages": []}],
        {"uuid": "u", "name": "no project"},
        {"recollect_dump": 1, "uuid": "u", "name": "n", "chat_messages": [], "created_at": ""},
        [{"uuid": "u", "full_name": "Some One", "email_address": "someone@example.org"}],
    ],
)
def test_what_only_half_fits_is_refused(value: Any) -> None:
    assert not as_importer(ClaudeAI()).recognises(entry(value))


def test_one_bad_conversation_does_not_cost_the_others() -> None:
    problems = Problems()
    given = [
        conversation(message("m1", text="first"), name=None),
        "no conversation",
        conversation(uuid="empty"),
        conversation("no message", message("m2", content=[{"type": "text", "text": None}], text="second"), uuid="c2"),
        conversation(message("m3", text="third", created_at=None), uuid="c3", created_at=None, updated_at=0),
    ]
    threads, _ = read(ClaudeAI(), entry(given), problems=problems)
    assert [one.content for at in threads for one in at.messages] == ["first", "second", "third"]
    assert [problem.lost for problem in problems.found] == [True, False]
    assert problems.notes == {"entries without messages": 1}


def test_a_file_that_is_cut_gives_what_is_whole() -> None:
    whole = json.dumps([conversation(message("m1", text=f"number {at}"), uuid=f"c{at}") for at in range(5)])
    problems = Problems()
    threads, _ = read(ClaudeAI(), entry(whole[:-40]), problems=problems)
    assert [one.content for at in threads for one in at.messages] == ["number 0", "number 1", "number 2", "number 3"]
    assert len(problems.found) == 1


def test_content_comes_before_its_flattened_copy() -> None:
    made = blocks(
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hello"}, text=f"{UNSUPPORTED}\n\nHello"
    )
    assert made.content == "Hello"
    assert [(part.kind, part.text) for part in made.parts] == [(PartKind.REASONING, "hm")]


@pytest.mark.parametrize("content", [[], None, 7, [{"type": "text", "text": None}], [{"type": "token_budget"}]])
def test_text_counts_where_content_holds_no_words(content: Any) -> None:
    made = thread_of(message("m1", "assistant", content=content, text=f"{UNSUPPORTED}\n\nHello")).messages[0]
    assert made.content.strip() == "Hello"


def test_content_may_be_a_string() -> None:
    assert thread_of(message("m1", content="Hello")).messages[0].content == "Hello"


def test_the_placeholder_alone_is_nobodys_words() -> None:
    made = thread_of(message("m1", text="Hi"), message("m2", "assistant", content=[], text=UNSUPPORTED))
    assert [one.content for one in made.messages] == ["Hi"]


def test_somebody_may_ask_about_the_placeholder() -> None:
    question = 'Why do I see "This block is not supported on your current device yet." here?'
    assert thread_of(message("m1", text=question)).messages[0].content == question


def test_text_blocks_are_paragraphs_unless_the_flattened_copy_joins_them() -> None:
    two = ({"type": "text", "text": "One."}, {"type": "text", "text": " Two."})
    assert blocks(*two).content == "One.\n\n Two."
    assert blocks(*two, text="One. Two.").content == "One. Two."


def test_calls_and_results_are_paired_by_id_or_by_order() -> None:
    def use(query: str, id: str | None = None, name: str = "web_search") -> dict[str, Any]:
        return {"type": "tool_use", "name": name, "input": {"query": query}, "id": id}

    def result(text: str, id: str | None = None, name: str = "web_search", **more: Any) -> dict[str, Any]:
        return {
            "type": "tool_result",
            "name": name,
            "tool_use_id": id,
            "content": [{"type": "text", "text": text}],
            **more,
        }

    by_id = [use("a", "1"), use("b", "2"), result("B", "2"), result("A", "1")]
    in_order = [use("c"), use("d"), result("C")]
    by_name = [use("e", name="other"), result("E", name="other", is_error=True), result("D"), result("?", name="gone")]
    given = [*by_id, *in_order, *by_name]
    made = thread_of(message("m1", "assistant", content=given))
    pairs = [(json.loads(call.arguments)["query"] if call.arguments else "", call.result) for call in made.tool_calls]
    assert pairs == [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e", "E"), ("", "?")]
    assert [call.metadata.get("is_error", False) for call in made.tool_calls].count(True) == 1
    assert made.messages[0].kind is Kind.TOOL


def test_knowledge_in_results_is_kept_with_title_and_address() -> None:
    knowledge = {"type": "knowledge", "title": "Fares", "url": "https://example.org", "text": "12 euros"}
    use = {"type": "tool_use", "name": "web_search", "input": {"query": "fares"}, "id": None}
    result = {"type": "tool_result", "name": "web_search", "tool_use_id": None, "content": [knowledge]}
    made = thread_of(message("m1", "assistant", content=[use, result]))
    assert made.tool_calls[0].result == "Fares\nhttps://example.org\n12 euros"


def test_artifacts_are_parts_in_all_their_versions() -> None:
    def artifact(**wanted: Any) -> dict[str, Any]:
        return {"type": "tool_use", "name": "artifacts", "input": {"id": "plan", **wanted}}

    made = blocks(
        artifact(command="create", title="Plan", content="first", type="text/markdown"),
        artifact(command="update", old_str="first", new_str="second"),
        artifact(command="rewrite", content="third"),
        {"type": "tool_result", "name": "artifacts", "content": [{"type": "text", "text": "OK"}]},
    )
    assert [(part.kind, part.name, part.text) for part in made.parts] == [
        (PartKind.ARTIFACT, "Plan", "first"),
        (PartKind.ARTIFACT, "Plan", "second"),
        (PartKind.ARTIFACT, "Plan", "third"),
    ]
    assert made.parts[1].metadata["old_str"] == "first"
    assert made.kind is Kind.SAID


def test_the_tags_of_2024_become_artifacts_and_thoughts() -> None:
    text = (
        "Sure.\n\n<antThinking>worth an artifact</antThinking>\n\n"
        '<antArtifact identifier="page" type="text/html" title="Page">\n<p>Hi</p>\n</antArtifact>\n\nThere it is.'
    )
    made = thread_of(message("m1", "assistant", text=text)).messages[0]
    assert made.content == "Sure.\n\nThere it is."
    assert [(part.kind, part.name, part.text) for part in made.parts] == [
        (PartKind.REASONING, "thinking", "worth an artifact"),
        (PartKind.ARTIFACT, "Page", "<p>Hi</p>"),
    ]


def test_people_may_write_about_the_tags() -> None:
    asked = "What is <antThinking>this</antThinking>?"
    assert thread_of(message("m1", text=asked)).messages[0].content == asked


def test_attachments_keep_their_text_and_files_their_names() -> None:
    attachment = {"file_name": "notes.txt", "file_type": "txt", "extracted_content": "the lease ends in May"}
    made = thread_of(message("m1", text="See.", attachments=[attachment, None], files=[{"file_name": "scan.pdf"}, 3]))
    assert made.messages[0].parts == (
        Part(PartKind.ATTACHMENT, "notes.txt", "the lease ends in May", {"file_type": "txt"}),
        Part(PartKind.ASSET, "scan.pdf"),
    )


def test_citations_and_unknown_keys_are_kept_as_metadata() -> None:
    cited = {"type": "text", "text": "So it is.", "citations": [{"url": "https://example.org"}]}
    made = thread_of(
        message("m1", "assistant", content=[cited], rating="good"), summary="About a boiler", is_starred=True
    )
    assert made.messages[0].metadata == {"rating": "good", "citations": [{"url": "https://example.org"}]}
    assert made.conversation.metadata == {"summary": "About a boiler", "is_starred": True}


def test_unknown_blocks_keep_their_text_and_are_counted() -> None:
    problems = Problems()
    given = conversation(message("m1", "assistant", content=[{"type": "voice_note", "text": "spoken words"}]))
    threads, _ = read(ClaudeAI(), entry([given]), problems=problems)
    assert threads[0].messages[0].content == "spoken words"
    assert problems.notes == {"blocks of unknown kinds, kept as text": 1}


def test_branches_are_told_by_the_parents_and_the_leaf() -> None:
    given = [
        message("q", text="Q", parent_message_uuid=NIL),
        message("a", "assistant", text="A", parent_message_uuid="q"),
        message("b", "assistant", text="B", parent_message_uuid="q"),
        message("q2", text="another beginning", parent_message_uuid=NIL),
    ]
    made = thread_of(*given, current_leaf_message_uuid="a")
    assert [one.content for one in made.messages if one.active] == ["Q", "A"]
    assert [one.content for one in made.messages if one.parent_id is None] == ["Q", "another beginning"]


def test_without_parents_each_message_follows_the_one_before() -> None:
    made = thread_of(*(message(f"m{at}", text=f"{at}") for at in range(4)), current_leaf_message_uuid="m1")
    assert [one.content for one in made.messages if one.active] == ["0", "1", "2", "3"]


def test_a_message_without_the_key_among_others_follows_the_one_before() -> None:
    given = [
        message("a", text="A", parent_message_uuid=NIL),
        {"sender": "assistant", "text": "B"},
        message("c", text="C"),
        message("d", "assistant", text="D", parent_message_uuid="c"),
    ]
    made = thread_of(*given)
    assert [one.content for one in made.messages if one.active] == ["A", "B", "C", "D"]


def test_the_model_of_the_web_api_stands_on_the_answers() -> None:
    made = thread_of(message("m1", text="Q"), message("m2", "assistant", text="A"), model="claude-opus-4")
    assert [(one.role, one.model) for one in made.messages] == [(Role.USER, None), (Role.ASSISTANT, "claude-opus-4")]


def project(**more: Any) -> dict[str, Any]:
    docs = [{"uuid": "d1", "filename": "a.md", "content": "file text"}, {"filename": "b.md"}, None]
    return {
        "uuid": "p1",
        "name": "House",
        "is_private": True,
        "created_at": "2026-01-01T00:00:00Z",
        "docs": docs,
        **more,
    }


def documents(value: Any, name: str) -> list[DraftDocument]:
    return read(ClaudeAI(), entry(value, name))[1]


@pytest.mark.parametrize("several", [True, False])
def test_a_project_is_its_instructions_and_its_files(several: bool) -> None:
    given = project(description="About", prompt_template="Be brief.")
    made = documents([given] if several else given, "projects.json" if several else "projects/p1.json")
    assert [(document.source_id, document.title, document.content) for document in made] == [
        ("p1", "House", "About\n\nBe brief."),
        ("d1", "a.md", "file text"),
    ]
    assert made[0].created == datetime(2026, 1, 1, tzinfo=UTC)
    assert made[1].metadata == {"kind": "project file", "project": "House", "project_id": "p1"}


@pytest.mark.parametrize("several", [True, False])
def test_memories_are_documents_as_an_array_and_as_an_object(several: bool) -> None:
    given = {"conversations_memory": "likes tea", "project_memories": {"p1": "tiles"}, "account_uuid": "me"}
    made = documents([given] if several else given, "memories.json")
    assert [(document.content, document.metadata["kind"]) for document in made] == [
        ("likes tea", "memory"),
        ("tiles", "memory"),
    ]


def test_tokens_are_counted_with_the_counter_given() -> None:
    assert thread_of(message("m1", text="x" * 40)).messages[0].tokens == count_tokens("x" * 40)
