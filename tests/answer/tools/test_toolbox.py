"""The tools as a model uses them: index, run, full text; answers within their size; errors that it can act on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.answer.tools import TOOLS, Toolbox
from recollect.answer.tools.output import count
from recollect.engines import open_store
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import InvalidInput, ModelError
from recollect.memory import Handle, Memory
from recollect.record.nodes import MessageChunk, ToolCallChunk
from recollect.text.clean import cut_recall
from tests.answer.tools.conftest import HUGE, Talk, spoken
from tests.exports import opened
from tests.properties import examples
from tests.store.builders import embedder

#: SYSTEM.md 6, in its order.
NAMES = {
    *("get_message_by_id", "get_messages_by_ids", "get_message_with_chunks", "vector_search", "get_cluster"),
    *("get_period_messages", "get_topic_messages", "get_conversation_thread", "get_tool_call"),
    *("get_tool_calls_by_message", "search_and_retrieve", "store_fact", "search_facts", "get_all_facts"),
}


def ids_in(text: str) -> list[str]:
    return re.findall(r"\[(\w{26})\]", text)


def test_all_tools_of_the_contract_are_there(talk: Talk) -> None:
    assert set(talk.box.names) == NAMES
    assert set(talk.memory.toolbox(read_only=True).names) == NAMES - {"store_fact"}
    assert all(callable(getattr(talk.box, name)) for name in NAMES)


def test_the_three_layers_lead_from_a_question_to_the_words(talk: Talk) -> None:
    index = talk.box.call("vector_search", {"query": "who keeps the brass sextant", "limit": 3})
    assert not index.is_error
    assert index.tokens < 600
    piece = ids_in(index.text)[0]
    run = talk.box.call("get_conversation_thread", {"message_id": piece})
    assert "What is the swell?" in run.text
    assert "It is all in there." in run.text
    full = talk.box.call("get_messages_by_ids", {"ids": [piece]})
    assert "Line 7007: the harbour master keeps the brass sextant." in full.text


def test_a_huge_result_is_read_to_its_end_by_what_is_told(talk: Talk) -> None:
    text, call = "", f'get_tool_call(id="{talk.call.id}", offset=0)'
    for _ in range(100):
        told = re.search(r'get_tool_call\(id="(\w+)", offset=(\d+)\)', call)
        if told is None:
            break
        answer = talk.box.call("get_tool_call", {"id": told[1], "offset": told[2]})
        assert answer.tokens <= 4_500
        call = answer.text.rpartition("Characters ")[2]
        shown = answer.text.partition("result:\n")[2]
        text += shown.rpartition("\nCharacters ")[0] if "\nCharacters " in shown else shown.rpartition("\n</")[0]
    assert text == HUGE


def test_the_chunks_of_a_huge_result_are_listed_and_opened(talk: Talk) -> None:
    result = talk.call.result_message_id or ""
    pieces = talk.memory.toolbox().get_message_with_chunks(result)
    assert len(pieces) > 40
    index = talk.box.call("get_message_with_chunks", {"id": result})
    assert ids_in(index.text) == [piece.id for piece in pieces]
    some = pieces[7]
    assert isinstance(some, MessageChunk)
    assert some.is_chunk
    assert (some.chunk_index, some.chunk_parent_id) == (7, result)
    assert talk.memory.toolbox().get_message_by_id(some.id) == some
    assert some.content in HUGE
    assert some.content in talk.box.call("get_message_by_id", {"id": some.id}).text
    assert some.content in talk.box.call("get_message_with_chunks", {"id": result, "chunk": 7}).text
    call = talk.memory.toolbox().get_tool_call(some.id)
    assert isinstance(call, ToolCallChunk)
    assert (call.result, call.name) == (some.content, "swell.list")


def test_a_tool_call_is_found_by_its_message_its_id_and_its_result(talk: Talk) -> None:
    asked = talk.messages[-1]
    assert [call.id for call in talk.memory.toolbox().get_tool_calls_by_message(asked.id)] == [talk.call.id]
    assert talk.memory.toolbox().get_tool_call(talk.call.result_message_id or "").id == talk.call.id
    assert talk.memory.toolbox().get_tool_call(talk.call.id).result == HUGE
    assert "swell.list" in talk.box.call("get_tool_calls_by_message", {"message_id": asked.id}).text


def test_the_run_of_messages_is_in_order_around_the_one_asked_for(talk: Talk) -> None:
    run = talk.memory.toolbox().get_conversation_thread(talk.messages[10].id, 3)
    assert [message.position for message in run] == [7, 8, 9, 10, 11, 12, 13]
    assert [message.position for message in talk.memory.toolbox().get_conversation_thread("01TALK", 2)] == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_a_period_is_read_back_to_its_beginning(talk: Talk) -> None:
    seen: list[str] = []
    offset = 0
    while True:
        answer = talk.box.call("get_period_messages", {"period": "2025-03", "limit": 4, "offset": offset})
        found = ids_in(answer.text)
        seen = found + seen
        told = re.search(r"offset=(\d+)", answer.text)
        if told is None:
            break
        offset = int(told[1])
    march = [m for m in talk.messages if m.timestamp and m.timestamp.month == 3]
    assert seen[: len(march)] == [m.id for m in march]


@pytest.mark.parametrize(
    ("period", "first", "last"),
    [
        ("today", "What is the swell?", "It is all in there."),
        ("this_week", "Word 26", "It is all in there."),
        ("last_month", "Word 0 ", "Word 16"),
        ("2025-02-20 to 2025-02-21", "Word 8 ", "Word 9 "),
        ("2025-W08", "Word 5 ", "Word 11"),
        ("older", "Word 0 ", "Word 16"),
    ],
)
def test_periods_are_what_people_call_them(talk: Talk, period: str, first: str, last: str) -> None:
    found = talk.memory.toolbox().get_period_messages(period, limit=100)
    assert found[0].content.startswith(first)
    assert found[-1].content.startswith(last)


def test_no_answer_is_larger_than_asked_for_and_every_answer_is_cut_out_again(talk: Talk) -> None:
    for limit in (400, 700, 4_500):
        box = talk.memory.toolbox(max_tokens=limit)
        for name, arguments in everything(talk):
            answer = box.call(name, arguments)
            assert answer.tokens <= limit, (name, arguments)
            assert answer.tokens == count(answer.text)
            assert answer.is_error or cut_recall(answer.text) == ""


def everything(talk: Talk) -> list[tuple[str, dict[str, Any]]]:
    long, short = talk.call.result_message_id or "", talk.messages[3].id
    ids = [message.id for message in talk.messages]
    return [
        *(("get_message_by_id", {"id": i}) for i in (long, short)),
        ("get_messages_by_ids", {"ids": [long, *ids]}),
        ("get_messages_by_ids", {"ids": [*ids, long]}),
        ("get_message_with_chunks", {"id": long}),
        ("get_message_with_chunks", {"id": long, "chunk": 5}),
        ("vector_search", {"query": "ferry to Cacilhas", "limit": 50}),
        ("search_and_retrieve", {"query": "swell of 13 cm", "auto_limit": 20}),
        ("get_conversation_thread", {"message_id": short, "depth": 50}),
        ("get_period_messages", {"period": "2025", "limit": 100}),
        ("get_tool_call", {"id": talk.call.id}),
        ("get_tool_calls_by_message", {"message_id": talk.messages[-1].id}),
        ("get_all_facts", {}),
        ("search_facts", {"query": "ferry"}),
    ]


def test_neo4j_gives_the_same_answers_as_a_file(talk: Talk, neo4j_place: str) -> None:
    other = spoken(open_store(neo4j_place))
    with other.memory:
        calls = [*everything(talk), ("get_message_by_id", {"id": talk.messages[3].id[-8:]})]
        piece = talk.memory.toolbox().get_message_with_chunks(talk.call.result_message_id or "")[7].id
        calls += [("get_message_by_id", {"id": piece}), ("get_tool_call", {"id": piece})]
        for name, arguments in calls:
            assert other.box.call(name, arguments) == talk.box.call(name, arguments), name


# --- calls that are wrong ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("vector_serch", {}, "Did you mean vector_search?"),
        ("vector_search", {}, "Missing `query`"),
        ("vector_search", {"query": ""}, "`query` must not be empty"),
        ("vector_search", {"query": "x", "limit": "many"}, "`limit` must be a whole number from 1 to 50, not 'many'"),
        ("vector_search", {"query": "x", "limit": 51}, "`limit` must be a whole number from 1 to 50, not 51"),
        ("vector_search", {"query": "x", "limt": 5}, "Did you mean `limit`?"),
        ("vector_search", '{"query": ', "not valid JSON"),
        ("vector_search", [1], "must be one JSON object"),
        ("vector_search", {"query": "role:zebra ferry"}, "There is no role 'zebra'"),
        ("get_message_by_id", {"id": "01NOTHING"}, "To find messages: vector_search"),
        ("get_messages_by_ids", {"ids": []}, "`ids` must be a list of 1 to 50 texts"),
        ("get_messages_by_ids", {"ids": ["a", "b"]}, "None of these messages is there: a, b"),
        ("get_period_messages", {"period": "whenever"}, "names no time"),
        ("get_topic_messages", {"topic": "zebras"}, "No topic is called 'zebras'"),
        ("store_fact", {"content": "x", "category": "odd"}, "one of semantic, episodic"),
    ],
)
def test_an_error_says_what_to_do(talk: Talk, name: str, arguments: Any, told: str) -> None:
    answer = talk.box.call(name, arguments)
    assert answer.is_error
    assert told in answer.text
    assert answer.tokens <= 300


def test_what_can_only_mean_one_thing_is_taken_so(talk: Talk) -> None:
    own = talk.messages[3].id
    good = talk.box.call("get_message_by_id", {"id": own})
    for arguments in ({"message_id": own}, {"id": f"[{own}]"}, json.dumps({"id": own, "offset": None}), {"ID": own}):
        assert talk.box.call("get_message_by_id", arguments) == good
    several = talk.box.call("get_messages_by_ids", {"ids": [own, talk.messages[4].id]})
    for ids in (f"{own}, {talk.messages[4].id}", json.dumps([own, talk.messages[4].id])):
        assert talk.box.call("get_messages_by_ids", {"ids": ids}) == several


def test_the_example_of_every_tool_fits_its_own_schema() -> None:
    from jsonschema import Draft202012Validator

    for tool in TOOLS:
        Draft202012Validator.check_schema(tool.input_schema)
        assert list(Draft202012Validator(tool.input_schema).iter_errors(dict(tool.example))) == []
        assert tool.example
        assert tool.description.startswith("Use this")


def test_schemas_are_what_the_providers_packages_take(talk: Talk) -> None:
    anthropic, openai = pytest.importorskip("anthropic"), pytest.importorskip("openai")
    from pydantic import TypeAdapter

    for provider, type_ in (
        ("anthropic", anthropic.types.ToolParam),
        ("openai", openai.types.chat.ChatCompletionFunctionToolParam),
        ("openai-responses", openai.types.responses.FunctionToolParam),
    ):
        for schema in talk.box.schemas(provider):  # type: ignore[arg-type]
            TypeAdapter(type_).validate_python(schema, strict=False)
    with pytest.raises(InvalidInput, match="no shape of tools"):
        talk.box.schemas("gemini")  # type: ignore[arg-type]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(NAMES - {"store_fact"})),
    arguments=st.dictionaries(
        st.sampled_from(["id", "ids", "query", "limit", "offset", "period", "topic", "message_id", "depth", "chunk"]),
        anything,
        max_size=4,
    )
    | anything,
)
def test_whatever_a_model_sends_it_gets_an_answer_within_the_limit(talk: Talk, name: str, arguments: Any) -> None:
    answer = talk.memory.toolbox(max_tokens=600).call(name, arguments)
    assert answer.tokens <= 600
    assert answer.text


def test_a_toolbox_for_too_little_is_refused(talk: Talk) -> None:
    with pytest.raises(InvalidInput, match="too few"):
        Toolbox(talk.memory, max_tokens=10)


def test_what_a_tool_handed_out_is_not_remembered_as_its_result(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        said = memory.store_message("The sextant lies in the attic.")
        answer = memory.toolbox().call("get_message_by_id", {"id": said.id})
        asked = memory.store_message("Where is it?", conversation_id=said.conversation_id)
        call = memory.store_tool_call("get_message_by_id", "{}", answer.text, asked.id)
        assert call.result == ""
        found = memory.search("sextant attic", group_by="message", kind="all")
        assert [hit.best.message.id for hit in found if "sextant" in hit.best.message.content] == [said.id]
        assert memory.upkeep.check() == []


def test_the_end_of_an_id_will_do(talk: Talk) -> None:
    said, asked = talk.messages[10], talk.messages[-1]
    assert talk.memory.toolbox().get_message_by_id(said.id[-8:]) == said
    assert talk.memory.toolbox().get_messages_by_ids([said.id[-8:].lower(), asked.id]) == [said, asked]
    assert talk.memory.toolbox().get_conversation_thread(said.id[-8:], 2)[2] == said
    assert talk.memory.toolbox().get_conversation_thread(asked.conversation_id[-8:], 2)[0] == asked
    assert talk.memory.toolbox().get_tool_call((talk.call.result_message_id or "")[-8:]).id == talk.call.id
    assert [call.id for call in talk.memory.toolbox().get_tool_calls_by_message(asked.id[-8:])] == [talk.call.id]
    answer = talk.box.call("get_messages_by_ids", {"ids": [said.id[-8:], "ZZZZZZZZ"]})
    assert said.content in answer.text
    assert "Not there, or deleted: ZZZZZZZZ" in answer.text
    run = talk.box.call("get_conversation_thread", {"message_id": said.id[-8:], "depth": 1})
    assert ids_in(run.text)[1] == said.id


def test_an_end_of_several_ids_is_told(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        for i in range(2):
            memory.store_message(f"Number {i}", id=f"01ABC{i}XYZXYZ", title="Numbers")
        answer = memory.toolbox().call("get_message_by_id", {"id": "XYZXYZ"})
        assert answer.is_error
        assert "is the end of several ids" in answer.text


def test_texts_without_blanks_keep_to_the_limit(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        first = memory.store_message("潮" * 3_000, title="Tides")
        for text in ("x" * 20_000, "🌊" * 4_000, "\n" * 50 + "deep " * 5_000):
            memory.store_message(text, conversation_id=first.conversation_id)
        for box in (memory.toolbox(max_tokens=400), memory.toolbox()):
            for name, arguments in [
                ("get_message_by_id", {"id": first.id}),
                ("get_conversation_thread", {"message_id": first.id}),
                ("get_period_messages", {"period": "today"}),
                ("get_messages_by_ids", {"ids": [m.id for m in memory.toolbox().get_conversation_thread(first.id)]}),
            ]:
                answer = box.call(name, arguments)
                assert not answer.is_error
                assert 100 < answer.tokens <= 4_500


def test_an_embedder_that_is_out_of_reach_is_an_answer(talk: Talk, tmp_path: Path) -> None:
    class Away:
        """An embedder on a server that does not answer."""

        name, dimensions = embedder().name, embedder().dimensions

        def embed(self, texts: object) -> Any:
            raise ModelError("The embedding server does not answer.", hint="Try again later.")

    with opened(tmp_path / "memory.db") as memory:
        said = memory.store_message("The key is with Ana.")
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False), Away())) as memory:
        answer = memory.toolbox().call("vector_search", {"query": "key"})
        assert answer.is_error
        assert "does not answer" in answer.text
        assert "Ana" in memory.toolbox().call("get_message_by_id", {"id": said.id}).text
