"""What holds, and what held before: facts with those whose place they took, each with the words that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.derive.facts.claim import USER, entity_key
from recollect.derive.facts.fact import Fact, facts_of
from recollect.record import Conversation, Message, Node
from recollect.search.derived import may_be_found
from recollect.search.results.result import DerivedHit
from recollect.store import View
from recollect.store.passages import Filter

_MOST = 3  # of a history: what holds now, and what held before


@dataclass(frozen=True, slots=True)
class Held:
    """A statement with the time that it held; `message.content[start:end]` proves it. `is_own` is one of the asker."""

    text: str
    is_own: bool
    since: datetime | None
    until: datetime | None
    message: Message
    conversation: Conversation | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Change:
    """Statements of which each took the place of the one behind it; the first may be the only one."""

    statements: tuple[Held, ...]


def changes(
    view: View, facts: Sequence[DerivedHit], wanted: Filter, excluded: Sequence[Sequence[str]] = ()
) -> tuple[Change, ...]:
    """Facts with what held before them, as far as messages prove it that a search with this filter may show, without
    excluded phrases.
    """
    if not facts:
        return ()
    known = facts_of(view, view.get(Node, [fact.id for fact in facts]))
    told = [[_held(view, one, wanted, excluded) for one in (fact, *fact.history[: _MOST - 1])] for fact in known]
    proven = [tuple(held for held in statements if held is not None) for statements in told if statements[0]]
    return tuple(Change(statements) for statements in proven)


def _held(view: View, fact: Fact, wanted: Filter, excluded: Sequence[Sequence[str]]) -> Held | None:
    """With its last proof that may be shown; None without one."""
    messages = {message.id: message for message in view.get(Message, [proof.message_id for proof in fact.proofs])}
    there = {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in messages.values()}))}
    own = entity_key(fact.entity) == entity_key(USER)
    for proof in reversed(fact.proofs):
        message = messages.get(proof.message_id)
        if message is None or message.deleted or message.erased:
            continue
        if not may_be_found(message, there, wanted, excluded):
            continue
        exact = bool(proof.quote) and message.content[proof.start : proof.end] == proof.quote
        place = (proof.start, proof.end) if exact else (0, len(message.content))
        conversation = there.get(message.conversation_id)
        return Held(fact.content, own, fact.told_since, fact.told_until, message, conversation, *place)
    return None
