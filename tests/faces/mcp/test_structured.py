"""Structured results: what a tool gives fits the schema that it declares, and says what its text says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

import recollect
from recollect.memory import Memory
from recollect.text.clean import cut_recall
from tests.faces.mcp.conftest import ask, connected, of_program, program

pytestmark = pytest.mark.slow

_LONG = "\n".join(f'Line {number}: "swell" of {number % 97} cm.' for number in range(5_000))


_ASKED = "01ASKEDOFTHESWELLINSINES00"


@pytest.fixture
def told_store(tmp_path: Path, derived_store: Path) -> Path:
    """A consolidated archive with a long message and a tool call with a long result."""
    path = tmp_path / "told.db"
    with recollect.open(derived_store, background=False) as memory:
        memory.upkeep.backup(path)
    with recollect.open(path, durable=False, background=False) as memory:
        asked = memory.store_message("What is the swell in Sines?", title="Swell", speaker="Ana", id=_ASKED)
        memory.store_tool_call("swell.list", '{"from": 0}', _LONG, asked.id)
        memory.store_message(_LONG, "assistant", conversation_id=asked.conversation_id)
        memory.store_fact("Ana lives in Lisbon.", "home", entity="Ana", value="Lisbon")
    return path


def _calls(store: Path) -> list[tuple[str, dict[str, Any]]]:
    """A good call of every tool, and some that find nothing or too much."""
    with recollect.open(store, durable=False, background=False) as memory:
        asked = memory.toolbox().get_message_by_id(_ASKED)
        long = memory.toolbox().get_conversation_thread(asked.id, 1)[-1]
        call = memory.toolbox().get_tool_calls_by_message(asked.id)[0]
        topic = memory.topics()[0]
    return [
        ("vector_search", {"query": "which wave forecast should I pay for", "limit": 3}),
        ("vector_search", {"query": "zzxqv", "offset": 900}),
        ("get_message_by_id", {"id": asked.id}),
        ("get_message_by_id", {"id": long.id}),
        ("get_messages_by_ids", {"ids": [long.id, asked.id, "ZZZZZZZZ"]}),
        ("get_message_with_chunks", {"id": long.id}),
        ("get_message_with_chunks", {"id": long.id, "chunk": 2}),
        ("get_cluster", {"cluster_id": topic.id}),
        ("get_period_messages", {"period": "2024-03", "limit": 5}),
        ("get_period_messages", {"period": "1991"}),
        ("get_topic_messages", {"topic": topic.label, "limit": 2}),
        ("get_conversation_thread", {"message_id": asked.id}),
        ("get_tool_call", {"id": call.id}),
        ("get_tool_calls_by_message", {"message_id": asked.id}),
        ("search_and_retrieve", {"query": "which wave forecast should I pay for"}),
        ("store_fact", {"content": "Ana lives in Porto.", "concept": "home", "entity": "Ana", "value": "Porto"}),
        ("search_facts", {"query": "where does Ana live"}),
        ("get_all_facts", {"limit": 2}),
        ("search", {"query": "which wave forecast should I pay for"}),
        ("fetch", {"id": asked.id}),
        ("context", {"text": "which wave forecast should I pay for"}),
        ("ask", {"question": "why did I choose Next.js?"}),
        ("timeline", {"period": "2024-03", "limit": 3}),
        ("remember", {"text": "Ana keeps the key."}),
        ("forget", {"what": [asked.id]}),
    ]


async def _tried(client: Client, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, list[Any]]:
    """The answers of every tool, each held against the schema that the same server declares."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {name for name, _ in calls}
    answers: dict[str, list[Any]] = {}
    for name, arguments in calls:
        answer = await client.call_tool(name, arguments)
        assert not answer.is_error, (name, answer.content[0].text)
        assert answer.structured_content is not None, name
        assert answer.structured_content["namespace"] == "default"
        schema = tools[name].output_schema
        assert schema["type"] == "object"
        Draft202012Validator.check_schema(schema)
        assert not list(Draft202012Validator(schema).iter_errors(answer.structured_content)), name
        answers.setdefault(name, []).append(answer)
    return answers


def test_every_result_fits_its_schema_over_standard_input_and_output(told_store: Path, home: Path) -> None:
    calls = _calls(told_store)
    of_program(program(told_store, home, "--tools", "all"), lambda client: _tried(client, calls))


def test_every_result_fits_its_schema_over_http(told_store: Path, listening: Callable[..., str]) -> None:
    calls = _calls(told_store)
    connected(Client(f"{listening(told_store)}/mcp?tools=all"), lambda client: _tried(client, calls))


def test_the_data_is_the_text_again_and_no_larger(told_store: Path) -> None:
    """What a program reads is what a model reads: every id and word of the one stands in the other."""
    calls = _calls(told_store)
    with recollect.open(told_store, durable=False, background=False) as memory:
        answers = ask(memory, lambda client: _tried(client, calls), tools="all")
        names = memory.toolbox().names
    for name in names:
        for answer in answers[name]:
            text, data = answer.content[0].text, answer.structured_content
            assert len(json.dumps(data, ensure_ascii=False)) < 1_000 + 3 * len(text), name
            for entry in _entries(data):
                assert entry["id"] in text, name
                for said in (entry.get(key) for key in ("text", "arguments", "result")):
                    assert not said or _words(said) in text, name
                    assert not said or cut_recall(said) == "", "what is handed out is not stored again"


def test_the_data_says_how_to_go_on(told_store: Path) -> None:
    calls = dict(_calls(told_store)[::-1])  # the first call of each tool
    with recollect.open(told_store, durable=False, background=False) as memory:
        long = memory.toolbox().get_conversation_thread(calls["get_tool_calls_by_message"]["message_id"], 1)[-1]
        assert _read(memory, "get_message_by_id", {"id": long.id}, "text") == _LONG
        assert _read(memory, "get_tool_call", calls["get_tool_call"], "result") == _LONG

        async def pages(client: Client) -> list[str]:
            ids: list[str] = []
            offset: int | None = 0
            while offset is not None:
                given = {"period": "2024-03", "limit": 7, "offset": offset}
                page = (await client.call_tool("get_period_messages", given)).structured_content
                ids = [message["id"] for message in page["messages"]] + ids
                offset = page.get("next_offset")
            return ids

        assert ask(memory, pages, tools="all") == [
            one.id for one in memory.toolbox().get_period_messages("2024-03", 1000)
        ]


def _read(memory: Memory, tool: str, given: dict[str, Any], member: str) -> str:
    """A text that is read to its end by what the data says."""

    async def parts(client: Client) -> str:
        text, offset = "", 0
        while offset is not None:
            data = (await client.call_tool(tool, {**given, "offset": offset})).structured_content
            text, offset = text + _words(data[member]), data.get("next_offset")
        return text

    return ask(memory, parts, tools="all")


def _entries(data: dict[str, Any]) -> list[dict[str, Any]]:
    lists = [value for value in data.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    return [entry for entries in lists for entry in entries] if lists else [data] if "id" in data else []


def _words(marked: str) -> str:
    """What stands between the marks."""
    return marked.partition("\n")[2].rpartition("\n")[0]
