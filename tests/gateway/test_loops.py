"""Whatever loop a client runs, a conversation is stored once, whole and in order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from recollect.gateway.events import Refusal
from recollect.gateway.exchange import Endless, ProxiedExchange
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from recollect.record import Kind
from tests.gateway.conftest import restarted

SCOPE = {"x-recollect-namespace": "default"}
QUESTION, ANSWER = "Does it rain in Porto?", "It rains in Porto."
STEPS = [
    ("c1", '{"in": "Porto"}', "Rain"),
    ("c2", '{"in": "Porto", "at": 9}', "More rain"),
    ("c3", "{}", "Rain, still"),
]


def begin(
    endless: Endless, wire: Wire, items: list[Any], headers: dict[str, str] = SCOPE, **more: Any
) -> ProxiedExchange:
    exchange = endless.begin(wire, {"model": "m", wire.items: items, **more}, headers)
    assert not exchange.degraded
    return exchange


def say(exchange: ProxiedExchange, text: str = "", calls: tuple[tuple[str, str], ...] = (), name: str = "r1") -> None:
    """The answer of the model, as the wire has it; calls by their ids and arguments."""
    exchange.hear_whole(_ANSWERS[exchange.wire.path](text, calls, name))
    exchange.keep()


def _completion(text: str, calls: tuple[tuple[str, str], ...], name: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None, **_called(calls)}
    return {"id": name, "model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}


def _called(calls: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    made = [{"id": own, "type": "function", "function": {"name": "look", "arguments": given}} for own, given in calls]
    return {"tool_calls": made} if made else {}


def _message(text: str, calls: tuple[tuple[str, str], ...], name: str) -> dict[str, Any]:
    return {"id": name, "type": "message", "model": "m", "content": _blocks(text, calls)}


def _blocks(text: str, calls: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    used = [{"type": "tool_use", "id": own, "name": "look", "input": json.loads(given)} for own, given in calls]
    return ([{"type": "text", "text": text}] if text else []) + used


def _response(text: str, calls: tuple[tuple[str, str], ...], name: str) -> dict[str, Any]:
    return {"id": name, "model": "m", "status": "completed", "output": _output(text, calls)}


def _output(text: str, calls: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    part = {"type": "output_text", "text": text, "annotations": []}
    said = [{"type": "message", "role": "assistant", "content": [part]}] if text else []
    return [*said, *({"type": "function_call", "call_id": i, "name": "look", "arguments": a} for i, a in calls)]


_ANSWERS = {COMPLETIONS.path: _completion, MESSAGES.path: _message, RESPONSES.path: _response}


def step(wire: Wire, own: str, given: str, result: str, text: str = "") -> list[dict[str, Any]]:
    """A call with its result, as a client sends them again."""
    if wire is COMPLETIONS:
        return [
            {"role": "assistant", "content": text or None, **_called(((own, given),))},
            {"role": "tool", "tool_call_id": own, "content": result},
        ]
    if wire is MESSAGES:
        return [
            {"role": "assistant", "content": _blocks(text, ((own, given),))},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": own, "content": result}]},
        ]
    return [*_output(text, ((own, given),)), {"type": "function_call_output", "call_id": own, "output": result}]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def talks(memory: Memory) -> list[list[str]]:
    """What was said on the active path of each conversation, the oldest first."""
    return [[m.content for m in memory.latest(row.conversation.id, 99)] for row in reversed(memory.conversations())]


def everything(memory: Memory) -> list[str]:
    """All that is stored, in order, tools and branches included."""
    rows = reversed(memory.conversations())
    return [m.content for row in rows for m in memory.conversation(row.conversation.id).messages]


def called(memory: Memory) -> list[tuple[str, str, str]]:
    """The calls of tools, in order: name, arguments, result."""
    threads = [memory.conversation(row.conversation.id) for row in memory.conversations()]
    order = [message.id for thread in threads for message in thread.messages]
    own = [call.id for thread in threads for call in thread.tool_calls]
    found = sorted(
        memory.integration.tool_calls(own), key=lambda call: order.index(call.result_message_id or call.message_id)
    )
    return [(call.name, call.arguments, call.result) for call in found]


@pytest.fixture
def endless(memory: Memory) -> Callable[[], Endless]:
    """The proxy over one memory, whatever the namespace."""
    return restarted(lambda _: memory)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_a_loop_of_tools_that_says_nothing_on_its_way(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, named: bool
) -> None:
    headers = {**SCOPE, "x-recollect-conversation": "c"} if named else SCOPE
    items: list[Any] = [user(QUESTION)]
    for own, given, result in STEPS:
        say(begin(endless(), wire, items, headers), calls=((own, given),))
        items += step(wire, own, given, result)
    say(begin(endless(), wire, items, headers), ANSWER)
    say(begin(endless(), wire, [*items, assistant(ANSWER), user("Thanks.")], headers), "Welcome.")
    assert talks(memory) == [[QUESTION, ANSWER, "Thanks.", "Welcome."]]
    assert everything(memory) == [QUESTION, "Rain", "More rain", "Rain, still", ANSWER, "Thanks.", "Welcome."]
    assert [(name, result) for name, _, result in called(memory)] == [("look", one[2]) for one in STEPS]
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert all(message.active and not message.versions for message in thread.messages)


@pytest.mark.parametrize("own", ["", "Let me look."], ids=["silent", "with words"])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_a_client_that_writes_words_of_its_own_beside_calls_is_in_the_same_talk(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, named: bool, own: str
) -> None:
    headers = {**SCOPE, "x-recollect-conversation": "c"} if named else SCOPE
    items: list[Any] = []
    for turn in ("One", "Two"):
        items.append(user(f"{turn}?"))
        for name, given, result in STEPS:
            say(begin(endless(), wire, items, headers), own, ((turn + name, given),), turn + name)
            items += step(wire, turn + name, given, result, f"{own}[Empty message]")
        say(begin(endless(), wire, items, headers), f"End of {turn}.", name=turn)
        items.append(assistant(f"End of {turn}."))
    said = [own] * len(STEPS) if own else []
    assert talks(memory) == [["One?", *said, "End of One.", "Two?", *said, "End of Two."]]
    assert [result for _, _, result in called(memory)] == [result for _, _, result in STEPS] * 2
    assert len(everything(memory)) == 4 + 2 * (len(said) + len(STEPS))


def test_two_loops_that_begin_alike_are_two_conversations(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    for where in ("Porto", "Faro"):
        say(begin(endless, COMPLETIONS, [user("Does it rain?")]), calls=((f"in {where}", "{}"),))
    for where in ("Porto", "Faro"):
        items = [user("Does it rain?"), *step(COMPLETIONS, f"in {where}", "{}", f"Rain in {where}")]
        say(begin(endless, COMPLETIONS, items), f"It rains in {where}.")
    assert talks(memory) == [["Does it rain?", "It rains in Porto."], ["Does it rain?", "It rains in Faro."]]
    assert sorted(result for _, _, result in called(memory)) == ["Rain in Faro", "Rain in Porto"]


@pytest.mark.parametrize("headers", [SCOPE, {}], ids=["default", "apart"])
def test_two_loops_at_once_whose_calls_are_counted_anew(memory: Memory, headers: dict[str, str]) -> None:
    endless = Endless(lambda name: memory.beside(name))
    loops: list[list[Any]] = [[user(f"{place}?")] for place in ("Porto", "Faro")]
    for number in range(3):
        for items in loops:
            say(begin(endless, COMPLETIONS, items, headers), calls=(("call_0", "{}"),))
            items += step(COMPLETIONS, "call_0", "{}", f"{number} of {items[0]['content']}")
    for items in loops:
        say(begin(endless, COMPLETIONS, items, headers), "Done.")
    memory = memory.beside("default" if headers else "apart")
    wanted = [[f"{p}?", *(f"{n} of {p}?" for n in range(3)), "Done."] for p in ("Porto", "Faro")]
    assert everything(memory) == [*wanted[0], *wanted[1]]


def test_a_client_that_renames_calls_goes_on_all_the_same(memory: Memory) -> None:
    """Some servers give their calls no ids."""
    endless = Endless(lambda _: memory)
    items: list[Any] = [user(QUESTION)]
    for own, given, result in STEPS:
        say(begin(endless, COMPLETIONS, items, {**SCOPE, "x-recollect-conversation": "c"}), calls=(("", given),))
        items += step(COMPLETIONS, f"own-{own}", given.replace(" ", ""), result)
    say(begin(endless, COMPLETIONS, items, {**SCOPE, "x-recollect-conversation": "c"}), ANSWER)
    assert everything(memory) == [QUESTION, "Rain", "More rain", "Rain, still", ANSWER]


@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_an_answer_that_only_calls_a_tool_is_kept(memory: Memory, wire: Wire) -> None:
    """Structured output is often asked for so, and no result ever comes."""
    endless = Endless(lambda _: memory)
    say(begin(endless, wire, [user("Who is Rex?")]), calls=(("c1", '{"name": "Rex", "kind": "dog"}'),))
    assert talks(memory) == [["Who is Rex?"]]
    [(name, given, result)] = called(memory)
    assert (name, "Rex" in given, result) == ("look", True, "")
    assert [m.kind for m in memory.conversation(memory.conversations()[0].conversation.id).messages][1:] == [Kind.TOOL]


def test_calls_without_results_are_kept_where_they_were_made(memory: Memory) -> None:
    items = [user("One?"), step(COMPLETIONS, "c1", '{"n": 1}', "")[0], user("Stop. Two?")]
    say(begin(Endless(lambda _: memory), COMPLETIONS, items), "2")
    assert everything(memory) == ["One?", "", "Stop. Two?", "2"]
    assert called(memory) == [("look", '{"n": 1}', "")]


@pytest.mark.parametrize("wire", [MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_a_thread_that_the_server_holds(memory: Memory, endless: Callable[[], Endless], wire: Wire) -> None:
    """Each request says only what is new, and names the answer that it follows."""

    def follows(answer: str) -> dict[str, Any]:
        if wire is RESPONSES:
            return {"previous_response_id": answer} if answer else {}
        return {"thread": {"type": "continue", "previous_message_id": answer} if answer else {"type": "create"}}

    say(begin(endless(), wire, [user(QUESTION)], **follows("")), calls=(("c1", '{"in": "Porto"}'),), name="r1")
    result = step(wire, "c1", "{}", "Rain")[-1]
    say(begin(endless(), wire, [result], **follows("r1")), "Let me see more.", (("c2", "{}"),), name="r2")
    result = step(wire, "c2", "{}", "More rain")[-1]
    say(begin(endless(), wire, [result], **follows("r2")), ANSWER, name="r3")
    say(begin(endless(), wire, [user("Thanks.")], **follows("r3")), "Welcome.", name="r4")
    assert talks(memory) == [[QUESTION, "Let me see more.", ANSWER, "Thanks.", "Welcome."]]
    assert everything(memory) == [QUESTION, "Rain", "Let me see more.", "More rain", ANSWER, "Thanks.", "Welcome."]
    assert [(name, result) for name, _, result in called(memory)] == [("look", "Rain"), ("look", "More rain")]


@pytest.mark.parametrize("window", [2, 3, 4, 5, 6])
def test_a_client_that_sends_only_its_newest_messages_and_no_name(
    memory: Memory, endless: Callable[[], Endless], window: int
) -> None:
    whole: list[Any] = []
    for number in range(12):
        whole.append(user(f"Question {number}?"))
        say(begin(endless(), COMPLETIONS, whole[-window:]), f"Answer {number}.")
        whole.append(assistant(f"**Answer {number}.**\n"))
    assert talks(memory) == [[words for n in range(12) for words in (f"Question {n}?", f"Answer {n}.")]]
    assert len(everything(memory)) == 24


def test_a_window_within_a_loop_of_tools(memory: Memory, endless: Callable[[], Endless]) -> None:
    items: list[Any] = [user(QUESTION)]
    for own, given, result in STEPS:
        say(begin(endless(), COMPLETIONS, items[-2:]), calls=((own, given),))
        items += step(COMPLETIONS, own, given, result)
    say(begin(endless(), COMPLETIONS, items[-2:]), ANSWER)
    assert everything(memory) == [QUESTION, "Rain", "More rain", "Rain, still", ANSWER]
    assert len(memory.conversations()) == 1


def test_two_windows_that_look_alike_in_part_are_not_mixed_up(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    talks_of: dict[str, list[Any]] = {"bread": [], "wood": []}
    for number in range(5):
        for subject, whole in talks_of.items():
            whole.append(user(f"{subject}, {number}?"))
            say(begin(endless, COMPLETIONS, whole[-3:]), "Noted.")
            whole.append(assistant("Noted."))
    assert talks(memory) == [[m["content"] for m in whole] for whole in talks_of.values()]


def test_words_that_a_client_puts_into_the_models_mouth_prove_nothing(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    for subject in ("bread", "wood"):
        say(begin(endless, COMPLETIONS, [assistant("Hello! How can I help?"), user(f"With {subject}.")]), "So.")
    assert [words[1] for words in talks(memory)] == ["With bread.", "With wood."]


def test_nothing_of_one_namespace_reaches_another(memory: Memory) -> None:
    """Two tenants with a conversation of the same name, and calls of the same ids."""
    endless = Endless(lambda name: memory.beside(name))
    one, other = ({"x-recollect-namespace": name, "x-recollect-conversation": "main"} for name in ("acme", "zeta"))
    say(begin(endless, RESPONSES, [user("Where?")], one), calls=(("call_0", '{"pin": "4417"}'),), name="resp_1")
    say(begin(endless, RESPONSES, [user("Where?")], other), "Here.", name="resp_0")
    result = {"type": "function_call_output", "call_id": "call_0", "output": "At the pier"}
    say(begin(endless, RESPONSES, [result], other, previous_response_id="resp_1"), "There.", name="resp_2")
    assert "4417" in str(called(memory.beside("acme")))
    assert "4417" not in str(called(memory.beside("zeta")))
    assert talks(memory.beside("acme")) == [["Where?"]]
    assert talks(memory.beside("zeta")) == [["Where?", "Here.", "There."]]


def test_clients_that_are_apart_do_not_go_on_with_each_other(memory: Memory) -> None:
    endless = Endless(lambda name: memory.beside(name))
    for key in ("sk-1", "sk-2"):
        say(begin(endless, COMPLETIONS, [user(f"I am {key}.")], {"authorization": key}), "Noted.")
    for key in ("sk-1", "sk-2"):
        window = [assistant("Noted."), user(f"Who am I, {key}?")]
        say(begin(endless, COMPLETIONS, window, {"authorization": key}), f"You are {key}.")
    apart = memory.beside("apart")
    assert talks(apart) == [[f"I am {k}.", "Noted.", f"Who am I, {k}?", f"You are {k}."] for k in ("sk-1", "sk-2")]


def test_what_a_server_allows_one_client_is_not_taken_for_anothers(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    items = [one for n in range(40) for one in (user(f"{n}: " + "words " * 60), assistant("Noted."))] + [user(QUESTION)]
    headers = [{**SCOPE, "authorization": key} for key in ("sk-1", "sk-2")]
    refused = begin(endless, COMPLETIONS, items, headers[0])
    assert refused.shorter(Refusal(limit=2_000, asked=3_000)) is not None
    left_out = [begin(endless, COMPLETIONS, items, one).headers.get("X-Recollect-Left-Out") for one in headers]
    assert left_out[0] is not None
    assert left_out[1] is None


class Clock:
    """Held still by a test."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


RETRY = {**SCOPE, "x-stainless-retry-count": "1"}
FIRST = {**SCOPE, "x-stainless-retry-count": "0"}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_a_client_that_asks_again_since_no_answer_came_is_in_the_same_turn(
    memory: Memory, named: bool, kept: bool
) -> None:
    """`kept`: the answer had been passed on, and was lost on its way."""
    endless, more = Endless(lambda _: memory), {"x-recollect-conversation": "c"} if named else {}
    first = begin(endless, COMPLETIONS, [user(QUESTION)], FIRST | more)
    if kept:
        say(first, "Rain.")
    again = begin(endless, COMPLETIONS, [user(QUESTION)], RETRY | more)
    if not kept:
        first.keep()
    assert again.headers["X-Recollect-Conversation"] == first.headers["X-Recollect-Conversation"]
    say(again, ANSWER)
    items = [user(QUESTION), assistant(ANSWER), user("Thanks.")]
    say(begin(endless, COMPLETIONS, items, FIRST | more), "Welcome.")
    assert talks(memory) == [[QUESTION, ANSWER, "Thanks.", "Welcome."]]
    assert everything(memory).count(QUESTION) == 1


def test_the_same_words_that_are_tried_again_are_not_those_of_an_earlier_turn(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    for number in range(3):
        failed = begin(endless, COMPLETIONS, [user("And then?")], {**FIRST, "x-recollect-conversation": "c"})
        failed.keep()
        again = begin(endless, COMPLETIONS, [user("And then?")], {**RETRY, "x-recollect-conversation": "c"})
        say(again, f"Part {number}.")
    assert talks(memory) == [[words for n in range(3) for words in ("And then?", f"Part {n}.")]]


def test_two_tries_that_are_both_answered_are_one_turn(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    tries = [begin(endless, COMPLETIONS, [user(QUESTION)], headers) for headers in (FIRST, RETRY)]
    for exchange, text in zip(tries, ("Rain.", ANSWER), strict=True):
        say(exchange, text)
    assert talks(memory) == [[QUESTION, ANSWER]]
    assert everything(memory) == [QUESTION, "Rain.", ANSWER]


def test_the_same_request_after_one_that_broke_off_is_the_same_turn(memory: Memory) -> None:
    """Also without a word of the client about it, and if it no longer asks for a stream."""
    endless = Endless(lambda _: memory)
    first = begin(endless, COMPLETIONS, [user(QUESTION)], stream=True)
    first.hear(b'data: {"model": "m", "choices": [{"delta": {"content": "It"}}]}\n\n')
    first.keep()
    say(begin(endless, COMPLETIONS, [user(QUESTION)]), ANSWER)
    assert talks(memory) == [[QUESTION, ANSWER]]
    say(begin(endless, COMPLETIONS, [user(QUESTION)]), ANSWER)  # this was heard: somebody asks the same
    assert talks(memory) == [[QUESTION, ANSWER]] * 2


def test_who_goes_on_without_an_answer_that_broke_off_is_in_the_same_talk(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    first = begin(endless, COMPLETIONS, [user(QUESTION)])
    first.hear(b'data: {"model": "m", "choices": [{"delta": {"content": "It"}}]}\n\n')
    first.keep()
    say(begin(endless, COMPLETIONS, [user(QUESTION), user("Well?")]), ANSWER)
    assert talks(memory) == [[QUESTION, "Well?", ANSWER]]
    assert everything(memory) == [QUESTION, "It", "Well?", ANSWER]


def test_the_same_words_much_later_are_another_talk(memory: Memory) -> None:
    clock = Clock()
    endless = Endless(lambda _: memory)
    endless.threads.clock = clock
    first = begin(endless, COMPLETIONS, [user(QUESTION)])
    first.hear(b'data: {"model": "m", "choices": [{"delta": {"content": "It"}}]}\n\n')
    first.keep()
    clock.now = 3_600.0
    say(begin(endless, COMPLETIONS, [user(QUESTION)]), ANSWER)
    assert talks(memory) == [[QUESTION, "It"], [QUESTION, ANSWER]]


def test_two_who_ask_the_same_at_once_are_two(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    both = [begin(endless, COMPLETIONS, [user(QUESTION)], FIRST) for _ in range(2)]
    for exchange, text in zip(both, ("Rain.", ANSWER), strict=True):
        say(exchange, text)
    assert talks(memory) == [[QUESTION, "Rain."], [QUESTION, ANSWER]]


def test_two_who_ask_the_same_and_try_again_are_told_apart(memory: Memory) -> None:
    """The clients of OpenAI give all tries of one request a key."""
    endless = Endless(lambda _: memory)
    for headers in (FIRST, RETRY):
        both = [begin(endless, COMPLETIONS, [user(QUESTION)], headers | {"idempotency-key": key}) for key in "ab"]
    for exchange, text in zip(both, ("Rain.", ANSWER), strict=True):
        say(exchange, text)
    assert talks(memory) == [[QUESTION, "Rain."], [QUESTION, ANSWER]]


def test_a_loop_that_is_tried_again_keeps_each_call_once(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    items: list[Any] = [user(QUESTION)]
    for own, given, result in STEPS:
        for number, headers in enumerate((FIRST, RETRY)):
            say(begin(endless, COMPLETIONS, items, headers), calls=((f"{own}-{number}", given),))
        items += step(COMPLETIONS, f"{own}-1", given, result)
    say(begin(endless, COMPLETIONS, items, FIRST), "Rain.")
    say(begin(endless, COMPLETIONS, items, RETRY), ANSWER)
    assert talks(memory) == [[QUESTION, ANSWER]]
    assert everything(memory) == [QUESTION, "Rain", "More rain", "Rain, still", "Rain.", ANSWER]
    assert len(called(memory)) == 3


@pytest.mark.parametrize("named", [False, True])
def test_questions_under_one_key_are_as_many_as_they_are(memory: Memory, named: bool) -> None:
    """Some clients give one key to all that they ask."""
    endless = Endless(lambda _: memory)
    headers = {**SCOPE, "idempotency-key": "run", **({"x-recollect-conversation": "c"} if named else {})}
    for number in range(4):
        exchange = begin(endless, COMPLETIONS, [user(f"Question {number}?")], headers)
        say(exchange, f"Answer {number}.")
        assert exchange.stores
    told = [[f"Question {number}?", f"Answer {number}."] for number in range(4)]
    assert talks(memory) == ([[one for pair in told for one in pair]] if named else told)


@pytest.mark.parametrize("own", ["", "c"], ids=["none", "the same"])
@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_calls_at_once_without_ids_of_their_own_get_each_its_result(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, turns: int, own: str
) -> None:
    """In the order in which they were made: nothing else tells them apart."""
    items: list[Any] = []
    for turn in range(turns):
        made = tuple((own, json.dumps({"of": [turn, number]})) for number in range(3))
        items.append(user(f"Question {turn}?"))
        say(begin(endless(), wire, items), calls=made, name=f"c{turn}")
        results = [f"Result {turn}.{number}" for number in range(3)]
        if wire is COMPLETIONS:
            items.append({"role": "assistant", "content": None, **_called(made)})
            items += [{"role": "tool", "tool_call_id": own, "content": text} for text in results]
        elif wire is MESSAGES:
            items.append({"role": "assistant", "content": _blocks("", made)})
            back = [{"type": "tool_result", "tool_use_id": own, "content": text} for text in results]
            items.append({"role": "user", "content": back})
        else:
            items += _output("", made)
            items += [{"type": "function_call_output", "call_id": own, "output": text} for text in results]
        say(begin(endless(), wire, items), f"Answer {turn}.", name=f"r{turn}")
        items.append(assistant(f"Answer {turn}."))
    told = [(json.loads(given)["of"], text) for _, given, text in called(memory)]
    assert told == [([turn, n], f"Result {turn}.{n}") for turn in range(turns) for n in range(3)]
