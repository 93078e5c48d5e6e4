"""What held at one time and not at another: facts that took the place of older ones, each with its proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.consolidate.facts.fact import Fact, facts_of
from recollect.record import Conversation, Message, Node
from recollect.search.result import DerivedHit
from recollect.store import Space, View

_MOST = 3  # of a history: what holds now, and what held before


@dataclass(frozen=True, slots=True)
class Held:
    """A statement with the time that it held; `message.content[start:end]` proves it."""

    text: str
    since: datetime | None
    until: datetime | None
    message: Message
    conversation: Conversation | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Change:
    """Statements of which each took the place of the one behind it."""

    statements: tuple[Held, ...]


def changes(space: Space, facts: Sequence[DerivedHit]) -> tuple[Change, ...]:
    """Of facts those that have not always held, with what held before. Raises StoreError."""
    if not facts:
        return ()
    with space.view() as view:
        known = facts_of(view, view.get(Node, [fact.id for fact in facts]))
        told = [[_held(view, one) for one in (fact, *fact.history[: _MOST - 1])] for fact in known if fact.history]
    proven = [tuple(held for held in statements if held is not None) for statements in told]
    return tuple(Change(statements) for statements in proven if len(statements) > 1)


def _held(view: View, fact: Fact) -> Held | None:
    """With its last proof that is still there; None without one."""
    messages = {message.id: message for message in view.get(Message, [proof.message_id for proof in fact.proofs])}
    for proof in reversed(fact.proofs):
        message = messages.get(proof.message_id)
        if message is None or message.deleted or message.erased:
            continue
        there = view.get(Conversation, [message.conversation_id])
        exact = bool(proof.quote) and message.content[proof.start : proof.end] == proof.quote
        start, end = (proof.start, proof.end) if exact else (0, len(message.content))
        return Held(fact.content, fact.valid_from, fact.valid_to, message, there[0] if there else None, start, end)
    return None
