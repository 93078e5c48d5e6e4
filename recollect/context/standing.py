"""What stands whatever is asked: rules, facts, summaries, and the newest messages; in bounded time for any history.

The long-term part is that of the namespace, the same in each of its conversations; only the newest messages are those
of one. Its order is that of how seldom a part changes, and the newest messages begin at a place that moves on in steps:
so two turns share a beginning, to the byte, wherever nothing in it has changed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from recollect.context.choices import ToolNames
from recollect.context.facts import facts_part, read_facts
from recollect.context.newest import is_asked, newest_of, recent_part
from recollect.context.result import ContextPart
from recollect.context.rules import rules_part
from recollect.context.summaries import read_summaries, summaries_part
from recollect.derive.facts.instructions import rules_in
from recollect.record import NodeId, to_microseconds
from recollect.store import View
from recollect.store.results import Kept

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
