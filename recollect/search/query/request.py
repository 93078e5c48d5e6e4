"""What somebody asks for, checked: the query's own words and the options beside it become one search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, get_args
from unicodedata import category

from recollect.errors import InvalidInput
from recollect.record import NodeId, to_microseconds
from recollect.search.query.syntax import Query, literal_query, parse_query
from recollect.search.query.times import read_period
from recollect.store.passages import DERIVED_KINDS, KINDS, ROLES, SAID_KINDS, Filter

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
