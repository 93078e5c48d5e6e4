"""The few operators of a query: "exact phrases", -excluded words, and filters such as `role:user since:2025-03`.

Whatever is not clearly an operator is text: a flag, a path, a namespace, an unbalanced quote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

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
      | (?<!\S) - (?P<excluded> {_QUOTED} | [^\W_] \S* | [.@$\#_]+ [^\W\d_] \S* )
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
