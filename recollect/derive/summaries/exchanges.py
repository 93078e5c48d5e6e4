"""Exchanges: a question with what answers it; where people with names talk, what one says with the others' replies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from recollect.derive.summaries.policy import Policy
from recollect.index.passages import is_person
from recollect.record import Message, Role

Exchange = tuple[Message, ...]

_NO_TIME = timedelta(0)


def exchanges(messages: Sequence[Message], policy: Policy) -> list[Exchange]:
    """The messages cut into exchanges, in order. Only what stands before a message decides whether it opens one, and
    nothing from before the exchange does: so the cutting can go on from the beginning of any of them.
    """
    found: list[list[Message]] = []
    for message in messages:
        if found and not _opens(found[-1], message, policy):
            found[-1].append(message)
        else:
            found.append([message])
    return [tuple(exchange) for exchange in found]


def is_answered(exchange: Exchange) -> bool:
    """Whether somebody has replied."""
    first = exchange[0]
    if is_person(first.speaker):
        return any(message.speaker != first.speaker for message in exchange)
    return first.role is Role.USER and any(message.role is not Role.USER for message in exchange)


def silence(before: Message, after: Message) -> timedelta:
    """The time between two messages; none where it is not known, or where the clock went back."""
    if before.timestamp is None or after.timestamp is None:
        return _NO_TIME
    return max(after.timestamp - before.timestamp, _NO_TIME)


def _opens(exchange: Sequence[Message], message: Message, policy: Policy) -> bool:
    if len(exchange) >= policy.longest_exchange or silence(exchange[-1], message) >= policy.session_gap:
        return True
    if message.conversation_id != exchange[-1].conversation_id:
        return True
    first = exchange[0]
    if is_person(first.speaker) and is_person(message.speaker):
        return message.speaker == first.speaker and exchange[-1].speaker != first.speaker
    return message.role is Role.USER
