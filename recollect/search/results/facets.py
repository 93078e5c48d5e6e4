"""How what matches is spread over sources, roles, kinds, months and conversations: what results are filtered by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recollect.record import Conversation, NodeId
from recollect.store import View
from recollect.store.passages import KINDS, ROLE_SHIFT, ROLES, Bool, Features, Int


def _no_numbers() -> Int:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Matched:
    """The messages that match, one entry each (n,): numbers as in `Features`, and one of their passages."""

    messages: Int = field(default_factory=_no_numbers)
    conversations: Int = field(default_factory=_no_numbers)
    passages: Int = field(default_factory=_no_numbers)
    times: Int = field(default_factory=_no_numbers)  # microseconds, 0 or less where it is not known
    roles: Int = field(default_factory=_no_numbers)  # index in ROLES
    kinds: Int = field(default_factory=_no_numbers)  # index in KINDS

    @classmethod
    def of(cls, features: Features, matches: Bool) -> Matched:
        """Those that match; of several passages of a message the first stands for it."""
        rows = np.flatnonzero(matches & (features.messages > 0))
        rows = rows[np.unique(features.messages[rows], return_index=True)[1]]
        return cls(
            features.messages[rows],
            features.conversations[rows],
            features.passages[rows],
            features.times[rows],
            (features.flags[rows] >> ROLE_SHIFT) & (len(ROLES) - 1),
            features.kinds[rows].astype(np.int64),
        )

    def only(self, messages: frozenset[int]) -> Matched:
        """Some of them."""
        rows = np.flatnonzero(np.isin(self.messages, np.array(sorted(messages), np.int64)))
        return Matched(*(column[rows] for column in self._columns()))

    def joined(self, other: Matched) -> Matched:
        """Those of two partitions; of a message in both the first."""
        rows = np.flatnonzero(~np.isin(other.messages, self.messages))
        pairs = zip(self._columns(), other._columns(), strict=True)
        return Matched(*(np.concatenate([own, more[rows]]) for own, more in pairs))

    def _columns(self) -> tuple[Int, ...]:
        return (self.messages, self.conversations, self.passages, self.times, self.roles, self.kinds)


@dataclass(frozen=True, slots=True)
class Facets:
    """How many messages match, in all and by what they can be filtered by. Months are "2024-03", in UTC, ascending.

    `all_months` counts what was said in each month, whether it matches or not. Unless `exact` more may match.
    """

    messages: int = 0
    conversations: int = 0
    exact: bool = True
    sources: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    all_months: Mapping[str, int] = field(default_factory=dict)
    by_conversation: Mapping[NodeId, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As REST and the web pages show it."""
        return {
            "messages": self.messages,
            "conversations": self.conversations,
            "exact": self.exact,
            "sources": dict(self.sources),
            "roles": dict(self.roles),
            "kinds": dict(self.kinds),
            "months": dict(self.months),
            "all_months": dict(self.all_months),
        }


def count_facets(view: View, matched: Matched, *, exact: bool) -> Facets:
    """Counts what matches, in a snapshot."""
    numbers, firsts, sizes = np.unique(matched.conversations, return_index=True, return_counts=True)
    texts = {t.number: t.conversation_id for t in view.passages(matched.passages[firsts].tolist())}
    ids = [texts.get(number) for number in matched.passages[firsts].tolist()]
    by_id = {named: int(size) for named, size in zip(ids, sizes.tolist(), strict=True) if named is not None}
    sources: Counter[str] = Counter()
    for conversation in view.get(Conversation, list(by_id)):
        sources[conversation.source] += by_id[conversation.id]
    known = matched.times[matched.times > 0]
    months = _months(known // _DAY, np.ones(len(known), np.int64))
    days = view.vocabulary().days()
    said = {day: count for day, count in days.items() if day >= 0}
    return Facets(
        messages=len(matched.messages),
        conversations=len(numbers),
        exact=exact,
        sources=dict(sources.most_common()),
        roles=_named(matched.roles, ROLES),
        kinds=_named(matched.kinds, KINDS),
        months=months,
        all_months=_months(np.array(list(said), np.int64), np.array(list(said.values()), np.int64)),
        by_conversation=by_id,
    )


def _months(days: Int, counts: Int) -> dict[str, int]:
    """Counts of days since 1970, by month."""
    if not len(days):
        return {}
    own = days.astype("datetime64[D]").astype("datetime64[M]")
    months, place = np.unique(own, return_inverse=True)
    sums = np.bincount(place, weights=counts, minlength=len(months)).astype(np.int64)
    return {str(month): int(count) for month, count in zip(months, sums, strict=True)}


def _named(indexes: Int, names: tuple[str, ...]) -> dict[str, int]:
    counts = np.bincount(indexes, minlength=len(names)).tolist() if len(indexes) else []
    return {name: count for name, count in zip(names, counts, strict=False) if count}


_DAY = 86_400_000_000  # microseconds
