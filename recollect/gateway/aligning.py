"""Where a request without its beginning goes on: its messages beside the newest ones of a conversation.

Words alike prove little: two people may ask the same. What only we can have told a client proves it: an answer that we
stored as one, a call of a tool that we passed on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from recollect.gateway.talk import Call, Said, Talk
from recollect.memory import Memory
from recollect.record import Message, NodeId, PartKind, Role, stable_id

LOOKED_UP = 64  # messages of a request, from the end
_BESIDE = 8  # messages that the end may have more than the request
_ENOUGH = 3  # messages in a row that are no chance


@dataclass(frozen=True, slots=True)
class Aligned:
    """The last message of a request that is known, -1 for none of them, the id of what the rest stands below, and the
    ids of all that are known.
    """

    after: int
    parent: NodeId
    known: Mapping[int, NodeId]


def align(
    memory: Memory,
    conversation: NodeId,
    talk: Talk,
    said: Sequence[int],
    stored_as: Callable[[NodeId], NodeId],
    *,
    is_named: bool,
) -> Aligned | None:
    """Where a request goes on in a conversation, if it does. A conversation that the client has named needs less proof
    than one that is only looked through. `stored_as`: under which id a call is stored that would have this one.
    """
    newest = said[-LOOKED_UP:]
    latest = memory.latest(conversation, len(newest) + _BESIDE)
    asked, there = [likeness_of(talk.said[n]) for n in newest], [likeness_of(message) for message in latest]
    for end in range(len(latest) - 1, -1, -1):
        for at in range(len(newest) - 1, -2, -1):
            run = _run(asked[: at + 1], there[: end + 1])
            place = newest[at] if at >= 0 else -1
            is_whole = run == at + 1  # nothing stands before it
            if not (run or at < 0) or not (is_whole or run > 1):
                continue
            ours = [m for m in latest[end - run + 1 : end + 1] if m.role is Role.ASSISTANT and (is_named or m.model)]
            is_likely = is_whole or is_named or run >= _ENOUGH
            is_alike = is_likely and (bool(ours) or (is_named and run > 1))
            if is_alike or memory.tool_calls(map(stored_as, _called(latest[end : end + 2], talk, place))):
                known = {newest[at - back]: latest[end - back].id for back in range(run)}
                return Aligned(place, latest[end].id, known)
    return None


def as_told(
    memory: Memory,
    conversation: NodeId,
    talk: Talk,
    after: int,
    parent: NodeId | None,
    stored_as: Callable[[NodeId], NodeId],
) -> Talk:
    """The talk behind a place with the words that we told beside our calls: some clients write others there. The very
    same where they are those. `parent` is the message of that place, None for the last of the conversation.
    """
    said = list(talk.said)
    if not any(one.is_said and _beside(said, n) for n, one in enumerate(said) if n > after):
        return talk
    latest = memory.latest(conversation, LOOKED_UP + _BESIDE)
    at = next((n for n, one in enumerate(latest) if one.id == parent), len(latest))
    latest = latest[at:] if parent else latest[-1:]
    counted: Counter[tuple[NodeId, str]] = Counter()

    def made_below(message: Message, calls: Sequence[Call]) -> bool:
        names = (call_id(conversation, message.id, call.id, counted[message.id, call.id]) for call in calls)
        return bool(calls and memory.tool_calls(map(stored_as, names)))

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


def likeness_of(one: Said | Message) -> NodeId:
    """The likeness of a message of either side."""
    if isinstance(one, Said):
        return likeness(one.role, one.text, one.assets)
    assets = [part.name for part in one.parts if part.kind is PartKind.ASSET]
    return likeness(one.role.value, one.content, assets)


def likeness(role: str, text: str, assets: Sequence[str] = ()) -> NodeId:
    """What two wordings of one message have in common: clients trim blanks, and write the markup of answers in more
    ways than one. What a person says is a sign away from something else: C is not C++.
    """
    if role == "assistant":
        letters = "".join(filter(str.isalnum, text.casefold()))
        return stable_id(role, letters or text.strip(), *assets)
    return stable_id(role, "".join(text.split()), *assets)


def marks(talk: Talk) -> list[NodeId]:
    """What in a request can have come from us, the latest first: words of the model, and calls of tools."""
    found: list[NodeId] = []
    for one in talk.said[::-1][:LOOKED_UP]:
        if one.role == "assistant" and one.is_said:
            found.append(likeness_of(one))
        found += [call_mark(name) for name in (*(c.id for c in one.calls), *(r.call_id for r in one.results))]
    return list(dict.fromkeys(found))


def call_mark(name: str) -> NodeId:
    """The mark of a call by the id that the provider gave it."""
    return stable_id("called", name)


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


def _called(messages: Sequence[Message], talk: Talk, place: int) -> set[NodeId]:
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


def _beside(said: Sequence[Said], at: int) -> tuple[Call, ...]:
    """The calls beside the words of a model: some wires tell them right behind."""
    if said[at].role != "assistant":
        return ()
    behind = next((one for one in said[at : at + 2] if one.calls), None)
    return behind.calls if behind is not None and (behind is said[at] or not behind.is_said) else ()


def _run(some: Sequence[NodeId], others: Sequence[NodeId]) -> int:
    """How many at the end of both are the same."""
    pairs = zip(reversed(some), reversed(others), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
