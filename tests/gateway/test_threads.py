"""Which conversation a request goes on with: however clients send what was said, it is kept once, in one place."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recollect.gateway.exchange import Endless, ProxiedExchange
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from recollect.record import Kind

SCOPE = {"x-recollect-namespace": "default"}
NAMED = {**SCOPE, "x-recollect-conversation": "c"}


def talk(*words: str) -> list[Any]:
    """A person and a model in turns."""
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(words)]


def ask(endless: Endless, messages: list[Any], answer: str, headers: dict[str, str] = SCOPE) -> ProxiedExchange:
    exchange = endless.begin(COMPLETIONS, {"messages": messages}, headers)
    message = {"role": "assistant", "content": answer}
    exchange.hear_whole({"model": "m", "choices": [{"message": message}]})
    exchange.keep()
    assert not exchange.degraded
    return exchange


def active(memory: Memory) -> list[list[str]]:
    """The active paths of all conversations, the oldest first."""
    return [[m.content for m in memory.latest(row.conversation.id, 99)] for row in reversed(memory.conversations())]


def count(memory: Memory) -> int:
    return sum(
        m.kind is Kind.SAID for row in memory.conversations() for m in memory.conversation(row.conversation.id).messages
    )


@pytest.mark.parametrize("headers", [SCOPE, NAMED])
@pytest.mark.parametrize("restarted", [False, True])
def test_an_edited_message_and_another_answer_open_branches(
    memory: Memory, headers: dict[str, str], restarted: bool
) -> None:
    endless = Endless(lambda _: memory)

    def said(messages: list[Any], answer: str) -> None:
        nonlocal endless
        if restarted:
            endless = Endless(lambda _: memory)
        ask(endless, messages, answer, headers)

    said(talk("One?"), "1")
    said(talk("One?", "1", "Two?"), "2")
    said(talk("One?", "1", "Two?"), "Two, then.")
    assert active(memory) == [["One?", "1", "Two?", "Two, then."]]
    said(talk("One?", "1", "And three?"), "3")
    assert active(memory) == [["One?", "1", "And three?", "3"]]
    said(talk("One?", "1", "Two?", "2", "Four?"), "4")
    assert active(memory) == [["One?", "1", "Two?", "2", "Four?", "4"]]
    assert count(memory) == 9


def test_talks_that_begin_alike_are_told_apart(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("Hello"), "Hello! How can I help?")
    ask(endless, talk("Hello", "Hello! How can I help?", "With bread."), "Knead it.")
    ask(endless, talk("Hello"), "Hello! How can I help?")
    ask(endless, talk("Hello", "Hello! How can I help?", "With wood."), "Plane it.")
    assert active(memory) == [
        ["Hello", "Hello! How can I help?", "With bread.", "Knead it."],
        ["Hello", "Hello! How can I help?", "With wood.", "Plane it."],
    ]


def test_a_client_that_cuts_off_the_beginning_goes_on(memory: Memory) -> None:
    whole: list[str] = []
    for number in range(6):
        whole.append(f"Question {number}?")
        cut = whole[-5:] if len(whole) % 2 else whole[-4:]
        ask(Endless(lambda _: memory), talk(*cut), f"Answer {number}.", NAMED)
        whole.append(f"Answer {number}.")
    assert active(memory) == [whole]
    assert count(memory) == 12


def test_a_client_that_sends_only_what_is_new_goes_on(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    for number in range(3):
        found = ask(endless, talk("And then?"), f"Part {number}.", NAMED)
    assert active(memory) == [["And then?", "Part 0.", "And then?", "Part 1.", "And then?", "Part 2."]]
    assert "Part 0." in str(found.body)
    again = endless.begin(COMPLETIONS, {"messages": talk("And then?")}, NAMED)
    assert "Part 2." in str(again.body)


def test_a_history_that_was_never_seen_is_kept_whole(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("One?", "1", "Two?", "2", "Three?"), "3")
    assert active(memory) == [["One?", "1", "Two?", "2", "Three?", "3"]]


def test_what_programs_put_in_is_nobodys_words(memory: Memory) -> None:
    reminder = "<system-reminder>Be careful.</system-reminder>"
    messages = [
        {"role": "user", "content": [{"type": "text", "text": reminder}, {"type": "text", "text": "Build it."}]}
    ]
    ask(Endless(lambda _: memory), messages, "Built.")
    assert active(memory) == [["Build it.", "Built."]]


def test_a_picture_is_kept_by_its_name(memory: Memory) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    ask(Endless(lambda _: memory), [{"role": "user", "content": [picture]}], "A cat.")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert [part.name for part in thread.messages[0].parts] == ["image_url"]
    assert "AAAA" not in str(thread)


def test_nothing_is_kept_of_what_was_not_answered(memory: Memory) -> None:
    Endless(lambda _: memory).begin(COMPLETIONS, {"messages": talk("Hello")}, SCOPE).keep()
    assert not memory.conversations()


def test_requests_that_only_try_something_are_not_kept(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    exchange = endless.begin(COMPLETIONS, {"messages": talk("quota"), "max_tokens": 1}, SCOPE)
    exchange.hear_whole({"choices": [{"message": {"content": "#"}}]})
    exchange.keep()
    assert not memory.conversations()
    for odd in ({}, {"messages": None}, {"messages": [None, 1, {"role": 7}]}, {"messages": [{"role": "user"}]}):
        endless.begin(COMPLETIONS, odd, SCOPE).keep()
    assert not memory.conversations()


def test_the_memory_of_another_namespace_is_never_given(memory: Memory) -> None:
    memory.store_message("Rex may eat no chicken.")
    endless = Endless(lambda name: memory if name == "default" else memory.beside(name))
    for headers in ({}, {"x-recollect-namespace": "acme/other"}, {"x-recollect-conversation": "c"}):
        exchange = ask(endless, talk("What may Rex not eat?"), "I do not know.", headers)
        assert exchange.body == {"messages": talk("What may Rex not eat?")}


def test_what_was_given_stays_to_the_byte_when_the_model_speaks_before_it_calls(memory: Memory) -> None:
    """What is asked is still the question, whatever was said on the way to its answer."""
    endless = Endless(lambda _: memory)
    memory.store_message("It always rains in Porto in November.")
    question = {"role": "user", "content": "Does it rain in Porto?"}
    first = endless.begin(COMPLETIONS, {"messages": [question]}, SCOPE)
    memory.store_message("It rained in Porto on the fourth.")
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    steps = [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "rain"},
    ]
    second = endless.begin(COMPLETIONS, {"messages": [question, *steps]}, SCOPE)
    assert first.tokens > 0
    assert second.body["messages"][:1] == first.body["messages"]


def spoken(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def respond(
    endless: Endless, body: dict[str, Any], id: str, *output: dict[str, Any], stream: bool = False
) -> ProxiedExchange:
    exchange = endless.begin(RESPONSES, {"model": "m", **body}, SCOPE)
    whole = {"id": id, "model": "m", "status": "completed", "output": list(output)}
    if stream:
        exchange.hear(event("response.created", response={**whole, "output": []}))
        for item in output:
            exchange.hear(event("response.output_item.added", item={**item, "content": []}))
            if item["type"] == "message":
                exchange.hear(event("response.output_text.delta", delta=item["content"][0]["text"]))
            exchange.hear(event("response.output_item.done", item=item))
        exchange.hear(event("response.completed", response=whole))
    else:
        exchange.hear_whole(whole)
    exchange.keep()
    assert not exchange.degraded
    return exchange


def event(kind: str, **more: Any) -> bytes:
    return f"data: {json.dumps({'type': kind, **more})}\n\n".encode()


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_of_several_messages_is_known_again(memory: Memory, stream: bool) -> None:
    endless = Endless(lambda _: memory)
    question = {"role": "user", "content": "Does it rain?"}
    answer = [spoken("Let me think."), spoken("It rains.")]
    respond(endless, {"input": [question], "store": False}, "resp_1", *answer, stream=stream)
    thanks = {"role": "user", "content": "Thanks."}
    respond(
        endless, {"input": [question, *answer, thanks], "store": False}, "resp_2", spoken("Welcome."), stream=stream
    )
    assert active(memory) == [["Does it rain?", "Let me think.", "It rains.", "Thanks.", "Welcome."]]


def test_an_answer_that_comes_only_at_the_end_of_a_stream_is_kept(memory: Memory) -> None:
    exchange = Endless(lambda _: memory).begin(RESPONSES, {"input": "Does it rain?"}, SCOPE)
    exchange.hear(event("response.completed", response={"id": "r", "status": "completed", "output": [spoken("Yes.")]}))
    exchange.keep()
    assert active(memory) == [["Does it rain?", "Yes."]]


@pytest.mark.parametrize("stream", [False, True])
def test_what_tools_answer_goes_on_from_the_answer_that_called_them(memory: Memory, stream: bool) -> None:
    """Where the provider keeps what was said, a request may hold nothing but results."""
    endless = Endless(lambda _: memory)
    call = {"type": "function_call", "name": "weather", "arguments": '{"in": "Porto"}'}
    result = {"type": "function_call_output", "output": "Rain, 14 degrees"}
    respond(endless, {"input": "Does it rain?"}, "resp_1", {**call, "call_id": "c1"}, stream=stream)
    for step in (2, 3, 4):
        followed = {"input": [{**result, "call_id": f"c{step - 1}"}], "previous_response_id": f"resp_{step - 1}"}
        answer = spoken("It rains.") if step == 4 else {**call, "call_id": f"c{step}"}
        respond(endless, followed, f"resp_{step}", answer, stream=stream)
    respond(endless, {"input": "Thanks.", "previous_response_id": "resp_4"}, "resp_5", spoken("Welcome."))
    assert active(memory) == [["Does it rain?", "It rains.", "Thanks.", "Welcome."]]
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert [m.content for m in thread.messages if m.kind is Kind.TOOL] == ["Rain, 14 degrees"] * 3
    assert [(call.name, call.arguments) for call in thread.tool_calls] == [("weather", '{"in": "Porto"}')] * 3
    assert all(message.active for message in thread.messages)


def test_what_tools_answer_goes_on_with_a_conversation_that_is_named(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("Does it rain?"), "Let me see.", NAMED)
    for _ in range(2):
        result = {"role": "tool", "tool_call_id": "c", "content": "Rain"}
        ask(endless, [result], "It rains.", NAMED)
    assert active(memory) == [["Does it rain?", "Let me see.", "It rains.", "It rains."]]


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_what_was_forgotten_stays_forgotten_and_the_talk_goes_on(memory: Memory, whole: bool, restarted: bool) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("The code is 4417."), "Noted: 4417.", NAMED)
    (row,) = memory.conversations()
    memory.forget(row.conversation.id if whole else memory.latest(row.conversation.id, 1)[0].id)
    endless = Endless(lambda _: memory) if restarted else endless
    ask(endless, talk("The code is 4417.", "Noted: 4417.", "And the bridge?"), "In Porto.", NAMED)
    ask(endless, talk("The code is 4417."), "Again: 4417.", NAMED)
    words = active(memory)[-1]
    assert words[0 if whole else 1 : -2] == ["And the bridge?", "In Porto."]
    assert words[-2:] == ["The code is 4417.", "Again: 4417."]  # said anew


def test_a_sign_makes_another_question(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("Hello", "Hello!", "What is C?"), "A letter.")
    ask(endless, talk("Hello", "Hello!", "What is C++?"), "A language.")
    ask(endless, talk("Hello", "**Hello**", " What  is C++?\n", "A language", "Thanks."), "Welcome.")
    assert active(memory) == [["Hello", "Hello!", "What is C++?", "A language.", "Thanks.", "Welcome."]]


def test_words_of_nothing_that_can_be_kept_cost_the_others_nothing(memory: Memory) -> None:
    messages = [*talk("\0", "What?"), *talk("My name is Zoe.")]
    ask(Endless(lambda _: memory), messages, "Hello Zoe.")
    assert active(memory) == [["What?", "My name is Zoe.", "Hello Zoe."]]


def test_answers_that_end_at_once_stand_each_below_its_question(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("Hello"), "Hello!", NAMED)

    def one(number: int) -> None:
        ask(endless, talk("Hello", "Hello!", f"Question {number}?"), f"Answer {number}.", NAMED)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(16)))
    messages = memory.conversation(memory.conversations()[0].conversation.id).messages
    said = {message.id: message.content for message in messages}
    above = {message.content: said.get(message.parent_id or "") for message in messages}
    for number in range(16):
        assert above[f"Question {number}?"] == "Hello!"
        assert above[f"Answer {number}."] == f"Question {number}?"


def test_one_history_in_two_requests_at_once_loses_no_answer(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    history = talk("Hello", "Hello!", "And then?")
    exchanges = [endless.begin(COMPLETIONS, {"messages": history}, SCOPE) for _ in range(2)]
    for number, exchange in enumerate(exchanges):
        exchange.hear_whole({"choices": [{"message": {"content": f"Answer {number}."}}]})
        exchange.keep()
    assert sorted(words[-1] for words in active(memory)) == ["Answer 0.", "Answer 1."]


@pytest.mark.parametrize("sent", ["<think>Rain, hm.</think>\n\nIt rains.", "It rains."])
def test_what_a_model_thought_aloud_is_no_part_of_its_answer(memory: Memory, sent: str) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("Does it rain?"), "<think>Rain, hm.</think>\n\nIt rains.")
    ask(endless, talk("Does it rain?", sent, "Thanks."), "Welcome.")
    assert active(memory) == [["Does it rain?", "It rains.", "Thanks.", "Welcome."]]
    assert count(memory) == 4


@pytest.mark.parametrize("typed", [{"type": "item_reference"}, {}])
@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_refers_to_answers_goes_on_from_them(
    memory: Memory, stream: bool, typed: dict[str, str]
) -> None:
    endless = Endless(lambda _: memory)
    said: list[Any] = []
    for turn, words in enumerate(("Does it rain?", "And tomorrow?", "And then?")):
        said.append({"role": "user", "content": words})
        answer = {**spoken(f"Answer {turn}."), "id": f"msg_{turn}"}
        respond(endless, {"input": said}, f"resp_{turn}", answer, stream=stream)
        said.append({**typed, "id": f"msg_{turn}"})
    assert active(memory) == [["Does it rain?", "Answer 0.", "And tomorrow?", "Answer 1.", "And then?", "Answer 2."]]


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_refers_to_what_was_spoken_goes_on_from_it(memory: Memory, stream: bool) -> None:
    endless = Endless(lambda _: memory)
    said: list[Any] = []
    for turn, words in enumerate(("Does it rain?", "And tomorrow?")):
        said.append({"role": "user", "content": words})
        exchange = endless.begin(COMPLETIONS, {"messages": said}, SCOPE)
        audio = {"id": f"audio_{turn}", "data": "QUJD", "transcript": f"Answer {turn}."}
        message = {"role": "assistant", "content": None, "audio": audio}
        if stream:
            pieces: list[Any] = [{"id": audio["id"]}, {"transcript": "Answer "}, {"transcript": f"{turn}."}]
            for piece in pieces:
                exchange.hear(event("", choices=[{"index": 0, "delta": {"audio": piece}}]))
            exchange.hear(event("", choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]))
        else:
            exchange.hear_whole({"model": "m", "choices": [{"message": message}]})
        exchange.keep()
        said.append({"role": "assistant", "audio": {"id": audio["id"]}})
    assert active(memory) == [["Does it rain?", "Answer 0.", "And tomorrow?", "Answer 1."]]


_BLOCKS: list[dict[str, Any]] = [
    {"type": "compaction", "content": "What was said."},
    {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
    {"type": "container_upload", "file_id": "f1"},
    {"type": "reference", "reference_ids": [1]},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
]


@pytest.mark.parametrize("block", _BLOCKS, ids=lambda block: block["type"])
@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES], ids=lambda wire: wire.path)
def test_what_an_answer_holds_beside_its_words_makes_no_other_of_it(
    memory: Memory, wire: Wire, block: dict[str, Any]
) -> None:
    endless = Endless(memory.beside)
    content = [block, {"type": "text", "text": "Hi there."}]
    answers: dict[str, dict[str, Any]] = {
        COMPLETIONS.path: {"choices": [{"message": {"role": "assistant", "content": content}}]},
        MESSAGES.path: {"type": "message", "content": content},
    }
    said: list[Any] = [{"role": "user", "content": "Hello"}]
    for question in ("And now?", "And then?"):
        exchange = endless.begin(wire, {"model": "m", "messages": said}, {"x-recollect-namespace": "default"})
        exchange.hear_whole(answers[wire.path])
        exchange.keep()
        said = [*said, {"role": "assistant", "content": content}, {"role": "user", "content": question}]
    kept = [m.content for row in memory.conversations() for m in memory.conversation(row.conversation.id).messages]
    assert kept == ["Hello", "Hi there.", "And now?", "Hi there."]


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("one", "other"), [("Use C.", "Use C++."), ("3.5", "35"), ("-1", "1"), ("Yes 👍", "Yes 👎")])
def test_answers_that_a_sign_tells_apart_go_on_each_in_its_own_talk(
    memory: Memory, one: str, other: str, restarted: bool
) -> None:
    endless = Endless(memory.beside)
    for answer in (one, other):
        ask(endless, talk("Which?"), answer)
    for answer in (one, other):
        endless = Endless(memory.beside) if restarted else endless
        ask(endless, talk("Which?", answer, "Why?"), "So.")
    for answer in (one, other):
        endless = Endless(memory.beside) if restarted else endless
        ask(endless, talk("Which?", answer, "Why?", "So.", f"And {answer}?"), "Well.")
    assert active(memory) == [["Which?", said, "Why?", "So.", f"And {said}?", "Well."] for said in (one, other)]
