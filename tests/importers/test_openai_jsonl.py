import json
from typing import Any

import pytest

from recollect.importers.base import Problems
from recollect.importers.formats.messages.openai import OpenAIMessages
from recollect.importers.registry import as_importer
from recollect.record import Kind, Part, PartKind, Role, Thread, iso
from tests.importers.given import KINDS, entry, files, json_lines, read, truth
from tests.paths import SHARED

FIXTURES = SHARED / "fixtures"

shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


def user(content: Any = "Hello", **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def assistant(content: Any = "Hi", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def tool(content: str, call: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, **({"tool_call_id": call} if call else {}), **more}


def calling(*calls: tuple[str, str]) -> dict[str, Any]:
    made = [{"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}} for call, name in calls]
    return assistant(None, tool_calls=made)


def thread_of(*messages: Any, **more: Any) -> Thread:
    threads, _ = read(OpenAIMessages(), json_lines({"messages": list(messages), **more}))
    return threads[0]


@shared
def test_every_message_of_the_made_file_is_there_as_it_was() -> None:
    problems = Problems()
    threads, _ = read(OpenAIMessages(), *files(FIXTURES / "made" / "openai.jsonl"), problems=problems)
    wanted = truth(FIXTURES / "made" / "openai-jsonl.truth.json")
    assert problems.found == []
    assert len(threads) == len(wanted)
    for thread, expected in zip(threads, wanted, strict=True):
        said = [one for one in thread.messages if one.kind is Kind.SAID]
        found = [(one.role, one.kind, one.active, one.content) for one in said]
        assert found == [(one["role"], KINDS[one["kind"]], one["active"], one["text"]) for one in expected["messages"]]


@shared
def test_a_list_of_conversations_under_a_key_is_read() -> None:
    path = FIXTURES / "generic" / "conversations-messages.json"
    threads, _ = read(OpenAIMessages(), *files(path))
    given = json.loads(path.read_text("utf-8"))["conversations"]
    assert [(one.conversation.source_id, len(one.messages)) for one in threads] == [
        (one["id"], len(one["messages"])) for one in given
    ]
    assert all(message.timestamp for thread in threads for message in thread.messages)


@shared
def test_no_other_format_is_recognised() -> None:
    ours = {FIXTURES / "made" / "openai.jsonl", FIXTURES / "generic" / "conversations-messages.json"}
    foreign = [path for path in FIXTURES.rglob("*") if path.is_file() and path not in ours]
    assert len(foreign) > 50
    assert [one.place for path in foreign for one in files(path) if as_importer(OpenAIMessages()).recognises(one)] == []


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        b"\0\0\xff",
        [],
        {"messages": []},
        {"messages": "none"},
        {"messages": [{"role": "user"}, {"role": "assistant"}]},
        {"messages": [{"role": ["user"], "content": "x"}]},
        {"messages": [{"type": "human", "content": "LangChain"}]},
        {"messages": [{"role": "user", "content": "TypingMind"}], "chatID": "c", "chatTitle": "t"},
        {"messages": [{"role": "user", "content": "x", "parentMessageId": "p", "messageId": "m"}]},
        {"mapping": {}, "messages": [{"role": "user", "content": "ChatGPT"}]},
        {"recollect_dump": 1, "messages": [{"role": "user", "content": "x"}]},
        {"role": "user", "message": {"content": "Cursor"}},
    ],
)
def test_what_only_half_fits_is_refused(value: Any) -> None:
    assert not as_importer(OpenAIMessages()).recognises(entry(value))


def test_recollects_own_dump_is_left_to_its_own_importer() -> None:
    assert not as_importer(OpenAIMessages()).recognises(
        json_lines({"recollect_dump": 1}, {"messages": [user(), assistant()]})
    )


@pytest.mark.parametrize("layout", ["lines", "array", "pretty array", "wrapped", "alone", "pretty alone"])
def test_a_conversation_a_line_an_array_or_one_object_are_read(layout: str) -> None:
    one = {"messages": [user("Hello " * 20_000), assistant()]}
    given = {
        "lines": "\n".join([json.dumps(one)] * 3),
        "array": json.dumps([one] * 3),
        "pretty array": json.dumps([one] * 3, indent=1),
        "wrapped": json.dumps({"conversations": [one] * 3}),
        "alone": json.dumps(one),
        "pretty alone": json.dumps(one, indent=2),
    }[layout]
    threads, _ = read(OpenAIMessages(), entry(given))
    assert [len(thread.messages) for thread in threads] == ([2] if "alone" in layout else [2, 2, 2])


def test_a_broken_line_does_not_cost_the_others() -> None:
    problems = Problems()
    good = json.dumps({"messages": [user()]})
    given = "\n".join([good, '{"messages": [', "", '{"messages": 3}', '{"messages": [1]}', good])
    threads, _ = read(OpenAIMessages(), entry(given), problems=problems)
    assert len(threads) == 2
    assert [problem.place for problem in problems.found if problem.lost] == [
        "conversations.json line 2",
        "conversations.json line 4",
    ]


def test_ids_titles_names_and_times_are_taken_where_given() -> None:
    made = thread_of(
        user("Hi Ben", id=7, name="Anna", timestamp="2026-03-01T10:00:00Z"),
        user("Hi Anna", id="m2", name="Ben", timestamp=1772359260),
        id="c1",
        title="Tea",
        created="2026-03-01",
        tags=["x"],
    )
    assert (made.conversation.source_id, made.conversation.title) == ("c1", "Tea")
    assert iso(made.conversation.created) == "2026-03-01T00:00:00Z"
    assert made.conversation.metadata == {"tags": ["x"]}
    found = [(one.source_id, one.speaker, iso(one.timestamp)) for one in made.messages]
    assert found == [("7", "Anna", "2026-03-01T10:00:00Z"), ("m2", "Ben", "2026-03-01T10:01:00Z")]


def test_instructions_are_context_and_results_are_a_tools() -> None:
    made = thread_of({"role": "system", "content": "Be brief."}, {"role": "developer", "content": "Be kind."}, user())
    assert [(one.role, one.kind) for one in made.messages] == [
        (Role.SYSTEM, Kind.CONTEXT),
        (Role.SYSTEM, Kind.CONTEXT),
        (Role.USER, Kind.SAID),
    ]


def test_content_may_be_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/tap.png"}}
    inline = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "transcript": "it drips"}}
    made = thread_of(
        user([{"type": "text", "text": "Look."}, image, {"type": "input_text", "text": "So?"}, inline, sound])
    )
    assert made.messages[0].content == "Look.\n\nSo?"
    assert [(part.kind, part.name, part.text) for part in made.messages[0].parts] == [
        (PartKind.ASSET, "https://example.org/tap.png", ""),
        (PartKind.ASSET, "input_image", ""),
        (PartKind.ASSET, "input_audio", "it drips"),
    ]


def test_texts_of_an_answer_that_stand_side_by_side_are_one() -> None:
    """Each citation begins a part of its own, in the middle of a sentence."""
    texts = [{"type": "text", "text": text} for text in ("It rains", " in Porto", ", says the page.")]
    thought = {"type": "thinking", "thinking": "hm"}
    made = thread_of(user(texts[:2]), assistant([*texts, thought, {"type": "text", "text": "And it is cold."}]))
    assert [m.content for m in made.messages] == [
        "It rains\n\n in Porto",
        "It rains in Porto, says the page.\n\nAnd it is cold.",
    ]


def test_unknown_parts_keep_their_text_and_are_counted() -> None:
    problems = Problems()
    given = json_lines({"messages": [user([{"type": "hologram", "text": "words"}, "more", 3])]})
    threads, _ = read(OpenAIMessages(), given, problems=problems)
    assert threads[0].messages[0].content == "words\n\nmore"
    assert problems.notes == {"content parts of unknown kinds, their text kept": 1}


def test_thoughts_and_refusals_are_kept() -> None:
    made = thread_of(user(), assistant("Yes.", reasoning_content="hm"), assistant(None, refusal="I cannot."))
    assert made.messages[1].parts == (Part(PartKind.REASONING, "thinking", "hm"),)
    assert made.messages[2].content == "I cannot."


def test_calls_are_paired_with_their_results_by_id_in_any_order() -> None:
    made = thread_of(
        user(), calling(("1", "find"), ("2", "look")), tool("looked", "2"), tool("found", "1"), assistant()
    )
    contents = {one.id: one.content for one in made.messages}
    assert [(call.name, contents[call.result_message_id]) for call in made.tool_calls if call.result_message_id] == [
        ("find", "found"),
        ("look", "looked"),
    ]
    assert [one.kind for one in made.messages] == [Kind.SAID, Kind.TOOL, Kind.TOOL, Kind.TOOL, Kind.SAID]


def test_call_ids_that_are_used_again_lead_to_their_own_results() -> None:
    made = thread_of(user(), calling(("1", "f")), tool("one", "1"), calling(("1", "f")), tool("two", "1"))
    contents = {one.id: one.content for one in made.messages}
    assert [contents[call.result_message_id] for call in made.tool_calls if call.result_message_id] == ["one", "two"]


def test_the_older_function_calls_are_paired_by_name() -> None:
    old = assistant(None, function_call={"name": "find", "arguments": {"q": 1}})
    made = thread_of(user(), old, {"role": "function", "name": "find", "content": "found"})
    assert made.tool_calls[0].arguments == '{"q": 1}'
    assert made.tool_calls[0].result_message_id == made.messages[2].id
    assert made.messages[2].speaker is None


def test_unknown_roles_are_kept_as_context_and_unknown_keys_as_metadata() -> None:
    problems = Problems()
    given = json_lines(
        {"messages": [user(), assistant()]}, {"messages": [user("x", rating=5), {"role": "critic", "content": "y"}]}
    )
    threads, _ = read(OpenAIMessages(), given, problems=problems)
    assert threads[1].messages[0].metadata == {"rating": 5}
    assert threads[1].messages[1].kind is Kind.CONTEXT
    assert problems.notes == {"messages of unknown roles, kept as context": 1}


def test_times_in_a_form_that_is_not_read_are_told_by_file() -> None:
    problems = Problems()
    talk = {"messages": [user(timestamp="03/01/2025 at 9:00 pm"), assistant(timestamp="03/01/2025 at 9:01 pm")]}
    good = {"messages": [user(timestamp="2025-03-01T21:00:00Z"), assistant(timestamp=0), user(timestamp="")]}
    read(OpenAIMessages(), json_lines(talk, good, talk), problems=problems)
    assert [(one.reason, one.lost) for one in problems.found] == [
        ("4 times are in a form that is not read, such as 99/99/9999 aa 9:99 aa", False)
    ]
