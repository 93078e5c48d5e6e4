import json
from typing import Any

import pytest

from recollect.importers.base import Problems
from recollect.importers.formats.messages.sharegpt import ShareGPT
from recollect.importers.registry import as_importer
from recollect.record import Kind, Role, Thread
from tests.importers.given import entry, files, json_lines, read
from tests.paths import SHARED

FIXTURES = SHARED / "fixtures"

shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")

HELLO = [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}]


def thread_of(*messages: Any, **more: Any) -> Thread:
    threads, _ = read(ShareGPT(), entry([{"conversations": list(messages), **more}]))
    return threads[0]


@shared
def test_a_public_file_is_read_whole() -> None:
    path = FIXTURES / "sharegpt" / "dummy.json"
    problems = Problems()
    threads, _ = read(ShareGPT(), *files(path), problems=problems)
    given = json.loads(path.read_text("utf-8"))
    assert problems.found == []
    assert [thread.conversation.source_id for thread in threads] == [one["id"] for one in given]
    for thread, one in zip(threads, given, strict=True):
        assert [message.content for message in thread.messages] == [said["value"] for said in one["conversations"]]
        assert {message.kind for message in thread.messages} == {Kind.SAID}


@shared
def test_no_other_format_is_recognised() -> None:
    foreign = [path for path in FIXTURES.rglob("*") if path.is_file() and path.parent.name != "sharegpt"]
    assert len(foreign) > 50
    assert [one.place for path in foreign for one in files(path) if as_importer(ShareGPT()).recognises(one)] == []


@pytest.mark.parametrize(
    "value",
    [
        "",
        [],
        {"conversations": []},
        {"conversations": [{"from": "human"}, {"from": "gpt"}]},
        {"conversations": [{"from": 1, "value": "x"}]},
        {"conversations": [{"from": "Berlin", "value": "a letter"}]},
        {"conversations": [{"role": "user", "content": "x"}]},
        {"conversations": [{"id": "c", "messages": [{"role": "user", "content": "x"}]}]},
        {"items": [{"name": "a shopping list", "value": "3"}]},
        {"items": [1, 2]},
        {"recollect_dump": 1, "conversations": HELLO},
    ],
)
def test_what_only_half_fits_is_refused(value: Any) -> None:
    assert not as_importer(ShareGPT()).recognises(entry(value))


@pytest.mark.parametrize("key", ["conversations", "items"])
@pytest.mark.parametrize("layout", ["lines", "array", "wrapped", "alone", "pretty"])
def test_an_array_lines_and_one_alone_are_read(key: str, layout: str) -> None:
    one = {"id": "c1", key: HELLO}
    given = {
        "lines": "\n".join([json.dumps(one)] * 2),
        "array": json.dumps([one] * 2),
        "wrapped": json.dumps({"conversations": [one] * 2}),
        "alone": json.dumps(one),
        "pretty": json.dumps(one, indent=2),
    }[layout]
    threads, _ = read(ShareGPT(), entry(given))
    assert [len(thread.messages) for thread in threads] == ([2] if layout in ("alone", "pretty") else [2, 2])


def test_the_names_of_the_sides_are_understood() -> None:
    sides = ["system", "human", "gpt", "function_call", "observation", "tool", "user", "assistant"]
    made = thread_of(*({"from": side, "value": f"words of {side}"} for side in sides))
    assert [(one.role, one.kind) for one in made.messages] == [
        (Role.SYSTEM, Kind.CONTEXT),
        (Role.USER, Kind.SAID),
        (Role.ASSISTANT, Kind.SAID),
        (Role.ASSISTANT, Kind.TOOL),
        (Role.TOOL, Kind.TOOL),
        (Role.TOOL, Kind.TOOL),
        (Role.USER, Kind.SAID),
        (Role.ASSISTANT, Kind.SAID),
    ]
    assert all(one.content for one in made.messages)


def test_a_function_call_names_the_message_with_its_result() -> None:
    call = {"from": "function_call", "value": '{"name": "find", "arguments": {"q": "tea"}}'}
    made = thread_of(*HELLO, call, {"from": "observation", "value": "found"})
    assert [(one.name, one.arguments) for one in made.tool_calls] == [("find", '{"q": "tea"}')]
    assert made.tool_calls[0].result_message_id == made.messages[3].id
    assert made.messages[2].content == ""


def test_ids_titles_models_and_instructions_are_taken_where_given() -> None:
    made = thread_of(*HELLO, id=12, title="Greeting", model="gpt-4", system="Be brief.", source="web")
    assert (made.conversation.source_id, made.conversation.title) == ("12", "Greeting")
    assert made.conversation.metadata == {"source": "web"}
    assert [(one.kind, one.model) for one in made.messages] == [
        (Kind.CONTEXT, None),
        (Kind.SAID, None),
        (Kind.SAID, "gpt-4"),
    ]


def test_a_bad_conversation_or_message_does_not_cost_the_others() -> None:
    problems = Problems()
    given = [{"conversations": HELLO}, 3, {"conversations": None}, {"conversations": [*HELLO, "x", {"from": None}]}]
    threads, _ = read(ShareGPT(), entry(given), problems=problems)
    assert [len(thread.messages) for thread in threads] == [2, 2]
    assert [problem.lost for problem in problems.found] == [True, True, False]


def test_lines_of_a_large_file_are_read_one_by_one() -> None:
    lines = json_lines(*({"id": f"c{at}", "conversations": HELLO} for at in range(500)))
    assert len(read(ShareGPT(), lines)[0]) == 500
