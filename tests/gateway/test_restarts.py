"""What is in the store says where a request goes on: also after a restart, among many, and beside others alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import SCOPE, assistant, begin, called, everything, say, step, talks, user

WIRES = pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
NAMED = {"x-recollect-conversation": "c"}
WHOSE = pytest.mark.parametrize("headers", [SCOPE, {"authorization": "sk-1"}], ids=["default", "apart"])


def kept(memory: Memory, headers: dict[str, str]) -> Memory:
    return memory.beside(headers.get("x-recollect-namespace", "apart"))


@WHOSE
@WIRES
def test_a_loop_that_begins_without_words_goes_on(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, headers: dict[str, str]
) -> None:
    items: list[Any] = [user("Does it rain?")]
    for number in range(3):
        say(begin(endless(), wire, items, headers), calls=((f"c{number}", "{}"),))
        items += step(wire, f"c{number}", "{}", f"Rain {number}")
    say(begin(endless(), wire, items, headers), "It rains.")
    say(begin(endless(), wire, [*items, assistant("It rains."), user("Thanks.")], headers), "Welcome.")
    assert talks(kept(memory, headers)) == [["Does it rain?", "It rains.", "Thanks.", "Welcome."]]
    assert len(called(kept(memory, headers))) == 3


@WIRES
def test_no_key_goes_on_with_the_words_of_another(memory: Memory, endless: Callable[[], Endless], wire: Wire) -> None:
    keys = [{"authorization": "sk-1"}, {"authorization": "sk-2"}]
    for headers in keys:
        say(begin(endless(), wire, [user("Hello")], headers), "Hello! How can I help?")
        items = [user("Hello"), assistant("Hello! How can I help?"), user(f"I am {headers['authorization']}.")]
        say(begin(endless(), wire, items, headers), "Noted.")
    apart = memory.beside("apart")
    assert [words[2] for words in talks(apart)] == ["I am sk-1.", "I am sk-2."]
    assert [len(words) for words in talks(apart)] == [4, 4]


@WHOSE
@WIRES
def test_a_loop_goes_on_that_waited_behind_many(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, headers: dict[str, str]
) -> None:
    """However many newer conversations there are, and whether its beginning is sent or not."""
    loops: dict[str, list[Any]] = {name: [user(f"{name}?")] for name in ("whole", "window")}
    for name, items in loops.items():
        say(begin(endless(), wire, items, headers), calls=((f"call of {name}", "{}"),))
    for number in range(20):
        say(begin(endless(), wire, [user(f"Other {number}?")], headers), "Noted.")
    for name, items in loops.items():
        items += step(wire, f"call of {name}", "{}", f"Result of {name}")
        sent = items if name == "whole" else items[1:]
        say(begin(endless(), wire, sent, headers), f"Answer of {name}.")
    found = talks(kept(memory, headers))
    assert found[-2:] == [[f"{name}?", f"Answer of {name}."] for name in loops]  # they were changed last
    assert len(found) == 22


@WHOSE
def test_a_window_goes_on_that_waited_behind_many(
    memory: Memory, endless: Callable[[], Endless], headers: dict[str, str]
) -> None:
    """Also where everybody was answered the same."""
    say(begin(endless(), COMPLETIONS, [user("Bread?")], headers), "Noted.")
    for number in range(70):
        say(begin(endless(), COMPLETIONS, [user(f"Other {number}?")], headers), "Noted.")
    window = [user("Bread?"), assistant("Noted."), user("And butter?")]
    say(begin(endless(), COMPLETIONS, window, headers), "Noted.")
    say(begin(endless(), COMPLETIONS, [*window[2:], assistant("Noted."), user("And salt?")], headers), "Noted.")
    assert talks(kept(memory, headers))[-1] == ["Bread?", "Noted.", "And butter?", "Noted.", "And salt?", "Noted."]
    assert len(kept(memory, headers).conversations(limit=99)) == 71


@WIRES
@pytest.mark.parametrize("same", [True, False], ids=["same arguments", "other arguments"])
def test_two_loops_that_are_alike_are_not_merged(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, same: bool
) -> None:
    """The same question, and calls that the server counts anew."""
    given = {place: "{}" if same else f'{{"in": "{place}"}}' for place in ("Porto", "Faro")}
    for place in given:
        say(begin(endless(), wire, [user("Go.")]), calls=(("call_0", given[place]),), name=place)
    loops = {place: [user("Go."), *step(wire, "call_0", given[place], f"Rain in {place}")] for place in given}
    both = {place: begin(endless(), wire, items) for place, items in loops.items()}
    for place, exchange in both.items():
        say(exchange, calls=(("call_0", given[place]),), name=f"{place} 2")
        loops[place] += step(wire, "call_0", given[place], f"Sun in {place}")
    for place, items in loops.items():
        say(begin(endless(), wire, items), f"Done in {place}.", name=f"{place} 3")
    assert sorted(talks(memory)) == [["Go.", "Done in Faro."], ["Go.", "Done in Porto."]]
    for row in memory.conversations():
        told = [m.content for m in memory.conversation(row.conversation.id).messages]
        place = told[-1].removeprefix("Done in ").rstrip(".")
        assert told == ["Go.", f"Rain in {place}", f"Sun in {place}", f"Done in {place}."]


@WHOSE
@WIRES
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "in turn"])
def test_two_talks_that_begin_alike_stay_two(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, headers: dict[str, str], at_once: bool
) -> None:
    alike = [user("Hi"), assistant("Hello!")]
    for exchange in [begin(endless(), wire, alike[:1], headers) for _ in range(2)]:
        say(exchange, "Hello!")
    one = Endless(memory.beside)
    names = ("Anna", "Bob")
    if at_once:
        both = {name: begin(one, wire, [*alike, user(f"I am {name}.")], headers) for name in names}
        for name, exchange in both.items():
            say(exchange, f"Hi {name}.")
    else:
        for name in names:
            say(begin(endless(), wire, [*alike, user(f"I am {name}.")], headers), f"Hi {name}.")
    for name in names:
        items = [*alike, user(f"I am {name}."), assistant(f"Hi {name}."), user("And now?")]
        say(begin(endless(), wire, items, headers), "Now this.")
    found = talks(kept(memory, headers))
    assert sorted(found) == [["Hi", "Hello!", f"I am {n}.", f"Hi {n}.", "And now?", "Now this."] for n in names]
    assert len(everything(kept(memory, headers))) == 12


@WIRES
def test_two_talks_that_ask_the_same_and_call_the_same_stay_two(
    memory: Memory, endless: Callable[[], Endless], wire: Wire
) -> None:
    """Only what their tools find tells them apart."""
    loops = {place: [user("Hi"), assistant("Hello!"), user("Go.")] for place in ("Porto", "Faro")}
    for items in loops.values():
        say(begin(endless(), wire, items[:1]), "Hello!")
    for place, items in loops.items():
        given = f'{{"in": "{place}"}}'
        say(begin(endless(), wire, items), calls=(("call_0", given),), name=place)
        items += step(wire, "call_0", given, f"Rain in {place}")
    for place, items in loops.items():
        say(begin(endless(), wire, items), f"Done in {place}.", name=f"{place} 2")
    told = [[m.content for m in memory.conversation(r.conversation.id).messages] for r in memory.conversations()]
    assert sorted(told) == [["Hi", "Hello!", "Go.", f"Rain in {p}", f"Done in {p}."] for p in ("Faro", "Porto")]


@WIRES
def test_another_answer_may_give_its_call_the_same_id(
    memory: Memory, endless: Callable[[], Endless], wire: Wire
) -> None:
    items = [user("Hi"), assistant("Hello!"), user("Go.")]
    say(begin(endless(), wire, items[:1]), "Hello!")
    for place in ("Porto", "Faro"):
        given = f'{{"in": "{place}"}}'
        say(begin(endless(), wire, items), calls=(("call_0", given),), name=place)
        done = [*items, *step(wire, "call_0", given, f"Rain in {place}")]
        say(begin(endless(), wire, done), f"Done in {place}.", name=f"{place} 2")
    assert talks(memory) == [["Hi", "Hello!", "Go.", "Done in Faro."]]
    assert [result for _, _, result in called(memory)] == ["Rain in Porto", "Rain in Faro"]
    assert len(everything(memory)) == 7


def test_many_loops_and_restarts_in_any_order(memory: Memory) -> None:
    """Each is kept once and in order, whichever goes on first."""
    names = [f"{subject} {n}" for subject, n in product(("bread", "wood"), range(4))]
    loops: dict[str, list[Any]] = {name: [user("Go.")] for name in names}
    for number in range(3):
        for name in names if number % 2 else reversed(names):
            own, given = f"call_{number}", f'{{"of": "{name}"}}'
            say(begin(Endless(memory.beside), COMPLETIONS, loops[name]), calls=((own, given),))
            loops[name] += step(COMPLETIONS, own, given, f"{number} of {name}")
    for name in names:
        say(begin(Endless(memory.beside), COMPLETIONS, loops[name]), f"Done: {name}")
    kept_ones = [[m.content for m in memory.conversation(r.conversation.id).messages] for r in memory.conversations()]
    assert sorted(kept_ones) == sorted(
        ["Go.", *(f"{number} of {name}" for number in range(3)), f"Done: {name}"] for name in names
    )


def test_a_client_that_renames_calls_goes_on_after_a_restart(memory: Memory) -> None:
    items: list[Any] = [user("Does it rain?")]
    for number in range(3):
        say(begin(Endless(memory.beside), COMPLETIONS, items), calls=(("", f'{{"n": {number}}}'),))
        items += step(COMPLETIONS, f"own-{number}", f'{{"n":{number}}}', f"Rain {number}")
    say(begin(Endless(memory.beside), COMPLETIONS, items), "It rains.")
    assert everything(memory) == ["Does it rain?", "Rain 0", "Rain 1", "Rain 2", "It rains."]


@pytest.mark.parametrize("wire", [MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_threads_that_a_provider_holds_stay_each_with_its_key(memory: Memory, wire: Wire) -> None:
    """Providers may name the answers to two keys alike."""

    def follows(answer: str) -> dict[str, Any]:
        if wire is RESPONSES:
            return {"previous_response_id": answer} if answer else {}
        return {"thread": {"type": "continue", "previous_message_id": answer} if answer else {"type": "create"}}

    keys = [{"authorization": key} for key in ("sk-1", "sk-2")]
    for headers in keys:
        key = headers["authorization"]
        say(begin(Endless(memory.beside), wire, [user(f"I am {key}.")], headers, **follows("")), calls=(("c", "{}"),))
    for headers in keys:
        key, result = headers["authorization"], step(wire, "c", "{}", f"For {headers['authorization']}")[-1]
        say(begin(Endless(memory.beside), wire, [result], headers, **follows("r1")), f"You are {key}.", name="r2")
    for headers in keys:
        asked = [user(f"Thanks from {headers['authorization']}.")]
        say(begin(Endless(memory.beside), wire, asked, headers, **follows("r2")), "Welcome.", name="r3")
    apart = memory.beside("apart")
    found = talks(apart)
    for key, words in zip(("sk-1", "sk-2"), found, strict=True):
        assert words == [f"I am {key}.", f"You are {key}.", f"Thanks from {key}.", "Welcome."]
    assert [result for _, _, result in called(apart)] in (["For sk-1", "For sk-2"], ["For sk-2", "For sk-1"])


@WHOSE
@pytest.mark.parametrize("wire", [COMPLETIONS, RESPONSES], ids=lambda wire: wire.path)
def test_answers_that_a_client_only_refers_to_are_known(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, headers: dict[str, str]
) -> None:
    """OpenAI keeps them: spoken ones, and the items of Responses."""
    items: list[Any] = []
    for number in range(3):
        items.append(user(f"Question {number}?"))
        exchange, own, words = begin(endless(), wire, items, headers), f"item_{number}", f"Answer {number}."
        if wire is COMPLETIONS:
            message = {"role": "assistant", "content": None, "audio": {"id": own, "transcript": words}}
            exchange.hear_whole({"id": f"r{number}", "choices": [{"message": message, "finish_reason": "stop"}]})
            items.append({"role": "assistant", "audio": {"id": own}})
        else:
            part = {"type": "output_text", "text": words}
            told = {"type": "message", "id": own, "role": "assistant", "content": [part]}
            exchange.hear_whole({"id": f"r{number}", "status": "completed", "output": [told]})
            items.append({"type": "item_reference", "id": own})
        exchange.keep()
    assert talks(kept(memory, headers)) == [[w for n in range(3) for w in (f"Question {n}?", f"Answer {n}.")]]


RETRIED = {"x-stainless-retry-count": "1"}


@pytest.mark.parametrize("named", [{}, NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("is_whole", [True, False], ids=["lost on its way", "broken off"])
@WHOSE
def test_who_asks_again_after_a_restart_is_in_the_same_turn(
    memory: Memory, headers: dict[str, str], is_whole: bool, named: dict[str, str]
) -> None:
    """Clients do so when a server ends: with the count of their retries, or if an answer broke off without it."""
    own = {**headers, **named}
    first = begin(Endless(memory.beside), COMPLETIONS, [user("Does it rain?")], own)
    if is_whole:
        say(first, "It rains.")
    else:
        first.hear(b'data: {"model": "m", "choices": [{"delta": {"content": "It"}}]}\n\n')
        first.keep()
    again = begin(
        Endless(memory.beside), COMPLETIONS, [user("Does it rain?")], {**own, **(RETRIED if is_whole else {})}
    )
    say(again, "It rains, yes.")
    items = [user("Does it rain?"), assistant("It rains, yes."), user("Thanks.")]
    say(begin(Endless(memory.beside), COMPLETIONS, items, own), "Welcome.")
    where = memory.beside(again.asked.namespace)
    assert talks(where) == [["Does it rain?", "It rains, yes.", "Thanks.", "Welcome."]]
    assert everything(where).count("Does it rain?") == 1


@pytest.mark.parametrize("before", [False, True], ids=["first", "later"])
@WHOSE
def test_a_try_after_a_restart_that_is_answered_alike_adds_nothing(
    memory: Memory, headers: dict[str, str], before: bool
) -> None:
    own = {**headers, **NAMED}
    if before:
        say(begin(Endless(memory.beside), COMPLETIONS, [user("Hello")], own), "Hello!")
    for more in ({}, RETRIED):
        exchange = begin(Endless(memory.beside), COMPLETIONS, [user("Does it rain?")], {**own, **more})
        say(exchange, "I look.", calls=(("c1", "{}"),))
    where = memory.beside(exchange.asked.namespace)
    said = [*(["Hello", "Hello!"] if before else []), "Does it rain?", "I look."]
    assert [text for text in everything(where) if text] == said
    assert len(called(where)) == 1


@pytest.mark.parametrize("sent", ["whole", "only what is new"])
@pytest.mark.parametrize("before", [False, True], ids=["first", "later"])
@WIRES
def test_a_step_that_is_tried_again_after_a_restart_adds_nothing(
    memory: Memory, wire: Wire, before: bool, sent: str
) -> None:
    own = {**SCOPE, **NAMED}
    if before:
        say(begin(Endless(memory.beside), wire, [user("Hello")], own), "Hello!")
    say(begin(Endless(memory.beside), wire, [user("Does it rain?")], own), calls=(("c1", "{}"),))
    loop = step(wire, "c1", "{}", "Rain")
    for more in ({}, RETRIED):
        items = [user("Does it rain?"), *loop] if sent == "whole" else loop[-1:]
        say(begin(Endless(memory.beside), wire, items, {**own, **more}), "It rains.")
    say(begin(Endless(memory.beside), wire, [user("Thanks.")], own), "Welcome.")
    said = [*(["Hello", "Hello!"] if before else []), "Does it rain?", "Rain", "It rains.", "Thanks.", "Welcome."]
    assert everything(memory) == said


def test_the_same_words_after_a_restart_are_said_again_once_they_were_answered(memory: Memory) -> None:
    for _ in range(3):
        say(begin(Endless(memory.beside), COMPLETIONS, [user("And then?")], {**SCOPE, **NAMED}), "Part.")
        say(begin(Endless(memory.beside), COMPLETIONS, [user("Hello")]), "Hello!")
    assert sorted(talks(memory), key=len) == [["Hello", "Hello!"]] * 3 + [["And then?", "Part."] * 3]


@pytest.mark.parametrize("how", ["sent", "held by the provider"])
def test_the_model_is_not_told_again_what_it_has(memory: Memory, endless: Callable[[], Endless], how: str) -> None:
    """Whoever else said the same, and whatever names our answers have."""
    turns = [f"What of the {thing} in Porto?" for thing in ("bridge", "tower", "harbour")]
    items: dict[str, list[Any]] = {key: [] for key in ("sk-1", "sk-2")}
    for number, question in enumerate(turns):
        for key in items:  # both hear the same, word for word, under the same names
            loop = step(RESPONSES, f"c{number}", "{}", f"Found {question}")
            for name, new in (("call", [user(question)]), ("answer", loop)):
                before = f"answer{number - 1}" if name == "call" else f"call{number}"
                held = how != "sent" and (number or name == "answer")
                sent = new[-1:] if held else items[key] + new
                more = {"previous_response_id": before} if held else {}
                exchange = begin(endless(), RESPONSES, sent, {"authorization": key, **NAMED}, **more)
                assert exchange.tokens == 0
                items[key] += new
                calls = ((f"c{number}", "{}"),) if name == "call" else ()
                say(exchange, "" if calls else f"The answer to {question}", calls, name=f"{name}{number}")
            items[key].append(assistant(f"The answer to {question}"))
    assert [len(words) for words in talks(memory.beside(exchange.asked.namespace))] == [6]


TRIMMED = {
    "the first two and the newest": lambda items: items if len(items) < 7 else [*items[:2], *items[-5:]],
    "the first and the newest": lambda items: items if len(items) < 7 else [items[0], *items[-6:]],
    "the first four and the newest": lambda items: items if len(items) < 9 else [*items[:4], *items[-3:]],
    "every other exchange": lambda items: [one for n, one in enumerate(items) if n // 2 % 2 == 0 or n > len(items) - 4],
}


@pytest.mark.parametrize("headers", [SCOPE, {**SCOPE, **NAMED}, {"authorization": "sk-1"}])
@pytest.mark.parametrize("trimmed", TRIMMED.values(), ids=TRIMMED)
@WIRES
def test_a_client_that_leaves_out_the_middle_of_a_talk_goes_on(
    memory: Memory,
    endless: Callable[[], Endless],
    wire: Wire,
    trimmed: Callable[[list[Any]], list[Any]],
    headers: dict[str, str],
) -> None:
    items: list[Any] = []
    for number in range(8):
        items.append(user(f"What of harbour {number}?"))
        say(begin(endless(), wire, trimmed(items), headers), f"It has {number} boats.", name=f"r{number}")
        items.append(assistant(f"It has {number} boats."))
    own = kept(memory, headers)
    assert talks(own) == [[one["content"] for one in items]]
    assert len(everything(own)) == len(items)


@WIRES
def test_who_edits_what_was_said_in_the_middle_opens_a_branch(
    memory: Memory, endless: Callable[[], Endless], wire: Wire
) -> None:
    items: list[Any] = []
    for number in range(5):
        items.append(user(f"What of harbour {number}?"))
        say(begin(endless(), wire, items), f"It has {number} boats.", name=f"r{number}")
        items.append(assistant(f"It has {number} boats."))
    items[4] = user("What of another harbour?")
    say(begin(endless(), wire, [*items, user("And then?")]), "Nothing.", name="r9")
    assert talks(memory.beside("default")) == [[*(one["content"] for one in items), "And then?", "Nothing."]]


SHORTENED = {
    "a summary": lambda items: [user("Summary: we spoke of harbours."), *items[-4:]],
    "a summary that was acknowledged": lambda items: [user("Summary."), assistant("Understood."), *items[-4:]],
    "the first and the newest": lambda items: [*items[:1], *items[-3:]],
    "an edited question": lambda items: [user("What of no harbour?"), *items[1:]],
    "an edited answer": lambda items: [items[0], assistant("None."), *items[2:]],
}


@pytest.mark.parametrize("headers", [SCOPE, {**SCOPE, **NAMED}], ids=["unnamed", "named"])
@pytest.mark.parametrize("shortened", SHORTENED.values(), ids=SHORTENED)
@WIRES
def test_nothing_is_kept_from_a_model_that_its_client_left_out(
    memory: Memory,
    endless: Callable[[], Endless],
    wire: Wire,
    shortened: Callable[[list[Any]], list[Any]],
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items: list[Any] = []
    for number in range(4):
        items.append(user(f"What of harbour {number}?"))
        say(begin(endless(), wire, items, headers), f"It has {number} boats.", name=f"r{number}")
        items.append(assistant(f"It has {number} boats."))
    asked: list[str] = []

    def prepare_context(self: Memory, *given: Any, known: list[str], **named: Any) -> Any:
        asked.extend(message.content for message in self.messages(known))
        return prepared(self, *given, known=known, **named)

    prepared = Memory.prepare_context
    monkeypatch.setattr(Memory, "prepare_context", prepare_context)
    sent = shortened(items)
    begin(endless(), wire, [*sent, user("How many boats are there in all of the harbours?")], headers)
    assert set(asked) <= {one["content"] for one in sent}


@pytest.mark.parametrize("kept_as", ["conv_1", {"id": "conv_1"}], ids=["id", "object"])
@pytest.mark.parametrize("headers", [SCOPE, {"authorization": "sk-1"}], ids=["default", "its own"])
def test_what_a_conversation_of_the_provider_holds_is_not_told_again(
    memory: Memory, endless: Callable[[], Endless], headers: dict[str, str], kept_as: object
) -> None:
    for number in range(3):
        sent = [user(f"What of harbour {number} in Porto and of its boats?")]
        exchange = begin(endless(), RESPONSES, sent, headers, conversation=kept_as)
        assert exchange.tokens == 0
        say(exchange, f"It has {number} boats.", name=f"r{number}")
    assert [len(words) for words in talks(memory.beside(exchange.asked.namespace))] == [6]
