"""What somebody asks for, checked: the query's own words and the options beside it become one search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.errors import InvalidInput
from recollect.record import NodeId, to_microseconds
from recollect.search.relative import parse_moment
from recollect.search.syntax import Query, parse_query
from recollect.store.passages import KINDS, ROLES, SAID_KINDS, Filter

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
    """What to search for, all read and checked."""

    query: Query
    filter: Filter
    limit: int = 10
    group_by: str = "conversation"
    mode: str = "auto"  # auto, instant, quality
    sort: str = "relevance"  # relevance, newest


_GROUPS = ("conversation", "message")
_MODES = ("auto", "instant", "quality")
_FOUND_KINDS = tuple(kind for kind in KINDS if kind != "title")


def read_search(
    text: str,
    *,
    limit: int,
    group_by: str,
    sources: Sequence[str],
    roles: Sequence[str],
    kinds: Sequence[str],
    conversation: str | None,
    since: str | datetime | None,
    until: str | datetime | None,
    mode: str,
    now: datetime,
    find_conversations: Callable[[str], list[NodeId]],
) -> Search:
    """The search that these words and options ask for. Raises InvalidInput with what would be right."""
    query = parse_query(text)
    if not (query.text.strip() or query.phrases):
        raise InvalidInput("There is nothing to search for.", hint='Give words: recollect search "sourdough hydration"')
    if not 1 <= limit <= 1000:
        raise InvalidInput(f"A limit of {limit} is not possible.", hint="Use 1 to 1000.")
    _one_of("group_by", group_by, _GROUPS)
    _one_of("mode", mode, _MODES)
    where = (*query.conversations, *([conversation] if conversation else []))
    return Search(
        query=query,
        filter=Filter(
            roles=_names("role", [*roles, *query.roles], ROLE_ALIASES, ROLES),
            kinds=_kinds([*kinds, *query.kinds]),
            sources=tuple(name.lower() for name in (*sources, *query.sources)),
            conversation_ids=tuple(i for name in where for i in find_conversations(name)) if where else None,
            since=moment("since", since or query.since, now, end=False),
            until=moment("until", until or query.until, now, end=True),
        ),
        limit=limit,
        group_by=group_by,
        mode=mode,
    )


def _kinds(given: Sequence[str]) -> tuple[str, ...]:
    if any(name.lower() in ("all", "any") for name in given):
        return _FOUND_KINDS
    names = _names("kind", given, KIND_ALIASES, _FOUND_KINDS)
    return tuple(dict.fromkeys([*names, *(SAID_KINDS if "said" in names else ())]))


def _names(what: str, given: Sequence[str], aliases: dict[str, str], known: Sequence[str]) -> tuple[str, ...]:
    found = tuple(aliases.get(name.lower(), name.lower()) for name in given)
    for name in found:
        _one_of(what, name, known)
    return found


def _one_of(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InvalidInput(f"{value!r} is no {what}.", hint=f"One of: {', '.join(known)}.")


def moment(what: str, value: str | datetime | None, now: datetime, *, end: bool) -> int | None:
    """A time as people write it, in microseconds; of a period its beginning or its end. Raises InvalidInput."""
    if value is None or isinstance(value, datetime):
        return to_microseconds(value)
    found = parse_moment(value, now.date(), end=end)
    if found is None:
        raise InvalidInput(
            f"{what}: {value!r} is no time that I understand.", hint='Use 2025, 2025-03, 2025-03-14 or "last week".'
        )
    return to_microseconds(found)
