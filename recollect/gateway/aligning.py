"""Where a request without its beginning goes on: its messages beside the newest ones of a conversation.

Words alike prove little: two people may ask the same. What only we can have told a client proves it: an answer that we
stored as one, a call of a tool that we passed on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from recollect.gateway.talk import Said, Talk
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
            if not (run or at < 0) or not (is_whole or run >= (2 if is_named else _ENOUGH)):
                continue
            ours = [m for m in latest[end - run + 1 : end + 1] if m.role is Role.ASSISTANT and (is_named or m.model)]
            called = map(stored_as, _called(latest[end], talk, place))
            if ours or (is_named and run > 1) or memory.tool_calls(called):
                known = {newest[at - back]: latest[end - back].id for back in range(run)}
                return Aligned(place, latest[end].id, known)
    return None


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


def _called(message: Message, talk: Talk, place: int) -> set[NodeId]:
    """The ids of the calls that the request tells of behind a place, were they made below this message."""
    names: list[str] = []
    for n, one in enumerate(talk.said[max(place, 0) :], max(place, 0)):
        # Results stand before the words of a message, calls behind them.
        names += [result.call_id for result in one.results if n > place]
        if n > place and one.is_said:
            break
        names += [call.id for call in one.calls]
    return {call_id(message.conversation_id, message.id, name) for name in names}


def _run(some: Sequence[NodeId], others: Sequence[NodeId]) -> int:
    """How many at the end of both are the same."""
    pairs = zip(reversed(some), reversed(others), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
