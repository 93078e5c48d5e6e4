"""The newest messages as they were said, from a place on that moves in steps: the beginning mostly stays the same."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, PER_MESSAGE, shortened, tokens_in, tokens_in_each
from recollect.context.choices import ToolNames
from recollect.context.result import ContextPart
from recollect.errors import NotFound
from recollect.record import Conversation, Kind, Message, NodeId, Role
from recollect.store import View, Where

#: Of their share what a single one may take; of a longer one beginning and end are shown.
_ONE_MESSAGE = 0.5
_STEP = 5  # messages by which the beginning moves on


def is_asked(message: Message, text: str) -> bool:
    """Whether this is the text itself: who stores a message before asking for its context has it there already."""
    return message.role is Role.USER and message.content.strip() == text.strip()


def newest_of(view: View, conversation_id: NodeId | None, window: int) -> list[Message]:
    """The newest messages that were said, oldest first: of the active path of a conversation, or of all."""
    if conversation_id is None:
        where = Where(kinds=(Kind.SAID.value,), deleted=False, order="newest")
        found = view.find(Message, where, limit=2 * window + _STEP).items if window else []
        return [message for message in reversed(found) if message.active and message.content]
    end = view.end(conversation_id)
    if end is None or end.conversation.erased:
        if view.get(Conversation, [conversation_id]) and end is not None:
            return []
        raise NotFound(f"No conversation has the ID {conversation_id}.", hint="To see what there is: recollect list")
    if end.leaf is None or not window:
        return []
    path = [end.leaf, *view.above(end.leaf.id, 3 * window + _STEP)]
    return [m for m in reversed(path) if m.kind is Kind.SAID and not m.deleted and m.content][-2 * window - _STEP :]


def recent_part(
    newest: Sequence[Message], window: int, budget: int, tools: ToolNames | None
) -> tuple[ContextPart | None, list[tuple[str, str]], list[Message]]:
    """The newest messages that fit, from a place on that moves in steps."""
    if not newest or not window:
        return None, [], []
    most = int(budget * _ONE_MESSAGE)
    start = _begin(newest, window)
    words = [wording.as_said(message) for message in newest]
    costs = [cost + PER_MESSAGE for cost in tokens_in_each(words)]
    for at in range(start, len(newest)):
        if costs[at] > max(most, PER_MESSAGE + 8):
            words[at] = _cut(newest[at], words[at], most - PER_MESSAGE, tools)
            costs[at] = tokens_in(words[at]) + PER_MESSAGE
    heading = tokens_in(wording.RECENT) + PER_ENTRY
    while start < len(newest) and heading + sum(costs[start:]) > budget:
        start = _after(newest, start)
    kept = list(newest[start:])
    if not kept:
        return None, [], []
    said = [(_side(message), own) for message, own in zip(kept, words[start:], strict=True)]
    lines = [f"[{role}]: {wording.shown(own)}" for role, own in said]
    text = "\n".join([wording.RECENT, *lines])
    whole = frozenset(m.id for m, (_, own) in zip(kept, said, strict=True) if own == wording.as_said(m))
    cost = max(tokens_in(text), heading + sum(costs[start:]))
    return ContextPart("recent", text, cost, tuple(m.id for m in kept), whole), said, kept


def _side(message: Message) -> str:
    return "assistant" if message.role is Role.ASSISTANT else "user"


def _begin(newest: Sequence[Message], window: int) -> int:
    """Where the newest messages begin: at least the window's, from the last step before it."""
    start = max(0, len(newest) - window)
    while start > 0 and not _is_step(newest, start):
        start -= 1
    return start


def _after(newest: Sequence[Message], start: int) -> int:
    """The next step, or where none is left the next message."""
    ahead = range(start + 1, len(newest))
    return next((at for at in ahead if _is_step(newest, at)), start + 1)


def _is_step(newest: Sequence[Message], at: int) -> bool:
    """Whether a message is one of those that the newest ones may begin with; it is the same whenever it is asked."""
    before, own = newest[at - 1].position, newest[at].position
    return own // _STEP != before // _STEP or newest[at].conversation_id != newest[at - 1].conversation_id


def _cut(message: Message, words: str, budget: int, tools: ToolNames | None) -> str:
    note = f"\n{wording.code(message.id)} goes on" + (f": {tools.message}" if tools else "")
    return shortened(words, max(0, budget - tokens_in(note))) + note
