"""Search results as a page shows them: counts, filters, months, and the lines of each result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from starlette.requests import Request

from recollect.faces.present.names import SIGNALS, matches, number, source_label, words_and_related
from recollect.faces.web.page import address
from recollect.search.query.request import Filters
from recollect.search.results.result import Facets, Hit, MessageHit, SearchResults, Why

_WIDTH, _NARROW = 774.0, 358.0  # of the drawing, on wide and on narrow screens
_ROOM = 40.0  # the highest bar
_LEAST = 2.0  # what a bar measures at least, and one that matches more
_LEAST_MATCH = 5.0
_MOST = 132  # bars, so that each can be hit
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LABEL = 44.0  # that a year's number needs


@dataclass(frozen=True, slots=True)
class MonthBar:
    """One month, quarter or year: where it stands, how high it is, and the search that it leads to."""

    x: float
    width: float
    label: str
    matching: int
    all: int
    height: float
    match_height: float
    href: str

    @property
    def words(self) -> str:
        """As in "Mar 2024: 3 of 28 messages match"."""
        return f"{self.label}: {self.matching:,} of {self.all:,} messages match"


@dataclass(frozen=True, slots=True)
class MonthBars:
    """The drawing: its bars, and the years below them."""

    bars: tuple[MonthBar, ...]
    years: tuple[tuple[float, str], ...]
    width: float


def month_bars(
    matching: Mapping[str, int], all_: Mapping[str, int], link: Callable[[str, str], str], *, quarters: bool = False
) -> MonthBars | None:
    """Bars from counts by month ("2024-03"); `link` gives the address of a search from one month to another.

    Many months become quarters, many of these years. None where there are fewer than two bars.
    """
    if not all_:
        return None
    first, last = _number(min(all_)), _number(max(all_))
    step = next(s for s in ((3, 12, 120) if quarters else (1, 3, 12, 120)) if (last - first) // s < _MOST or s == 120)
    begin = first - first % step
    places = (last - begin) // step + 1
    if places < 2:
        return None
    own, total = _summed(matching, begin, step), _summed(all_, begin, step)
    drawn = _NARROW if quarters else _WIDTH
    wide, highest = drawn / places, max(total.values())
    bars = []
    for place, count in sorted(total.items()):
        start = begin + place * step
        match = own.get(place, 0)
        height = max(_LEAST, _ROOM * count / highest)
        bars.append(
            MonthBar(
                x=round(place * wide, 1),
                width=round(wide, 1),
                label=_label(start, step),
                matching=match,
                all=count,
                height=round(height, 1),
                match_height=round(max(_LEAST_MATCH, _ROOM * match / highest), 1) if match else 0.0,
                href=link(_month(max(start, 0)), _month(start + step - 1)),
            )
        )
    return MonthBars(tuple(bars), tuple(_years(begin, places, step, wide)), drawn)


def _summed(counts: Mapping[str, int], begin: int, step: int) -> dict[int, int]:
    sums: dict[int, int] = {}
    for month, count in counts.items():
        place = (_number(month) - begin) // step
        sums[place] = sums.get(place, 0) + count
    return sums


def _years(begin: int, places: int, step: int, wide: float) -> Iterator[tuple[float, str]]:
    """The years, as many as have room."""
    free = 0.0
    for place in range(places):
        month = begin + place * step
        if (place == 0 or month % 12 < step) and place * wide >= free:
            yield round(place * wide, 1), str(month // 12)
            free = place * wide + _LABEL


def _number(month: str) -> int:
    """Months since the year 0."""
    year, _, number = month.partition("-")
    return int(year) * 12 + int(number) - 1


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def _label(start: int, step: int) -> str:
    year, month = divmod(start, 12)
    if step == 1:
        return f"{_MONTHS[month]} {year}"
    if step == 3:
        return f"{_MONTHS[month]} to {_MONTHS[month + 2]} {year}"
    return str(year) if step == 12 else f"{year} to {year + 9}"


LINES = 3  # of each result

_TERMS = {
    "words": "keyword",
    "meaning": "semantic",
    "session words": "keywords nearby",
    "session meaning": "semantic nearby",
    "words alone": "keywords alone",
    "late": "quality",
    "late around": "quality nearby",
    "title": "title",
}
_ROLES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_KINDS = (
    ("", "Conversation"),
    ("attachment", "Attachments"),
    ("artifact", "Artifacts"),
    ("tool", "Tool results"),
    ("reasoning", "Reasoning"),
    ("context", "Context"),
    ("document", "Documents"),
    ("all", "Everything"),
)
_ALWAYS = ("", "tool", "reasoning", "all")


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter that can be chosen, or the one that is, which then leads back."""

    label: str
    count: int | None
    href: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """Filters that exclude each other."""

    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class RankTerm:
    """What a part of the ranker added: its share of the largest one, in percent."""

    name: str
    value: float
    share: int


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A message that matched, as a line of a result."""

    hit: MessageHit
    href: str
    is_best: bool


@dataclass(frozen=True)
class ConversationResult:
    """A conversation with its best lines, in reading order."""

    hit: Hit
    href: str
    lines: tuple[ResultLine, ...]
    matching: int
    by_message: bool

    @property
    def more(self) -> int:
        """How many further messages match in it."""
        return max(0, self.matching - len(self.lines))

    @cached_property
    def terms(self) -> tuple[RankTerm, ...]:
        """Why the best is there, the strongest first."""
        return why_terms(self.hit.best.why)


def why_terms(why: Why) -> tuple[RankTerm, ...]:
    """What each part of the ranker added, the most first; what added next to nothing is left out."""
    told = sorted(((_TERMS.get(name, name), value) for name, value in why.terms.items()), key=lambda t: -abs(t[1]))
    told = [(name, value) for name, value in told if abs(value) >= 0.05][:8]
    largest = max((abs(value) for _, value in told), default=1.0)
    return tuple(RankTerm(name, value, round(100 * abs(value) / largest)) for name, value in told)


class SearchResultsPage:
    """The page of a search that found something."""

    def __init__(self, found: SearchResults, asked: SearchParameters, request: Request) -> None:
        self.found, self._asked, self._request = found, asked, request
        self.facets = found.facets or Facets()
        self.words = found.corrected or asked.q

    def url(self, **changed: Any) -> str:
        """The address of this search with something changed."""
        return address("/search", self._request, **self._asked.query(**changed))

    @property
    def counted(self) -> tuple[str, str]:
        """As in ("34 messages", "in 12 conversations with the word, 40 related"), or the nearest where none has it."""
        found, what = self.found, "message" if self._asked.group else "conversation"
        if not found.total:
            return "No message", "matches"
        if not found.with_words:
            return number(found.total, what), "by meaning, nearest first"
        told = words_and_related(self.words, found.with_words, found.related)
        if self._asked.group:
            return number(found.total, what), told if found.related else "with " + told.partition(" with ")[2]
        count, _, rest = told.partition(" ")
        conversations = "conversation" if found.with_words == 1 else "conversations"
        return matches(found), f"in {count} {conversations} {rest}"

    @property
    def signals(self) -> str:
        """What the search went by."""
        return " + ".join(SIGNALS.get(signal, signal) for signal in self.found.signals)

    @cached_property
    def results(self) -> tuple[ConversationResult, ...]:
        """The results, in order."""
        return tuple(map(self._result, self.found))

    def _result(self, hit: Hit) -> ConversationResult:
        best = {m.message.id for m in sorted(hit.messages, key=lambda m: -m.score)[:LINES]}
        own = tuple(m for m in hit.messages if m.message.id in best)
        lines = tuple(ResultLine(m, self._link(m), m is hit.best) for m in own)
        named, facets = hit.conversation.id, self.facets
        counts = facets.by_conversation.get(named) or facets.related.by_conversation.get(named, 0)
        matching = max(counts, len(lines))
        return ConversationResult(hit, self._link(hit.best), lines, matching, bool(self._asked.group))

    def _link(self, hit: MessageHit) -> str:
        """To the message in its conversation, with what was sought."""
        message = hit.message
        return address(f"/c/{message.conversation_id}#m-{message.id}", self._request, q=self.words, at=message.id)

    @property
    def further(self) -> str:
        """The address of the results that follow; empty: there are none."""
        return self.url(offset=self.found.next) if self.found.next is not None else ""

    @property
    def end(self) -> str:
        """What is said where there are none."""
        return "That is everything." if self.found.total_exact else "That is everything with these words."

    @cached_property
    def months(self) -> tuple[MonthBars | None, MonthBars | None]:
        """The bars by month, and those by quarter for narrow screens."""

        def link(first: str, last: str) -> str:
            return self.url(since=first, until=last)

        return (
            month_bars(self.facets.months, self.facets.all_months, link),
            month_bars(self.facets.months, self.facets.all_months, link, quarters=True),
        )

    @cached_property
    def groups(self) -> tuple[FilterGroup, ...]:
        """What the results can be filtered by."""
        return tuple(group for group in self._groups() if group.choices)

    def _groups(self) -> Iterator[FilterGroup]:
        asked, facets = self._asked, self.facets
        sources = dict.fromkeys([*facets.sources, *facets.related.sources, *asked.source])
        yield FilterGroup(
            "Source", tuple(self._choice("source", s, source_label(s), facets.sources.get(s)) for s in sources)
        )
        known = {*facets.roles, *facets.related.roles}
        roles = dict.fromkeys([*(r for r in _ROLES if r in known), *asked.role])
        labels = {r: _ROLES.get(r, r) for r in roles}
        yield FilterGroup("Who said it", tuple(self._choice("role", r, labels[r], facets.roles.get(r)) for r in roles))
        yield FilterGroup("Kind", tuple(self._kinds()))

    def _choice(self, name: str, value: str, label: str, count: int | None) -> Choice:
        chosen = value in getattr(self._asked, name)
        return Choice(label, count, self.url(**{name: () if chosen else (value,)}), chosen)

    def _kinds(self) -> Iterator[Choice]:
        own = self._asked.kind
        for kind, label in _KINDS:
            chosen = kind in own if kind else not own
            count = self.facets.messages if not kind and not own else self.facets.kinds.get(kind) if own else None
            if chosen or kind in _ALWAYS or kind in {*self.facets.kinds, *self.facets.related.kinds}:
                yield Choice(label, count or None, self.url(kind=(kind,) if kind else ()), chosen)


LIMIT = 10  # results of a page


@dataclass(frozen=True)
class SearchParameters:
    """What a search page is asked for, as its address says it: `month` is one month, instead of since and until.
    `offset` is where in the order of all results the page begins.
    """

    q: str = ""
    source: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    in_: str = ""
    sort: str = ""
    group: str = ""
    literal: bool = False
    offset: int = 0

    def query(self, **changed: Any) -> dict[str, object]:
        """The parameters of the address of this search, or of one that differs a little from it."""
        one = replace(self, **{"offset": 0, **changed})
        return {
            "q": one.q,
            "source": one.source,
            "role": one.role,
            "kind": one.kind,
            "since": one.since,
            "until": one.until,
            "in": one.in_,
            "sort": one.sort,
            "group": one.group,
            "literal": "1" if one.literal else "",
            "from": one.offset or "",
        }

    @property
    def filters(self) -> Filters:
        """What narrows the search."""
        return Filters.of(
            source=self.source,
            role=self.role,
            kind=self.kind,
            since=self.since,
            until=self.until,
            conversation=self.in_,
        )

    @property
    def options(self) -> dict[str, Any]:
        """What the façade takes besides the words."""
        return self.filters.given | {"literal": self.literal}
