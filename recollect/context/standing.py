"""What stands whatever is asked: rules, facts, summaries, and the newest messages; in bounded time for any history.

The long-term part is that of the namespace, the same in each of its conversations; only the newest messages are those
of one. Its order is that of how seldom a part changes, and the newest messages begin at a place that moves on in steps:
so two turns share a beginning, to the byte, wherever nothing in it has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.context import result
from recollect.context.facts import facts_part, read_facts
from recollect.context.result import PER_ENTRY, PER_MESSAGE, ContextPart, shortened, tokens_in, tokens_in_each
from recollect.context.settings import ToolNames
from recollect.context.summaries import read_summaries, summaries_part
from recollect.derive.facts.instructions import rules_in
from recollect.errors import NotFound
from recollect.record import Conversation, Kind, Message, Node, NodeId, Role, to_microseconds
from recollect.store import View, Where
from recollect.store.results import Kept

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
    words = [result.as_said(message) for message in newest]
    costs = [cost + PER_MESSAGE for cost in tokens_in_each(words)]
    for at in range(start, len(newest)):
        if costs[at] > max(most, PER_MESSAGE + 8):
            words[at] = _cut(newest[at], words[at], most - PER_MESSAGE, tools)
            costs[at] = tokens_in(words[at]) + PER_MESSAGE
    heading = tokens_in(result.RECENT) + PER_ENTRY
    while start < len(newest) and heading + sum(costs[start:]) > budget:
        start = _after(newest, start)
    kept = list(newest[start:])
    if not kept:
        return None, [], []
    said = [(_side(message), own) for message, own in zip(kept, words[start:], strict=True)]
    lines = [f"[{role}]: {result.shown(own)}" for role, own in said]
    text = "\n".join([result.RECENT, *lines])
    whole = frozenset(m.id for m, (_, own) in zip(kept, said, strict=True) if own == result.as_said(m))
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
    note = f"\n{result.code(message.id)} goes on" + (f": {tools.message}" if tools else "")
    return shortened(words, max(0, budget - tokens_in(note))) + note


# The rules that the user wrote or confirmed: first in every context, whatever is asked, and never searched for.

#: What rules may take of the room. All that may be told fit into it where the room is twice as large.
_SHARE = 0.5
_ROUND = 8  # tokens that a line may cost beside its words, in the room for it


def rules_part(rules: Sequence[Node], room: int, known: Collection[NodeId] = ()) -> ContextPart | None:
    """The rules that are not `known`, in the order in which they were told, so that a new one changes nothing before
    it. Where not all fit, the newest are left out, and a line says how many. None where there are none.
    """
    rules = [node for node in rules if node.id not in known]
    if not rules:
        return None
    lines = [f"- {result.shown(node.text)}" for node in rules]
    for many in range(len(lines), -1, -1):
        left = [_left_out(len(lines) - many)] if many < len(lines) else []
        text = "\n".join([result.RULES, *lines[:many], *left])
        cost = tokens_in(text) + PER_ENTRY + _more_in_the_guide()
        if cost <= room * _SHARE:
            return ContextPart("rules", text, cost, tuple(node.id for node in rules[:many]))
    return None


def room_for(rules: Sequence[str]) -> int:
    """The room in which all these rules fit."""
    return int(sum(tokens_in_each([result.RULES, *rules])) / _SHARE) + _ROUND * (len(rules) + 2)


def _more_in_the_guide() -> int:
    """What the guide costs more below rules."""
    above, below = tokens_in_each([result.GUIDE, result.BELOW_RULES])
    return max(0, below - above)


def _left_out(count: int) -> str:
    return "(1 further rule does not fit here)" if count == 1 else f"({count} further rules do not fit here)"


#: The long-term parts behind the rules, which stand before everything, in their order.
LONG_TERM = ("facts", "summaries")
#: Of the budget without the guide these and the rules may take so much at most together, and the newest messages so
#: much, less where no conversation goes on.
LONG_TERM_SHARE, RECENT_SHARE, RECENT_OF_ALL_SHARE = 0.15, 0.25, 0.12
#: In a smaller budget summaries, and facts that say nothing of who the user is, give way to what answers; summaries
#: stand behind that where it leaves room.
_AMPLE = 3_800


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts that stand, and the newest messages as they are handed out. `seen` need no telling again. `more` are
    summaries that gave way: what is left of the long-term share holds them.
    """

    parts: tuple[ContextPart, ...]
    recent: tuple[tuple[str, str], ...] = ()  # role and words
    seen: frozenset[NodeId] = frozenset()
    conversation: NodeId | None = None
    more: ContextPart | None = None

    @property
    def tokens(self) -> int:
        """What all of it costs."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Read:
    """A view, and what was read in it before, while nothing has been written."""

    view: View
    kept: Kept


def standing(
    read: Read,
    text: str,
    conversation_id: NodeId | None,
    window: int,
    room: int,
    most: int,
    now: datetime,
    *,
    tools: ToolNames | None = None,
    known: Collection[NodeId] = (),
) -> Standing:
    """What stands, in at most its shares of `room` tokens, and all of it in at most `most`; with how the rest of a long
    message is opened where there are tools for that, and without rules that are `known`. Raises NotFound for an
    unknown conversation.
    """
    view = read.view
    rules = rules_part(read.kept.of(view.stamp, "rules", lambda: rules_in(view)), room, known)
    taken = rules.tokens if rules else 0
    room, most = room - taken, most - taken  # what stands beside them has its shares of the rest
    newest = read.kept.of(
        view.stamp, ("newest", conversation_id, window), lambda: newest_of(view, conversation_id, window)
    )
    asked = newest[-1].id if newest and is_asked(newest[-1], text) else None
    of_recent = int(room * (RECENT_OF_ALL_SHARE if conversation_id is None else RECENT_SHARE))
    long_term, ample = min(int(room * LONG_TERM_SHARE), most), min(1.0, (room / _AMPLE) ** 2)
    of_recent = min(of_recent, most - long_term)  # where a long text leaves less than all shares
    recent, said, kept = recent_part([m for m in newest if m.id != asked], window, of_recent, tools)
    begins = min((t for m in kept if (t := to_microseconds(m.timestamp)) is not None), default=None)
    here = conversation_id or (newest[-1].conversation_id if newest else None)
    lines = read.kept.of(view.stamp, ("facts", here, now.date()), lambda: read_facts(view, now, here))
    facts = facts_part(lines, long_term, ample)
    whole = long_term - (facts.tokens if facts else 0)
    left = min(whole, int(long_term * ample))
    ages = read.kept.of(view.stamp, ("summaries", now.date()), lambda: read_summaries(view, now))
    here_whole = frozenset(m.id for m in kept)
    summaries, more = summaries_part(view, ages, here_whole, begins, left), None
    if left < whole:
        whole -= summaries.tokens if summaries else 0
        more = summaries_part(view, ages, here_whole, begins, whole, beside=summaries)
    parts = [part for part in (rules, facts, summaries, recent) if part is not None]
    seen = {m.id for m in kept} | ({asked} if asked else set())
    return Standing(tuple(parts), tuple(said), frozenset(seen), conversation_id, more)
