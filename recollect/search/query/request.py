"""What somebody asks for, checked: the query's own words and the options beside it become one search."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args
from unicodedata import category

from recollect.errors import InvalidInput
from recollect.record import Conversation, Document, Message, NodeId, to_microseconds
from recollect.store import View, Where
from recollect.store.passages import DERIVED_KINDS, KINDS, ROLES, SAID_KINDS, Filter
from recollect.text.relative import parse_moment
from recollect.text.terms import words


@dataclass(frozen=True, slots=True)
class Query:
    """A query taken apart. `text` is what remains to be asked, the words of phrases in it.

    Of several sources, roles, conversations (ids or titles) or kinds any may hold; of several times the last counts.
    All values are as typed, and `typed` is all of it. `literal` asks for the words exactly as they are, as one phrase,
    without any help.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    before: str | None = None
    literal: bool = False
    typed: str = field(default="", compare=False)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The phrases without a word in them, emoji and symbols, which no index holds."""
        return tuple(phrase for phrase in (*self.phrases, *self.excluded) if not words(phrase))


def parse_query(text: str) -> Query:
    """Takes a query apart; never raises. A text without operators stays as it is, blanks included.

    >>> query = parse_query('"rate limit" -stripe role:user how long')
    >>> query.text, query.phrases, query.excluded, query.roles
    ('rate limit how long', ('rate limit',), ('stripe',), ('user',))
    """
    if _IN_OPERATORS.isdisjoint(text):
        return Query(text, typed=text)
    parts = _Parts()
    remaining = re.sub(_OPERATOR, parts.take, text)
    return replace(parts.query(" ".join(remaining.split())) if parts.any else Query(text), typed=text)


def literal_query(text: str) -> Query:
    """The query for a text as it stands: no operators, no filters, one phrase.

    >>> literal_query("-n is:open").phrases
    ('-n is:open',)
    """
    phrase = " ".join(text.split())
    return Query(phrase, phrases=(phrase,) if phrase else (), literal=True, typed=text)


_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("「", "」"), ("『", "』"))
_QUOTED = "|".join(f"{opening}[^{opening}{closing}]*{closing}" for opening, closing in _QUOTES)

_IN_OPERATORS = frozenset(":-").union(opening for opening, _ in _QUOTES)  #: each operator has one
_OPERATOR = rf"""(?xi)
    (?: (?<!\S) (?P<key> source | since | after | until | before | role | in | kind ) :
        (?P<value> {_QUOTED} | [^\s:/"“„«「『] \S* )
      | (?<!\S) - (?P<excluded> {_QUOTED} | [^\W_] \S* | [.@$\#_]+ [^\W\d_] \S* | [\u2190-\U0010ffff] \S* )
      | (?<![^\s(\[{{]) (?P<phrase> {_QUOTED} )
    ) (?P<after> [?.,;:!)\]}}]* ) (?!\S)
"""
_STOPS = "?.,;:!"
_ALIASES = {"after": "since"}


@dataclass(slots=True)
class _Parts:
    """Collects the operators while the text is gone through."""

    phrases: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    filters: dict[str, list[str]] = field(default_factory=dict)
    any: bool = False

    def take(self, match: re.Match[str]) -> str:
        """Notes one operator and says what stays in the text in its place."""
        typed = match["value"] or match["excluded"] or match["phrase"]
        value = _unquoted(typed)
        if not value:
            return match[0]
        self.any = True
        if match["key"]:
            key = match["key"].lower()
            self.filters.setdefault(_ALIASES.get(key, key), []).append(value)
            return ""
        if match["excluded"]:
            self.excluded.append(value)
            return ""
        self.phrases.append(value)
        return value + match["after"]

    def query(self, text: str) -> Query:
        """The query with what was collected."""
        return Query(
            text=text,
            phrases=tuple(self.phrases),
            excluded=tuple(self.excluded),
            sources=self._given("source"),
            roles=self._given("role"),
            conversations=self._given("in"),
            kinds=self._given("kind"),
            since=next(iter(self._given("since")[-1:]), None),
            until=next(iter(self._given("until")[-1:]), None),
            before=next(iter(self._given("before")[-1:]), None),
        )

    def _given(self, key: str) -> tuple[str, ...]:
        return tuple(self.filters.get(key, ()))


def _unquoted(typed: str) -> str:
    if len(typed) > 1 and any((typed[0], typed[-1]) == pair for pair in _QUOTES):
        return typed[1:-1].strip()
    return typed.rstrip(_STOPS)


# The times of since:, until: and before:, as people write them.

#: A filter means the very day, where a question means that time or so.
_AGO = re.compile(r"\s*(\d{1,4})\s+(day|week|month|year)s?(?:\s+ago)?\s*", re.IGNORECASE)
_HINT = 'Use 2025, 2025-03, 2025-03-14, "last week" or "3 days ago".'


def read_moment(name: str, value: str | datetime | None, now: datetime, *, end: bool = False) -> datetime | None:
    """The moment that a value means: the beginning of the day, month or year it names, or with `end` its end.

    "6 months ago", or "6 months", is that day. `name` is what the option is called in an error. Raises InvalidInput.
    """
    if value is None or isinstance(value, datetime):
        return value
    if ago := _AGO.fullmatch(value):
        value = _day_ago(now.date(), int(ago[1]), ago[2].lower()) or value
    found = parse_moment(_dashed(value), now.date(), end=end)
    if found is None:
        raise InvalidInput(f"{name}: {value!r} is not a date.", hint=_HINT)
    return found


def _day_ago(today: date, count: int, unit: str) -> str | None:
    """The day so long before today, the last of its month where that is shorter; None before the calendar begins."""
    try:
        if unit in ("day", "week"):
            return (today - timedelta(days=count * (7 if unit == "week" else 1))).isoformat()
        year, month = divmod(today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1), 12)
        return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1])).isoformat()
    except (ValueError, OverflowError):
        return None


def read_period(
    since: str | datetime | None,
    until: str | datetime | None,
    before: str | datetime | None,
    now: datetime,
    *,
    prefix: str = "",
) -> tuple[datetime | None, datetime | None]:
    """From when, and until just before when. Raises InvalidInput, also where nothing can lie between."""
    first = read_moment(f"{prefix}since", since, now)
    ends = {
        f"{prefix}until {until}": read_moment(f"{prefix}until", until, now, end=True),
        f"{prefix}before {before}": read_moment(f"{prefix}before", before, now),
    }
    given = [(moment, told) for told, moment in ends.items() if moment is not None]
    last, told = min(given, default=(None, ""))
    if first is not None and last is not None and first >= last:
        raise InvalidInput(f"Nothing can be since {since} and {told.removeprefix(prefix)}.", hint="Swap the dates.")
    return first, last


def _dashed(text: str) -> str:
    """2024/03 and 2024/3/1 as 2024-03 and 2024-03-01."""
    match = re.fullmatch(r"\s*(\d{4})/(\d{1,2})(?:/(\d{1,2}))?\s*", text)
    return "-".join(part.zfill(2) for part in match.groups() if part) if match else text


NOTHING_ASKED = "There is nothing to search for."
HOW_TO_ASK = 'Give some words: recollect search "sourdough hydration"'

#: Other words for kinds.
KIND_ALIASES = {
    "thinking": "reasoning",
    "thoughts": "reasoning",
    "hidden": "context",
    "system": "context",
    "sidechain": "subagent",
    "agent": "subagent",
    "tools": "tool",
    "tool_call": "tool",
    "message": "said",
    "file": "attachment",
    "documents": "document",
}
ROLE_ALIASES = {"human": "user", "me": "user", "you": "user", "ai": "assistant", "model": "assistant"}


@dataclass(frozen=True, slots=True)
class Search:
    """What to search for, all read and checked. `with_documents`: they stand beside messages also where kinds of these
    are asked for; `with_reports`: so do reports on what is in the memory, which are no evidence of it. `like` are texts
    that an answer may be like: what is near to them in meaning is wanted, too. `wording` says the same as the query in
    other words, which are searched for; who, when and what kind of answer is wanted the query says. `facets`: what
    matches is counted by source, role and month. `offset` is where in the order of all results these begin: 0, or the
    `next` of the results before.
    """

    query: Query
    filter: Filter
    limit: int = 10
    group_by: str = "conversation"
    mode: str = "auto"  # auto, instant, quality
    sort: str = "relevance"  # relevance, newest
    with_documents: bool = False
    with_reports: bool = True
    like: tuple[str, ...] = ()
    wording: str = ""
    facets: bool = False
    offset: int = 0

    @property
    def needed(self) -> int:
        """How much of the order must be known: with what goes before, and one more, which tells whether there is
        more.
        """
        return self.offset + self.limit + 1


#: One name or several.
Names = str | Sequence[str] | None
#: How hits are grouped, how the memory is searched, and in which order hits come.
GroupBy = Literal["conversation", "message"]
Mode = Literal["auto", "instant", "quality"]
Sort = Literal["relevance", "newest"]
MODES = get_args(Mode)
_FOUND_KINDS = tuple(kind for kind in KINDS if kind not in ("title", *DERIVED_KINDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be found, in the words of who asks: what is empty restricts nothing. Times are as people say them;
    `until` includes the day, month or year that it names, `before` does not. `mode` says how it is searched. `speaker`
    and `tag` are there for what comes later, and restrict nothing yet.
    """

    source: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    speaker: str | None = None
    tag: str | None = None
    conversation: str | None = None
    since: str | datetime | None = None
    until: str | datetime | None = None
    before: str | datetime | None = None
    mode: Mode = "auto"

    @classmethod
    def of(
        cls, *, source: Names = (), role: Names = (), kind: Names = (), mode: Mode = "auto", **given: Any
    ) -> Filters:
        """Of what was given: one name or several, and empty texts for nothing."""
        several = {"source": _several(source), "role": _several(role), "kind": _several(kind)}
        told: dict[str, Any] = {name: value or None for name, value in given.items()} | several
        return cls(mode=mode, **told)

    @property
    def given(self) -> dict[str, Any]:
        """Those that restrict anything, as the calls of `Memory` take them."""
        named = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in named if value and (name, value) != ("mode", "auto")}


def _several(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def read_search(
    text: str,
    filters: Filters = Filters(),
    *,
    limit: int,
    group_by: str = "conversation",
    sort: str = "relevance",
    literal: bool = False,
    otherwise: tuple[str, str] = (NOTHING_ASKED, HOW_TO_ASK),
    facets: bool = False,
    offset: int = 0,
    now: datetime,
    find_conversations: Callable[[str], list[NodeId]],
    check_sources: Callable[[Sequence[str]], tuple[str, ...]],
) -> Search:
    """The search that these words and options ask for. Raises InvalidInput with what would be right; `otherwise` is
    what is told, and how to do it right, where filters are all there is.
    """
    query = literal_query(text) if literal else parse_query(text)
    if not _says_something(query.text):
        raise InvalidInput(otherwise[0], hint=otherwise[1])
    if not 1 <= limit <= 1000:
        raise InvalidInput(f"A limit of {limit} is out of range.", hint="Use 1 to 1000.")
    if offset < 0:
        raise InvalidInput(f"An offset of {offset} is out of range.", hint="Use 0, or the `next` of other results.")
    one_of("group_by", group_by, get_args(GroupBy))
    one_of("mode", filters.mode, MODES)
    one_of("sort", sort, get_args(Sort))
    since, until, before = filters.since or query.since, filters.until or query.until, filters.before or query.before
    first, last = read_period(since, until, before, now)
    where = (*query.conversations, *([filters.conversation] if filters.conversation else []))
    return Search(
        query=query,
        filter=Filter(
            roles=_names("role", [*filters.role, *query.roles], ROLE_ALIASES, ROLES),
            kinds=_kinds([*filters.kind, *query.kinds]),
            sources=check_sources((*filters.source, *query.sources)),
            conversation_ids=tuple(i for name in where for i in find_conversations(name)) if where else None,
            since=to_microseconds(first),
            until=to_microseconds(last),
        ),
        limit=limit,
        group_by=group_by,
        mode=filters.mode,
        sort=sort,
        facets=facets,
        offset=offset,
    )


def _says_something(text: str) -> bool:
    """Whether there is a letter, a digit or a picture in it."""
    return any(category(character)[0] in "LN" or category(character) == "So" for character in text)


def _kinds(given: Sequence[str]) -> tuple[str, ...]:
    if any(name.lower() in ("all", "any") for name in given):
        return _FOUND_KINDS
    names = _names("kind", given, KIND_ALIASES, (*_FOUND_KINDS, "all"))
    return tuple(dict.fromkeys([*names, *(SAID_KINDS if "said" in names else ())]))


def _names(what: str, given: Sequence[str], aliases: dict[str, str], known: Sequence[str]) -> tuple[str, ...]:
    found = tuple(aliases.get(name.lower(), name.lower()) for name in given)
    for name in found:
        one_of(what, name, known)
    return found


def one_of(what: str, value: str, known: Sequence[str]) -> None:
    """Raises InvalidInput where a value is none of those that are known."""
    if value not in known:
        raise InvalidInput(
            f"There is no {what} {value!r}.", hint=f"{_meant(value, known)}Use one of: {', '.join(known)}."
        )


def _meant(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), known, 1)
    return f"Did you mean {near[0]}? " if near else ""


# The sources that somebody names, checked against those that are there.


def checked_sources(view: View, named: Sequence[str]) -> tuple[str, ...]:
    """The sources as they are stored. Raises InvalidInput with those there are, where one of them is not."""
    wanted = tuple(dict.fromkeys(name.lower() for name in named))
    for name in wanted:
        if not _is_there(view, name):
            known = sorted(view.counts().by_source)
            if known:
                raise InvalidInput(
                    f"There is no source {name!r}.", hint=f"{_meant(name, known)}Sources: {', '.join(known)}."
                )
    return wanted


def _is_there(view: View, name: str) -> bool:
    where = Where(sources=(name,))
    return bool(view.find(Conversation, where, limit=1).items or view.find(Document, where, limit=1).items)


# What a filter and words let be found, asked of a message itself; the index asks the same of its columns.


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
