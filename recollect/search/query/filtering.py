"""What a filter and words let be found, asked of a message itself; the index asks the same of its columns."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.record import Conversation, Message, to_microseconds
from recollect.search.query.syntax import Query
from recollect.store.passages import SAID_KINDS, Filter
from recollect.text.terms import words


def passes(message: Message, conversation: Conversation | None, wanted: Filter) -> bool:
    """Whether a message of a conversation passes a filter; of no kinds those that were said are meant."""
    moment = to_microseconds(message.timestamp)
    return (
        conversation is not None
        and message.kind.value in (wanted.kinds or SAID_KINDS)
        and (not wanted.roles or message.role.value in wanted.roles)
        and (not wanted.sources or conversation.source in wanted.sources)
        and (wanted.conversation_ids is None or conversation.id in wanted.conversation_ids)
        and (wanted.since is None or (moment is not None and moment >= wanted.since))
        and (wanted.until is None or (moment is not None and moment < wanted.until))
    )


def excluded_phrases(query: Query) -> list[list[str]]:
    """The surface words of what a query shuts out."""
    return [phrase for text in query.excluded if (phrase := words(text))]


def holds(message: Message, phrase: Sequence[str]) -> bool:
    """Whether a message holds these surface words, one after the other."""
    return f" {' '.join(phrase)} " in f" {' '.join(words(message.content))} "
