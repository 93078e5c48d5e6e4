"""Hierarchical [4]: how much was said when, what of it concerns the question by topic, and how to go on from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, tokens_in_each
from recollect.context.choices import ToolNames
from recollect.context.forms.base import FormBlock, IndexRequest, headed, in_blocks
from recollect.context.forms.clustered import Group, groups, label
from recollect.context.forms.snippet import lines_of
from recollect.context.result import ContextPart
from recollect.record import NodeId
from recollect.store import View

TEMPORAL, TOPICS, TALKS, NAVIGATION = (
    "Temporal Overview:",
    "Topic Overview (of what may answer):",
    "Conversations with most of it:",
    "Navigation:",
)
_WAYS = ("- {0.period}('2024-03'), also a day, a year, 'this_week'", "- {0.search}({0.searching})")
_EPOCH = date(1970, 1, 1)
_MONTHS, _TOPICS, _TALKS, _LINES = 12, 8, 6, 16
_WIDE = 600  # tokens from which on there is room for months


def hierarchical(asked: IndexRequest, view: View) -> ContextPart | None:
    """The overview, and lines of the best messages where room is left."""
    blocks = [
        FormBlock((TEMPORAL, *temporal(view.vocabulary().days(), asked.now, months=asked.room >= _WIDE))),
        *_topics(groups(asked, view)[:_TOPICS], asked.tools),
        *_talks(asked),
    ]
    blocks.append(FormBlock((NAVIGATION, *(way.format(asked.tools) for way in _WAYS))))
    room = asked.room - sum(cost + PER_ENTRY for cost in tokens_in_each(["\n".join(b.lines) for b in blocks]))
    lines = min(replace(asked, room=room).may_take(), _LINES) if room > 0 else 0
    return in_blocks([[*blocks, *lines_of(asked, lines)]], asked.room)


def temporal(days: Mapping[int, int], now: datetime, *, months: bool = True) -> list[str]:
    """How many messages were said today, this week and this month; and before, by months for a year, then by years."""
    today = (now.date() - _EPOCH).days
    month = now.date().replace(day=1)
    begins = (("Today", today), ("This Week", today - now.weekday()), ("This Month", (month - _EPOCH).days))
    lines = [(name, sum(n for day, n in days.items() if since <= day <= today)) for name, since in begins]
    by_month = _earlier(month, _MONTHS if months else 0)
    earlier: dict[str, int] = {}
    first, last = (by_month - _EPOCH).days, (month - _EPOCH).days
    for day, count in sorted(days.items(), reverse=True):
        if not 0 <= day < last:
            continue
        name = _month_of(day)[: 7 if day >= first else 4]
        if day < first and name == str(by_month.year):
            name = f"Earlier in {name}"
        earlier[name] = earlier.get(name, 0) + count
    lines += [*earlier.items(), ("Without a date", days.get(-1, 0))]
    return [f"{name}: {count:,} messages" for name, count in lines if count]


@lru_cache(maxsize=20_000)
def _month_of(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()[:7]


def _earlier(month: date, months: int) -> date:
    place = month.year * 12 + month.month - 1 - months
    return date(place // 12, place % 12 + 1, 1)


def _topics(found: list[Group], tools: ToolNames) -> list[FormBlock]:
    """A line for each topic that results belong to, with what opens it."""
    blocks = []
    for group in found:
        topic = group.topic
        if topic is not None:
            handle, period = (
                f"{tools.topic}('{wording.shown(topic.label)}')",
                wording.span(topic.first, topic.last),
            )
            count = topic.messages
        else:
            handle, period = tools.alike(group.opens, label(group), "'"), wording.day(group.typical.time)
            count = len(group.members)
        line = f'"{label(group)}": {count:,} messages, {period}: {handle}'
        blocks.append(FormBlock((line,), group.ids))
    return headed(TOPICS, blocks)


def _talks(asked: IndexRequest) -> list[FormBlock]:
    """The conversations that most results are in, each with the best of them."""
    best: dict[NodeId, list[int]] = {}
    for place, one in enumerate(asked.found):
        if one.conversation_id:
            best.setdefault(one.conversation_id, []).append(place)
    order = sorted(best, key=lambda talk: (-len(best[talk]), best[talk][0]))[:_TALKS]
    lines = []
    for talk in order:
        first = asked.found[best[talk][0]]
        if len(best[talk]) < 2:
            continue
        title = wording.shown(" ".join(first.title.split())[:60]) or "(no title)"
        many = f"{len(best[talk])} results"
        opened = f"{asked.tools.around}('{first.id[-wording.ENDING :]}')"
        lines.append(FormBlock((f"{title} ({wording.day(first.time)}): {many}: {opened}",), (talk, first.id)))
    return headed(TALKS, lines)
