"""Where a request without its beginning goes on: its messages beside the newest ones of a conversation.

Words alike prove little: two people may ask the same. What only we can have told a client proves it: an answer that we
stored as one, a call of a tool that we passed on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from recollect.gateway.talk import Dialogue, DialogueCall, DialogueMessage
from recollect.memory import Memory
from recollect.record import Message, NodeId, PartKind, Role, ToolCall, stable_id
from recollect.text.clean import clean_text

LOOKED_UP = 64  # messages of a request, from the end
_BESIDE = 8  # messages that the end may have more than the request
_ENOUGH = 3  # messages in a row that are no chance


@dataclass(frozen=True, slots=True)
class Aligned:
    """The last message of a request that is known, -1 for none of them, and the id of what the rest stands below."""

    after: int
    parent: NodeId


def align(
    memory: Memory,
    conversation: NodeId,
    talk: Dialogue,
    said: Sequence[int],
    *,
    is_named: bool,
) -> Aligned | None:
    """Where a request goes on in a conversation, if it does. A conversation that the client has named needs less proof
    than one that is only looked through. Who tells what was forgotten has said it: that counts as if it stood there.
    """
    newest = said[-LOOKED_UP:]
    latest = memory.latest(conversation, len(newest) + _BESIDE, deleted=True)
    asked, there = [likeness_of(talk.said[n]) for n in newest], [likeness_of(message) for message in latest]
    for end in range(len(latest) - 1, -1, -1):
        for at in range(len(newest) - 1, -2, -1):
            run = _run(asked[: at + 1], there[: end + 1])
            place = newest[at] if at >= 0 else -1
            is_whole = run == at + 1  # nothing stands before it
            alike = run + talk.forgotten
            if not (run or at < 0) or not (is_whole or alike > 1):
                continue
            ours = [m for m in latest[end - run + 1 : end + 1] if m.role is Role.ASSISTANT and (is_named or m.model)]
            is_likely = is_whole or is_named or alike >= _ENOUGH
            is_alike = is_likely and (bool(ours) or (is_named and run > 1))
            if is_alike or calls_named(memory, _called(latest[end : end + 2], talk, place)):
                return Aligned(place, latest[end].id)
    return None


def as_told(memory: Memory, conversation: NodeId, talk: Dialogue, after: int, parent: NodeId | None) -> Dialogue:
    """The talk behind a place with the words that we told beside our calls: some clients write others there. The very
    same where they are those. `parent` is the message of that place, None for the last of the conversation.
    """
    said = list(talk.said)
    if not any(one.is_said and _beside(said, n) for n, one in enumerate(said) if n > after):
        return talk
    latest = memory.latest(conversation, LOOKED_UP + _BESIDE, deleted=True)
    at = next((n for n, one in enumerate(latest) if one.id == parent), len(latest))
    latest = latest[at:] if parent else latest[-1:]
    counted: Counter[tuple[NodeId, str]] = Counter()

    def made_below(message: Message, calls: Sequence[DialogueCall]) -> bool:
        names = (call_id(conversation, message.id, call.id, counted[message.id, call.id]) for call in calls)
        return bool(calls and calls_named(memory, names))

    for n in range(max(after, 0), len(said)):
        one = said[n]
        if n > after and one.is_said:
            calls = _beside(said, n)
            if latest and made_below(latest[0], calls):
                said[n] = replace(one, text="", assets=())  # we told no more words
            elif latest[1:] and latest[1].role is Role.ASSISTANT and made_below(latest[1], calls):
                latest = latest[1:]
                if likeness_of(one) != likeness_of(latest[0]):
                    said[n] = replace(one, text=latest[0].content, assets=())
            else:
                break
        if latest:
            counted.update((latest[0].id, call.id) for call in one.calls)
    return talk if tuple(said) == talk.said else replace(talk, said=tuple(said))


def with_answers(memory: Memory, talk: Dialogue, realm: tuple[str, str]) -> Dialogue:
    """The talk with the words of the answers that it only refers to; the very same where there are none."""
    marks = {n: item_mark(realm, one.refers) for n, one in enumerate(talk.said) if one.refers and not one.is_said}
    aliased = memory.integration.aliased(marks.values()) if marks else {}
    found = {one.id: one for one in memory.messages(ids[0] for ids in aliased.values())} if aliased else {}
    said = list(talk.said)
    for n, mark in marks.items():
        if (message := found.get(aliased.get(mark, [NodeId("")])[0])) is not None:
            said[n] = replace(said[n], text=message.content)
    return replace(talk, said=tuple(said)) if found else talk


def agreement(memory: Memory, talk: Dialogue, at: int, message: Message) -> tuple[bool, int]:
    """Whether the calls that a request tells of behind a place are those below a message, as far as both go, and how
    many of them are the same.
    """
    own, below = message.conversation_id, message.id
    counted: Counter[NodeId] = Counter()
    named: list[tuple[NodeId, NodeId, DialogueCall, str]] = []
    for call, result in calls_behind(talk, at):
        by_id, in_words = call_id(own, below, call.id), call_in_words(below, call)
        numbers = counted[by_id], counted[in_words]
        counted.update((by_id, in_words))
        named.append((call_id(own, below, call.id, numbers[0]), call_in_words(below, call, numbers[1]), call, result))
    stored = calls_named(memory, [name for by_id, in_words, *_ in named for name in (by_id, in_words)]) if named else {}
    agrees, same = True, 0
    for by_id, in_words, call, result in named:
        there = meant_by(call, stored.get(by_id), stored.get(in_words)) or stored.get(by_id)
        if there is None:
            continue
        is_same = is_same_call(call, there)
        is_result = not (result.strip() and there.result.strip()) or result.split() == there.result.split()
        same += is_same
        agrees = agrees and is_same and is_result
    return agrees, same


def calls_behind(talk: Dialogue, at: int) -> list[tuple[DialogueCall, str]]:
    """The calls behind a place, until somebody says something, each with its result, empty if there is none yet."""
    made: list[tuple[DialogueCall, str]] = []
    waiting: dict[str, list[int]] = {}
    for n in range(max(at, 0), len(talk.said)):
        one = talk.said[n]
        is_next = n > at and one.is_said
        calls = () if is_next else one.calls
        if not is_next:  # some tell both at once
            for k, call in enumerate(calls, len(made)):
                waiting.setdefault(call.id, []).append(k)
            made += [(call, "") for call in calls]
        for result in one.results if n > at else ():
            if places := waiting.get(result.call_id):
                place = places.pop(0)
                made[place] = made[place][0], result.text
        if is_next:
            break
    return made


def meant_by(call: DialogueCall, by_id: ToolCall | None, in_words: ToolCall | None) -> ToolCall | None:
    """Which of the stored calls with its id and with its words a call is: ids may be given twice."""
    return by_id if by_id is not None and is_same_call(call, by_id) else in_words


def is_same_call(call: DialogueCall, stored: ToolCall) -> bool:
    """Whether a call says the same as a stored one; of some nothing but the id is told."""
    if not call.name or not stored.arguments:
        return True
    one, other = (clean_text(as_one(clean_text(given))) for given in (call.arguments, stored.arguments))
    return one == other


def calls_named(memory: Memory, names: Iterable[NodeId]) -> dict[NodeId, ToolCall]:
    """The stored calls by the ids that they would have, or have as aliases."""
    wanted = list(dict.fromkeys(names))
    found = {call.id: call for call in memory.integration.tool_calls(wanted)}
    missing = [name for name in wanted if name not in found]
    aliased = memory.integration.aliased(missing) if missing else {}
    others = (
        {call.id: call for call in memory.integration.tool_calls({ids[0] for ids in aliased.values()})}
        if aliased
        else {}
    )
    return found | {name: others[ids[0]] for name, ids in aliased.items() if ids[0] in others}


def likeness_of(one: DialogueMessage | Message) -> NodeId:
    """The likeness of a message of either side."""
    if isinstance(one, DialogueMessage):
        return likeness(one.role, one.text, one.assets)
    assets = [part.name for part in one.parts if part.kind is PartKind.ASSET]
    return likeness(one.role.value, one.content, assets)


def likeness(role: str, text: str, assets: Sequence[str] = ()) -> NodeId:
    """What two wordings of one message have in common: clients trim blanks, and write the markup of answers in more
    ways than one; of what a model made beside its words not all is heard. What a person says is a sign away from
    something else: C is not C++.
    """
    if role == "assistant":
        letters = "".join(filter(str.isalnum, text.casefold())) or text.strip()
        return stable_id(role, letters, *(() if letters else assets))
    return stable_id(role, "".join(text.split()), *assets)


def marks(talk: Dialogue, realm: tuple[str, str]) -> list[NodeId]:
    """The aliases of what in a request can have come from us, the latest first: words of the model, and calls of
    tools.
    """
    found: list[NodeId] = []
    newest = talk.said[-LOOKED_UP:]
    for n in range(len(newest) - 1, -1, -1):
        one = newest[n]
        if one.role == "assistant" and one.is_said:
            before = next((likeness_of(other) for other in newest[:n][::-1] if other.is_said), None)
            found += answer_marks(realm, likeness_of(one), before)
        found += [call_mark(realm, name) for name in (*(c.id for c in one.calls), *(r.call_id for r in one.results))]
    return list(dict.fromkeys(found))


def answer_marks(realm: tuple[str, str], alike: NodeId, before: NodeId | None) -> list[NodeId]:
    """The aliases of an answer by its likeness: together with what was said before it, which few answers share, and
    alone.
    """
    pair = [stable_id("told", realm[1], before, alike)] if before else []
    return [*pair, stable_id("told", realm[1], alike)]


def item_mark(realm: tuple[str, str], name: str) -> NodeId:
    """The alias of an answer by what the provider calls it as a message."""
    return stable_id("item", realm[1], name)


def call_mark(realm: tuple[str, str], name: str) -> NodeId:
    """The alias of a call by the id that the provider gave it."""
    return stable_id("called", realm[1], name)


def call_in_words(below: NodeId, call: DialogueCall, number: int = 0) -> NodeId:
    """The alias of a call below a message by its words: some servers give calls no ids, and some clients others."""
    return stable_id(stable_id("called", call.name, as_one(call.arguments)), below, number)


def call_id(conversation: NodeId, below: NodeId, name: str, number: int = 0) -> NodeId:
    """The id of a stored call. Those of providers are told apart by the message that they stand below, and by their
    order: some servers count them anew in every answer.
    """
    return stable_id("call", conversation, below, name, number)


def as_one(arguments: str) -> str:
    """Arguments in one of the ways in which they can be written."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError):
        return arguments.strip()


def _called(messages: Sequence[Message], talk: Dialogue, place: int) -> set[NodeId]:
    """The ids of the calls that the request tells of behind a place, were they made below the first of the messages, or
    below an answer behind it: clients may write other words beside calls than we told.
    """
    names: list[str] = []
    for n, one in enumerate(talk.said[max(place, 0) :], max(place, 0)):
        # Results stand before the words of a message, calls behind them.
        names += [result.call_id for result in one.results if n > place]
        if n > place and one.is_said:
            names += [call.id for call in _beside(talk.said, n)]
            break
        names += [call.id for call in one.calls]
    below = [message for n, message in enumerate(messages) if n == 0 or message.role is Role.ASSISTANT]
    return {call_id(message.conversation_id, message.id, name) for message in below for name in names}


def _beside(said: Sequence[DialogueMessage], at: int) -> tuple[DialogueCall, ...]:
    """The calls beside the words of a model: some wires tell them right behind."""
    if said[at].role != "assistant":
        return ()
    behind = next((one for one in said[at : at + 2] if one.calls), None)
    return behind.calls if behind is not None and (behind is said[at] or not behind.is_said) else ()


def _run(some: Sequence[NodeId], others: Sequence[NodeId]) -> int:
    """How many at the end of both are the same."""
    pairs = zip(reversed(some), reversed(others), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def end_of(some: Sequence[NodeId], others: Sequence[NodeId]) -> int | None:
    """The place of the last of some among the others, where all of them stand there in order; the latest there is."""
    left = list(some)
    found = None
    for at in range(len(others) - 1, -1, -1):
        if left and others[at] == left[-1]:
            left.pop()
            found = at if found is None else found
    return None if left else found


# What was forgotten, and is told again by a client that sends a part of its history: of a whole one it is known by
# the ids that forgetting leaves.


def without_forgotten(memory: Memory, talk: Dialogue, after: int) -> Dialogue:
    """The talk without what stands behind a place and before what is asked now, and was forgotten, with the tools that
    were called for it; the very same where there is nothing of that.
    """
    said = [n for n, one in enumerate(talk.said) if one.is_said]
    asked = max((n for n in said if talk.said[n].role == "user"), default=-1)
    again = [n for n in said if after <= n < asked]
    if not any(n > after for n in again):
        return talk
    gone = {again[place] for place in memory.integration.forgotten_among(talk.said[n].text for n in again)} - {after}
    if not gone:
        return talk
    said_once = len(gone)
    edges = [-1, *said, len(talk.said)]
    for before, own, behind in zip(edges, said, edges[2:], strict=False):
        if own in gone:
            gone.update(range(own, behind))
            gone.update(range(before + 1, own))
    left = tuple(one for n, one in enumerate(talk.said) if n not in gone)
    return replace(talk, said=left, forgotten=talk.forgotten + said_once)
