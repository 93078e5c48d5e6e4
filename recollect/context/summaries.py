"""The summaries that stand: something of every age, told the shorter the older it is, what is exact before the mood."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain, zip_longest
from typing import Any

from recollect.context import result
from recollect.context.result import PER_ENTRY, ContextPart, ListedLine, part_of, tokens_in
from recollect.derive.summaries.nodes import COVERS, L1, L2
from recollect.derive.summaries.periods import MONTH, WEEK, Period
from recollect.derive.tasks.base import LIVE
from recollect.record import Node, NodeId, NodeKind, to_microseconds
from recollect.store import View, Where
from recollect.text.sentences import sentence_places

_READ = 200  # summaries, the newest
_YEARS, _WEEKS = 20, 10  # of which summaries are read
#: How many are told of each age, and how much each gets of the room beside the others.
_L1, _L2, _MONTHS, _BEFORE, _OLD = 3, 3, 6, 3, 6
_WEIGHTS = (4.0, 3.0, 2.0, 1.5, 1.0)
_LEAST = 45  # tokens; less tells nothing
_EXACT = 0.5  # of the room of a summary that does not fit what is exact may take
_LONGEST = 10_000  # edges

#: What stands behind a summary, in this order, by the names of the parts.
_PARTS = {
    "tried": "Tried",
    "specifics": "Exactly",
    "actions": "Tried or proposed",
    "concerns": "Concerns",
    "long_term_concerns": "Concerns",
    "progressions": "How it went on",
    "highlights": "Also",
    "emotional_state": "Mood",
}
_FIRST = ("tried", "specifics")
_DAYS = re.compile(r"(?:\d{4}-\d\d-\d\d(?: to (?=\d))?:? ?)+")


@dataclass(frozen=True, slots=True)
class Ages:
    """The summaries of a namespace, newest first: L1 that are in no L2, L2, weeks and months."""

    lower: tuple[Node, ...] = ()
    upper: tuple[Node, ...] = ()
    weeks: tuple[Node, ...] = ()
    months: tuple[Node, ...] = ()


def read_summaries(view: View, now: datetime) -> Ages:
    """The newest ones, and a month of every age."""
    where = Where(kinds=(NodeKind.SUMMARY.value,), states=(LIVE,), deleted=False, order="newest")
    nodes = [node for node in view.find(Node, where, limit=_READ).items if node.text]
    upper = [node for node in nodes if node.key == L2]
    covered = {edge.target_id for edge in view.edges([n.id for n in upper], (COVERS,))} if upper else set()
    lower = [node for node in nodes if node.key == L1 and node.id not in covered]
    return Ages(tuple(lower), tuple(upper), tuple(_weeks(view, now)), tuple(_months(view, now)))


def summaries_part(
    view: View,
    ages: Ages,
    shown: frozenset[NodeId],
    begins: int | None,
    room: int,
    *,
    beside: ContextPart | None = None,
) -> ContextPart | None:
    """Some of every age in the room. `shown` are the messages that stand there themselves, from `begins` on: what
    covers nothing else is left out. No line is told twice, nor one that stands in the part `beside` it.
    """
    room -= tokens_in(result.SUMMARIES) + PER_ENTRY
    chosen = _chosen(view, ages, shown, begins, room // _LEAST)
    left, weights, lines = room, sum(weight for _, weight in chosen), []
    known = set(map(_undated, beside.text.split("\n"))) if beside else set[str]()
    for node, weight in chosen:
        text = told(node, int(left * weight / weights) - PER_ENTRY, known)
        weights -= weight
        if text:
            left -= tokens_in(text) + PER_ENTRY
            lines.append(ListedLine(node.id, text, _place(node)))
    return part_of("summaries", result.SUMMARIES, lines)


def told(node: Node, room: int, known: set[str] | None = None) -> str:
    """A summary in at most so many tokens, without the lines that are `known`: whole with its parts, or what was tried
    and is exact in it and as many sentences as fit, none of them cut. Its lines are known then, too.
    """
    known = set() if known is None else known
    words, parts = "\n".join(_new_lines(result.shown(node.text), known)), node.body.get("parts", {})
    if not words:
        return ""
    when = result.span(node.valid_from, node.valid_to)
    head = f"{when}: " if when and not words.startswith(f"{when} ") else ""
    left = room - tokens_in(f"{head}{words}")
    if left >= 0:
        known.update(map(_undated, words.split("\n")))
        return "\n".join([f"{head}{words}", *_beside(parts, words, left)])
    left = room - tokens_in(head)
    exact = _beside({name: parts.get(name) for name in _FIRST}, "", int(left * _EXACT))
    left -= sum(tokens_in(line) + PER_ENTRY for line in exact)
    lines: list[str] = []
    for line in words.split("\n"):
        told_of_it = _sentences_in(line, left - PER_ENTRY)
        if told_of_it:
            lines.append(told_of_it)
            known.add(_undated(told_of_it))
            left -= tokens_in(told_of_it) + PER_ENTRY
        if lines and told_of_it != line:
            break
    return head + "\n".join([*lines, *exact]) if lines or exact else ""


def _sentences_in(line: str, room: int) -> str:
    """The line, or as many of its first sentences as fit."""
    ends = (end for _, end in reversed(list(sentence_places(line))))
    return next((line[:end] for end in ends if tokens_in(line[:end]) <= room), "")


def _new_lines(words: str, known: Container[str]) -> list[str]:
    lines = {_undated(line): line for line in reversed(words.split("\n"))}
    return [line for own, line in reversed(lines.items()) if own not in known]


def _undated(line: str) -> str:
    """A line without the days that it begins with: the same words on another day are told once."""
    return line[found.end() :] if (found := _DAYS.match(line)) else line


def _beside(parts: Mapping[str, Any], known: str, room: int) -> list[str]:
    """The parts that fit, without what is `known`."""
    lines = []
    for name, heading in _PARTS.items():
        items: list[str] = []
        for item in _items(parts.get(name)):
            if item.rstrip("….") in known:
                continue
            if tokens_in(f"{heading}: {'; '.join([*items, item])}") + PER_ENTRY > room:
                break
            items.append(item)
        if items:
            lines.append(f"{heading}: {'; '.join(items)}")
            room -= tokens_in(lines[-1]) + PER_ENTRY
    return lines


def _items(part: Any) -> list[str]:
    """What a part lists, be it sentences or entries with a name."""
    if isinstance(part, str):
        return [result.shown(part)] if part.strip() else []
    found = [one if isinstance(one, str) else _entry(one) for one in part or ()]
    return [" ".join(result.shown(one).split()) for one in found if one.strip()]


def _entry(one: Any) -> str:
    if not isinstance(one, Mapping):
        return str(one)
    behind = one.get("now") or one.get("outcome")
    return f"{one.get('what', '')}: {behind}" if behind else str(one.get("what", ""))


def _place(node: Node) -> tuple[int, int, str]:
    """Older ones first; of what has no time, what was made of more before its parts."""
    return to_microseconds(node.valid_from) or 0, -int(node.key == L2), f"{int(node.body.get('block', 0)):09}{node.id}"


# --- which ----------------------------------------------------------------------------------------------------------
def _months(view: View, now: datetime) -> list[Node]:
    """The months that have been summarised, newest first."""
    firsts = [date(year, month, 1) for year in view.years()[-_YEARS:] for month in range(1, 13)]
    return _of(view, [Period(MONTH, first) for first in reversed(firsts) if first <= now.date()])


def _weeks(view: View, now: datetime) -> list[Node]:
    """The last weeks that have been summarised, newest first."""
    monday = now.date() - timedelta(days=now.weekday())
    return _of(view, [Period(WEEK, monday - timedelta(weeks=back)) for back in range(_WEEKS)])


def _of(view: View, periods: Sequence[Period]) -> list[Node]:
    found = view.get(Node, [period.node_id for period in periods])
    return [node for node in found if node.state == LIVE and node.text]


def _chosen(
    view: View, ages: Ages, shown: frozenset[NodeId], begins: int | None, most: int
) -> list[tuple[Node, float]]:
    """So many summaries with their weights, newest first: in turn one of each age."""
    only = _only_of(view, [*ages.lower[: 2 * _L1], *ages.upper[: 2 * _L2]], shown, begins)
    upper = [node for node in ages.upper if node.id not in only]
    first = min((_begin(node) for node in upper[:_L2]), default=None)
    lower = [node for node in ages.lower if node.id not in only and (first is None or _begin(node) >= first)][:_L1]
    first = min((_begin(node) for node in lower), default=None) if first is None else first
    months = [node for node in ages.months if first is None or _begin(node) < first]
    after = max((to_microseconds(node.valid_to) or 0 for node in months), default=0)
    # What no month tells of: other L2, or where there are no L1 and L2 the weeks.
    between = _spread([node for node in upper[_L2:] or ages.weeks if _begin(node) >= after], _BEFORE)
    old = _spread(_of_years(months[_MONTHS:]), _OLD)
    recent = [*months[:1], *reversed(months[1:_MONTHS])]  # where there is room for two, the newest and the oldest
    tiers = (lower, upper[:_L2], recent, between, old)
    in_turn = [
        (node, weight)
        for row in zip_longest(*tiers)
        for node, weight in zip(row, _WEIGHTS, strict=True)
        if node is not None
    ]
    return sorted(in_turn[: max(0, most)], key=lambda one: _begin(one[0]), reverse=True)


def _begin(node: Node) -> int:
    return to_microseconds(node.valid_from) or 0


def _spread(nodes: Sequence[Node], most: int) -> list[Node]:
    """Some of them from the oldest on, as far apart as can be."""
    if len(nodes) <= most:
        return list(nodes)
    return [nodes[round(place * (len(nodes) - 1) / (most - 1))] for place in reversed(range(most))]


def _of_years(months: Sequence[Node]) -> list[Node]:
    """Of each year the month in which most was said."""
    best: dict[int, Node] = {}
    for node in months:
        year = node.valid_from.year if node.valid_from else 0
        if year not in best or int(node.body.get("messages", 0)) > int(best[year].body.get("messages", 0)):
            best[year] = node
    return list(best.values())


def _only_of(view: View, nodes: Sequence[Node], shown: frozenset[NodeId], begins: int | None) -> set[NodeId]:
    """Those that tell of nothing but messages that stand there themselves."""
    recent = [node for node in nodes if begins is None or not _begin(node) or _begin(node) >= begins]
    if not recent or not shown:
        return set()
    upper = _covered(view, [node.id for node in recent if node.key == L2])
    lower = _covered(view, [*(node.id for node in recent if node.key == L1), *chain.from_iterable(upper.values())])
    only = {node for node, messages in lower.items() if messages <= shown}
    return only | {node for node, own in upper.items() if own <= only}


def _covered(view: View, ids: Sequence[NodeId]) -> dict[NodeId, set[NodeId]]:
    """What each of these summaries was made of."""
    found: dict[NodeId, set[NodeId]] = {}
    for edge in view.edges(ids, (COVERS,), "out", _LONGEST) if ids else ():
        found.setdefault(edge.source_id, set()).add(edge.target_id)
    return found
