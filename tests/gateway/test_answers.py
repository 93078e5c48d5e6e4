"""Answers of each wire form, streamed and whole: all that they say and find is kept, and what is not is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.errors import StoreError
from recollect.gateway.exchange import Endless, ProxiedExchange
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from recollect.record import Kind

SCOPE = {"x-recollect-namespace": "default"}
PORTO = [{"role": "user", "content": "Does it rain in Porto?"}]
SENTENCE = "It rains in Porto, says the weather page."


def heard(
    memory: Memory, wire: Wire, *, whole: Any = None, events: list[Any] | None = None, endless: Endless | None = None,
    **body: Any,
) -> ProxiedExchange:  # fmt: skip
    """An exchange with an answer that came in one piece, or in events."""
    endless = endless or Endless(lambda _: memory)
    exchange = endless.begin(wire, {wire.items: PORTO, **body}, SCOPE)
    if events is None:
        exchange.hear_whole(whole)
    for event in events or ():
        if exchange.hear(f"data: {json.dumps(event)}\n\n".encode()):
            exchange.keep()
    exchange.keep()
    assert not exchange.degraded
    return exchange


def kept(memory: Memory) -> list[str]:
    """What was said, on all branches."""
    rows = [memory.conversation(row.conversation.id) for row in memory.conversations()]
    return [m.content for thread in rows for m in thread.messages if m.kind is Kind.SAID]


def tools(memory: Memory) -> list[tuple[str, str, str]]:
    """The name, the arguments and the result of each call, in order."""
    [row] = memory.conversations()
    thread = memory.conversation(row.conversation.id)
    of_result = {call.result_message_id: call for call in thread.tool_calls}
    return [(c.name, c.arguments, m.content) for m in thread.messages if (c := of_result.get(m.id)) is not None]


def message(*content: Any) -> dict[str, Any]:
    """An answer in the form of Messages."""
    return {"type": "message", "id": "msg_1", "model": "c", "role": "assistant", "content": list(content)}


def sent_as(wire: Wire, items: list[Any]) -> dict[str, Any]:
    """What a request says, in the field of its wire form."""
    return {wire.items: items}


def as_events(answer: dict[str, Any]) -> list[Any]:
    """The same as a stream: texts in two pieces, arguments in one."""
    events: list[Any] = [{"type": "message_start", "message": {**answer, "content": []}}]
    for at, block in enumerate(answer["content"]):
        deltas: list[Any] = []
        if block["type"] == "text":
            half = len(block["text"]) // 2
            deltas = [{"type": "text_delta", "text": t} for t in (block["text"][:half], block["text"][half:])]
            deltas += [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
            block = {"type": "text", "text": ""}
        elif "input" in block:
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
            block = {**block, "input": {}}
        events.append({"type": "content_block_start", "index": at, "content_block": block})
        events += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": at})
    return [*events, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]


def told(answer: dict[str, Any], stream: bool) -> dict[str, Any]:
    return {"events": as_events(answer)} if stream else {"whole": answer}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


PAGE = {"type": "web_search_result_location", "url": "https://rain.example", "title": "Rain", "encrypted_index": "E"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "rain porto"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [
        {"type": "web_search_result", "url": "https://rain.example", "title": "Rain", "encrypted_content": "EncX"}
    ],
}


@pytest.mark.parametrize("stream", [False, True])
def test_a_sentence_in_several_blocks_is_one_sentence(memory: Memory, stream: bool) -> None:
    answer = message(text("It rains in "), text("Porto", citations=[PAGE]), text(", says the weather page."))
    heard(memory, MESSAGES, **told(answer, stream))
    assert kept(memory) == [PORTO[0]["content"], SENTENCE]
    sent = [*PORTO, {"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "Thanks."}]
    heard(memory, MESSAGES, whole=message(text("Welcome.")), messages=sent)  # the blocks as a client sends them back
    assert kept(memory) == [PORTO[0]["content"], SENTENCE, "Thanks.", "Welcome."]


@pytest.mark.parametrize("wire", [MESSAGES, COMPLETIONS, RESPONSES])
def test_so_it_is_in_a_history_that_was_never_seen(memory: Memory, wire: Wire) -> None:
    kind = "output_text" if wire is RESPONSES else "text"
    pieces = [{"type": kind, "text": piece} for piece in ("It rains in ", "Porto", ", says the weather page.")]
    sent = [*PORTO, {"role": "assistant", "content": pieces}, {"role": "user", "content": "Thanks."}]
    answers: dict[str, Any] = {
        MESSAGES.path: message(text("Welcome.")),
        COMPLETIONS.path: {"choices": [{"message": {"content": "Welcome."}}]},
        RESPONSES.path: {"status": "completed", "output": [{"type": "message", "content": [text("Welcome.")]}]},
    }
    heard(memory, wire, whole=answers[wire.path], **sent_as(wire, sent))
    assert kept(memory) == [PORTO[0]["content"], SENTENCE, "Thanks.", "Welcome."]


def test_so_it_is_in_responses(memory: Memory) -> None:
    parts = [{"type": "output_text", "text": piece} for piece in ("It rains in ", "Porto", ", says the weather page.")]
    item = {"type": "message", "role": "assistant", "content": parts}
    deltas: list[Any] = [{"type": "response.output_text.delta", "delta": part["text"]} for part in parts]
    done = {"type": "response.output_item.done", "item": item}
    heard(memory, RESPONSES, events=[*deltas, done, {"type": "response.completed", "response": {}}])
    assert kept(memory)[1:] == [SENTENCE]
    heard(memory, RESPONSES, whole={"status": "completed", "output": [item]})
    assert kept(memory).count(SENTENCE) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_said_before_and_after_a_search_is_two_paragraphs(memory: Memory, stream: bool) -> None:
    heard(memory, MESSAGES, **told(message(text("I look it up."), SEARCH, FOUND, text("It rains.")), stream))
    assert kept(memory)[1:] == ["I look it up.\n\nIt rains."]


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_providers_tools_find_is_kept(memory: Memory, stream: bool) -> None:
    run = {"type": "server_tool_use", "id": "srv_2", "name": "bash_code_execution", "input": {"command": "date"}}
    ran = {
        "type": "bash_code_execution_tool_result",
        "tool_use_id": "srv_2",
        "content": {"type": "bash_code_execution_result", "stdout": "Monday", "return_code": 0},
    }
    ask = {"type": "mcp_tool_use", "id": "mcp_1", "name": "tide", "server_name": "sea", "input": {"in": "Porto"}}
    asked = {"type": "mcp_tool_result", "tool_use_id": "mcp_1", "is_error": False, "content": [text("Low tide.")]}
    answer = message(SEARCH, FOUND, run, ran, ask, asked, text("It rains.", citations=[PAGE]))
    exchange = heard(memory, MESSAGES, **told(answer, stream))
    assert exchange.headers["X-Recollect-Stored"] == "yes"
    search, date, tide = tools(memory)
    assert search[:2] == ("web_search", '{"query": "rain porto"}')
    assert "https://rain.example" in search[2]
    assert "EncX" not in search[2]  # it is for the provider alone
    assert date[:2] == ("bash_code_execution", '{"command": "date"}')
    assert "Monday" in date[2]
    assert tide == ("tide", '{"in": "Porto"}', "Low tide.")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert thread.messages[-1].metadata["sources"] == [{"url": "https://rain.example", "title": "Rain"}]

    sent = [*PORTO, {"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "Thanks."}]
    heard(memory, MESSAGES, whole=message(text("Welcome.")), messages=sent)
    assert len(tools(memory)) == 3  # once, though the client sends them again
    assert kept(memory)[-2:] == ["Thanks.", "Welcome."]


def test_a_search_of_which_the_result_comes_in_the_next_answer_is_kept(memory: Memory) -> None:
    """As when a turn is paused (`pause_turn`): the client sends the call back, and the provider goes on."""
    endless = Endless(lambda _: memory)
    heard(memory, MESSAGES, whole=message(text("I look it up."), SEARCH), endless=endless)
    sent = [*PORTO, {"role": "assistant", "content": [text("I look it up."), SEARCH]}]
    heard(memory, MESSAGES, whole=message(FOUND, text("It rains.")), endless=endless, messages=sent)
    [(name, given, found)] = tools(memory)  # waited for, and filled in
    assert (name, given) == ("web_search", '{"query": "rain porto"}')
    assert "rain.example" in found
    assert kept(memory) == [PORTO[0]["content"], "I look it up.", "It rains."]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("words", ["", "I look it up."])
def test_a_search_and_a_call_in_one_answer_are_kept_once_each(memory: Memory, words: str, stream: bool) -> None:
    endless = Endless(lambda _: memory)
    call = {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"in": "Porto"}}
    answer = message(SEARCH, FOUND, *([text(words)] if words else []), call)
    heard(memory, MESSAGES, **told(answer, stream), endless=endless)
    search, tide = tools(memory)
    assert "rain.example" in search[2]
    assert tide == ("tide", '{"in": "Porto"}', "")
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Low tide."}
    sent = [*PORTO, {"role": "assistant", "content": answer["content"]}, {"role": "user", "content": [result]}]
    for again in (endless, Endless(lambda _: memory)):  # and after the process was started anew
        heard(memory, MESSAGES, whole=message(text("It rains.")), messages=sent, endless=again)
        assert tools(memory) == [search, ("tide", '{"in": "Porto"}', "Low tide.")]
        assert kept(memory) == [PORTO[0]["content"], *([words] if words else []), "It rains."]


def test_a_search_in_a_history_that_was_never_seen_has_its_name(memory: Memory) -> None:
    sent = [*PORTO, {"role": "assistant", "content": [SEARCH, FOUND, text("It rains.")]}]
    sent.append({"role": "user", "content": "Thanks."})
    heard(memory, MESSAGES, whole=message(text("Welcome.")), messages=sent)
    [(name, given, found)] = tools(memory)
    assert (name, given) == ("web_search", '{"query": "rain porto"}')
    assert "rain.example" in found


ITEMS = [
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {
            "type": "search",
            "query": "rain porto",
            "sources": [{"type": "url", "url": "https://rain.example"}],
        },
    },
    {
        "type": "file_search_call",
        "id": "fs_1",
        "queries": ["tide"],
        "results": [{"filename": "sea.md", "text": "Low tide."}],
    },
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "code": "print(6*7)",
        "outputs": [{"type": "logs", "logs": "42"}, {"type": "image", "url": "data:image/png;base64,AAAA"}],
    },
    {"type": "mcp_call", "id": "mcp_1", "name": "tide", "arguments": '{"in": "Porto"}', "output": "Low."},
    {"type": "image_generation_call", "id": "ig_1", "result": "iVBORw0KGgo", "revised_prompt": "A wet dog"},
    {"type": "shell_call", "id": "sh_1", "call_id": "call_9", "action": {"commands": ["date"]}},
    {"type": "shell_call_output", "call_id": "call_9", "output": [{"stdout": "Monday", "stderr": ""}]},
]
PARTS = [
    {
        "type": "output_text",
        "text": "It rains.",
        "annotations": [{"type": "url_citation", "url": "https://rain.example", "title": "Rain"}],
    }
]


@pytest.mark.parametrize("stream", [False, True])
def test_so_it_is_of_the_tools_of_responses(memory: Memory, stream: bool) -> None:
    output = [*ITEMS, {"type": "message", "role": "assistant", "content": PARTS}]
    response = {"id": "resp_1", "status": "completed", "output": output}
    events = [{"type": "response.output_item.done", "item": item} for item in output]
    events.append({"type": "response.completed", "response": response})
    heard(memory, RESPONSES, store=False, **({"events": events} if stream else {"whole": response}))
    found = {name: (given, result) for name, given, result in tools(memory)}
    assert [*found] == ["web_search", "file_search", "code_interpreter", "tide", "image_generation", "shell"]
    assert "rain porto" in found["web_search"][0]
    assert "https://rain.example" in found["web_search"][1]
    assert "Low tide." in found["file_search"][1]
    assert "6*7" in found["code_interpreter"][0]
    assert "42" in found["code_interpreter"][1]
    assert found["tide"] == ('{"in": "Porto"}', "Low.")
    assert "A wet dog" in found["image_generation"][0]
    assert "Monday" in found["shell"][1]
    assert not {"AAAA", "iVBORw0KGgo"} & {word for pair in found.values() for word in str(pair).split('"')}
    sent = [*PORTO, *output, {"role": "user", "content": "Thanks."}]
    heard(memory, RESPONSES, whole={"status": "completed", "output": []}, input=sent, store=False)
    assert len(tools(memory)) == len(found)


def choices(*words: str, **more: Any) -> dict[str, Any]:
    made = [{"index": n, "message": {"role": "assistant", "content": one, **more}} for n, one in enumerate(words)]
    return {"model": "m", "choices": made}


def chunks(*words: str) -> list[Any]:
    """The same in pieces that come in turns; the first answer ends before the others have begun."""
    pieces = [(0, words[0], None), (0, None, "stop")]
    pieces += [(n, word + " ", None) for word in ("So", "then") for n in range(1, len(words))]
    pieces += [(n, one, None) for n, one in enumerate(words) if n] + [(n, None, "stop") for n in range(1, len(words))]
    return [
        {"model": "m", "choices": [{"index": n, "delta": {"content": said}, "finish_reason": why}]}
        for n, said, why in pieces
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_all_of_several_answers_are_kept_as_branches(memory: Memory, stream: bool) -> None:
    before = "So then " if stream else ""
    answers = ["Rain.", before + "Sun.", before + "Snow."]
    given: Any = chunks("Rain.", "Sun.", "Snow.") if stream else choices(*answers)
    exchange = heard(memory, COMPLETIONS, n=3, events=given if stream else None, whole=given)
    assert exchange.headers["X-Recollect-Stored"] == "yes"
    [row] = memory.conversations()
    thread = memory.conversation(row.conversation.id)
    asked = thread.messages[0]
    assert sorted(m.content for m in thread.messages if m.parent_id == asked.id) == sorted(answers)
    assert not any("incomplete" in m.metadata for m in thread.messages)
    assert [m.content for m in memory.latest(row.conversation.id, 9)] == [asked.content, "Rain."]
    # It goes on from the one that the client took.
    sent = [*PORTO, {"role": "assistant", "content": answers[2]}, {"role": "user", "content": "Thanks."}]
    heard(memory, COMPLETIONS, whole=choices("Welcome."), messages=sent)
    assert [m.content for m in memory.latest(row.conversation.id, 9)] == [
        asked.content, answers[2], "Thanks.", "Welcome.",
    ]  # fmt: skip
    assert len(kept(memory)) == 6


def test_each_of_several_answers_has_its_own_calls_and_a_retry_adds_none(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    given = choices("Rain.", "Sun.")
    for made in given["choices"]:
        function = {"name": "tide", "arguments": json.dumps({"of": made["index"]})}
        made["message"]["tool_calls"] = [{"id": "call_0", "type": "function", "function": function}]
    for _ in range(2):
        exchange = endless.begin(COMPLETIONS, {"messages": PORTO, "n": 2}, {**SCOPE, "idempotency-key": "one"})
        exchange.hear_whole(given)
        exchange.keep()
    [row] = memory.conversations()
    thread = memory.conversation(row.conversation.id)
    there = {message.id: message for message in thread.messages}
    found = sorted((there[call.message_id].content, call.arguments) for call in thread.tool_calls)
    assert len(thread.tool_calls) == 2
    assert found == [("Rain.", '{"of": 0}'), ("Sun.", '{"of": 1}')]
    assert kept(memory) == [PORTO[0]["content"], "Sun.", "Rain."]


def test_fewer_answers_than_asked_for_are_an_answer(memory: Memory) -> None:
    """Some servers know no `n`: who asks the same later has not asked in vain before."""
    endless = Endless(lambda _: memory)
    for _ in range(2):
        exchange = heard(memory, COMPLETIONS, whole=choices("Rain."), n=3, endless=endless)
        assert exchange.headers["X-Recollect-Stored"] == "yes"
    assert len(memory.conversations()) == 2


@pytest.mark.parametrize("empty", ["", None, "null"])
def test_only_a_reason_ends_an_answer(memory: Memory, empty: str | None) -> None:
    words = ("It ", "rains ", "in Porto.")
    events = [
        {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": empty}]} for word in words
    ]  # fmt: skip
    exchange = heard(memory, COMPLETIONS, events=events)
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert thread.messages[-1].content == "It rains in Porto."
    assert thread.messages[-1].metadata == {"incomplete": True}  # nobody said that it is over
    assert exchange.headers["X-Recollect-Stored"] == "yes"
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    heard(memory, COMPLETIONS, events=events)
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert (thread.messages[-1].content, thread.messages[-1].metadata) == ("It rains in Porto.", {})
    assert [m.content for m in thread.messages if not m.deleted].count("It rains in Porto.") == 1
    heard(memory, COMPLETIONS, events=events[:-1])
    assert sum(row.messages for row in memory.conversations()) == 2 * len(memory.conversations())


def test_words_in_parts_and_spoken_ones_are_heard(memory: Memory) -> None:
    reference = {"type": "reference", "reference_ids": [1]}
    parts = [{"choices": [{"delta": {"content": [one]}}]} for one in (text("It rains in "), reference, text("Porto."))]
    heard(memory, COMPLETIONS, events=[*parts, {"choices": [{"delta": {}, "finish_reason": "stop"}]}])
    heard(
        memory, COMPLETIONS, whole={"choices": [{"message": {"content": None, "audio": {"transcript": "It pours."}}}]}
    )
    assert {"It rains in Porto.", "It pours."} <= set(kept(memory))


def test_the_pages_that_are_cited_are_kept(memory: Memory) -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://rain.example", "title": "Rain"}}
    heard(memory, COMPLETIONS, whole=choices("It rains.", annotations=[cited]))
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert thread.messages[-1].metadata["sources"] == [{"url": "https://rain.example", "title": "Rain"}]


@pytest.mark.parametrize(
    "answer", [{"status": "queued", "output": []}, {"status": "failed", "output": []}, {"error": "?"}, None, [1]]
)
def test_an_answer_of_which_nothing_is_stored_says_so(memory: Memory, answer: Any) -> None:
    assert heard(memory, RESPONSES, whole=answer).headers["X-Recollect-Stored"] == "no"
    assert not memory.conversations()


def test_a_failure_to_store_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise StoreError("The disk is full.")

    monkeypatch.setattr("recollect.gateway.exchange.keep", fails)
    assert heard(memory, COMPLETIONS, whole=choices("Rain.")).headers["X-Recollect-Stored"] == "no"


def test_a_result_of_any_depth_is_borne(memory: Memory) -> None:
    deep: Any = "bottom"
    for _ in range(2_000):
        deep = {"content": [deep]}
    block = {**FOUND, "content": [{"type": "odd", "of": deep}]}
    heard(memory, MESSAGES, whole=message(SEARCH, block, text("It rains.")))
    assert kept(memory)[1:] == ["It rains."]
    assert len(tools(memory)) == 1


def test_an_event_that_is_none_costs_no_other_of_its_piece(memory: Memory) -> None:
    exchange = Endless(lambda _: memory).begin(COMPLETIONS, {"messages": PORTO, "stream": True}, SCOPE)
    words = [{"index": 0, "delta": {"content": "It rains."}, "finish_reason": "stop"}]
    odd = [{"index": "first", "delta": {"content": "?"}}]
    exchange.hear(b"".join(f"data: {json.dumps({'choices': one})}\n\n".encode() for one in (odd, words)))
    exchange.keep()
    assert kept(memory)[1:] == ["It rains."]


CALLED = [("heat", '{"to": 90}', ""), ("look", '{"at": "kettle"}', "")]


def pieces_of_calls(numbered: Any, *, ids: bool = True) -> list[Any]:
    """Two calls at once, each in two pieces, as servers stream them which number them as `numbered` does."""
    events: list[Any] = []
    for n, (name, given, _) in enumerate(CALLED):
        place = {} if numbered is None else {"index": numbered(n)}
        begins = {"id": f"call_{n}"} if ids else {}
        first = {**place, **begins, "type": "function", "function": {"name": name, "arguments": given[:4]}}
        then = {**place, "function": {"arguments": given[4:]}}
        events += [{"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]} for piece in (first, then)]
    return [*events, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("numbered", [None, lambda n: n, lambda n: n + 7])
def test_calls_at_once_stay_two_however_they_are_numbered(memory: Memory, numbered: Any, ids: bool) -> None:
    heard(memory, COMPLETIONS, events=pieces_of_calls(numbered, ids=ids))
    assert tools(memory) == CALLED


def test_calls_that_all_have_one_number_are_told_apart_by_their_ids(memory: Memory) -> None:
    heard(memory, COMPLETIONS, events=pieces_of_calls(lambda _: 0))
    assert tools(memory) == CALLED


@pytest.mark.parametrize("numbered", [{}, {"index": 0}])
def test_blocks_without_numbers_of_their_own_lose_no_call(memory: Memory, numbered: dict[str, int]) -> None:
    events: list[Any] = [{"type": "message_start", "message": {"id": "m", "model": "c"}}]
    for n, (name, given, _) in enumerate(CALLED):
        block = {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": {}}
        events.append({"type": "content_block_start", **numbered, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": given}
        events += [{"type": "content_block_delta", **numbered, "delta": delta}, {"type": "content_block_stop"}]
    heard(memory, MESSAGES, events=[*events, {"type": "message_stop"}])
    assert tools(memory) == CALLED


def test_a_block_that_begins_with_all_its_input_keeps_it(memory: Memory) -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "heat", "input": {"to": 90}}
    begun = {"type": "message_start", "message": {"id": "m", "model": "c"}}
    started = {"type": "content_block_start", "index": 0, "content_block": block}
    heard(memory, MESSAGES, events=[begun, started, {"type": "message_stop"}])
    assert tools(memory) == CALLED[:1]


def test_calls_of_responses_without_ids_are_all_kept(memory: Memory) -> None:
    events: list[Any] = [{"type": "response.created", "response": {"id": "r", "model": "m"}}]
    for name, given, _ in CALLED:
        item = {"type": "function_call", "name": name, "arguments": given}
        events.append({"type": "response.output_item.done", "item": item})
    heard(memory, RESPONSES, events=[*events, {"type": "response.completed", "response": {}}], store=False)
    assert tools(memory) == CALLED


@pytest.mark.parametrize("old", [True, False])
def test_calls_of_another_kind_are_kept_from_a_stream(memory: Memory, old: bool) -> None:
    first: Any = {"function_call": {"name": "heat", "arguments": '{"to"'}}
    then: Any = {"function_call": {"arguments": ": 90}"}}
    if not old:
        first = {
            "tool_calls": [{"index": 0, "id": "c", "type": "custom", "custom": {"name": "heat", "input": '{"to"'}}]
        }
        then = {"tool_calls": [{"index": 0, "custom": {"input": ": 90}"}}]}
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in (first, then)]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    heard(memory, COMPLETIONS, events=events)
    assert tools(memory) == CALLED[:1]


def test_what_is_told_twice_in_a_chunk_is_kept_once(memory: Memory) -> None:
    """Some servers send with each piece all that was said before."""
    events: list[Any] = [
        {"choices": [{"index": 0, "delta": {"content": piece}, "message": {"content": so_far}}]}
        for piece, so_far in (("It ", "It "), ("rains.", "It rains."))
    ]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    heard(memory, COMPLETIONS, events=events)
    assert kept(memory) == ["Does it rain in Porto?", "It rains."]


def test_numbers_that_json_cannot_write_are_stored_as_words(memory: Memory) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "heat", "input": {"to": float("inf")}}
    heard(memory, MESSAGES, whole=message(use))
    assert tools(memory) == [("heat", '{"to": "inf"}', "")]
