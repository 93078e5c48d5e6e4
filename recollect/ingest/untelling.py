"""What else tells the words of a message: the title that it begins with, questions that were made whole by it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from recollect.derive.tasks import queue
from recollect.record import Conversation, Message, NodeId, Turn
from recollect.store import EdgeKey, View, Where
from recollect.store.transfer import every
from recollect.text.terms import words

_ALL = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Untold:
    """What is written to take the words out: a conversation without its title, turns, mentions that go."""

    conversation: Conversation | None
    turns: Sequence[Turn]
    cut: Sequence[EdgeKey]

    def __bool__(self) -> bool:
        return bool(self.conversation or self.turns)


def untold(view: View, conversation_id: NodeId, gone: Sequence[Message]) -> Untold:
    """What of a conversation tells the words of messages that are to be erased."""
    conversation = next(iter(view.get(Conversation, [conversation_id])), None)
    titled = conversation is not None and any(_begins(message, conversation.title) for message in gone)
    lost = {word for message in gone for word in words(message.content)}
    resolved = [turn for turn in every(view, Turn, Where(conversation=conversation_id)) if turn.resolved_query]
    asked = {message.id: message for message in view.get(Message, [turn.query_id for turn in resolved])}
    stale = [turn for turn in resolved if turn.query_id in asked and _borrows(turn, asked[turn.query_id], lost)]
    turns = [_alone(turn, asked[turn.query_id]) for turn in stale]
    return Untold(
        replace(conversation, title="") if titled and conversation else None,
        turns,
        mentions_of_turns(view, [turn.query_id for turn in turns]),
    )


def mentions_of_turns(view: View, message_ids: Sequence[NodeId]) -> list[EdgeKey]:
    """The edges from messages to what their turns were known to be about."""
    edges = view.edges(list(message_ids), ("MENTIONS",), "out", limit=_ALL) if message_ids else []
    return [e.key for e in edges if e.name == queue.BY_TURN]


def _begins(message: Message, title: str) -> bool:
    """Whether a title is the beginning of what a message says."""
    begin = " ".join(title.removesuffix("…").removesuffix("...").split())
    return bool(begin) and " ".join(message.content.split()).startswith(begin)


def _borrows(turn: Turn, query: Message, lost: Collection[str]) -> bool:
    """Whether a resolved question has words that it took from a message that goes."""
    borrowed = set(words(turn.resolved_query or "")) - set(words(query.content))
    return not borrowed.isdisjoint(lost)


def _alone(turn: Turn, query: Message) -> Turn:
    """The turn with what its question itself says."""
    return replace(turn, resolved_query=None, entities=tuple(name for name in turn.entities if name in query.content))
