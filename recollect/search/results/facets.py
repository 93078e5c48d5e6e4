"""How what matches is spread over sources, roles, kinds, months and conversations: what results are filtered by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from recollect.record import Conversation, Message, NodeId, to_microseconds
from recollect.store import View
from recollect.store.passages import KINDS, ROLES, Int, Rows


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """How many messages there are, in all and by what they can be filtered by. Months are "2024-03", in UTC,
    ascending.
    """

    messages: int = 0
    conversations: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    by_conversation: Mapping[NodeId, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As REST and the web pages show it."""
        return {
            "messages": self.messages,
            "conversations": self.conversations,
            "sources": dict(self.sources),
            "roles": dict(self.roles),
            "kinds": dict(self.kinds),
            "months": dict(self.months),
        }


@dataclass(frozen=True, slots=True)
class Facets(FacetCounts):
    """How the messages are spread that hold a word of the question: all of them, counted exactly. A message of several
    kinds, by what hangs on it, counts with each.

    `related` are the results that hold none and come near in meaning, as far as a search reaches. `all_months` counts
    what was said in each month, whether it matches or not.
    """

    related: FacetCounts = field(default_factory=FacetCounts)
    all_months: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As REST and the web pages show it."""
        told = FacetCounts.to_json(self)
        return told | {"related": self.related.to_json(), "all_months": dict(self.all_months)}


def count_facets(view: View, held: Rows, pool: Rows) -> Facets:
    """Counts the passages that hold a word, and those of the pool whose messages do not, in a snapshot."""
    days = view.vocabulary().days()
    said = {day: count for day, count in days.items() if day >= 0}
    own, related = _spread(view, held), _spread(view, pool.take(~np.isin(pool.messages, held.messages)))
    return Facets(
        **{f.name: getattr(own, f.name) for f in fields(FacetCounts)},
        related=related,
        all_months=_months(np.array(list(said), np.int64), np.array(list(said.values()), np.int64)),
    )


def counted(messages: Sequence[Message], conversations: Mapping[NodeId, Conversation]) -> Facets:
    """The same of messages at hand, whatever index there is; what was said otherwise is not counted."""
    by_conversation = Counter(message.conversation_id for message in messages)
    times = filter(None, (to_microseconds(message.timestamp) for message in messages))
    days = [time // _DAY for time in times]
    sources = Counter(conversations[message.conversation_id].source for message in messages)
    return Facets(
        messages=len(messages),
        conversations=len(by_conversation),
        sources=dict(sources.most_common()),
        roles=dict(Counter(message.role.value for message in messages)),
        kinds=dict(Counter(message.kind.value for message in messages)),
        months=_months(np.array(days, np.int64), np.ones(len(days), np.int64)),
        by_conversation=by_conversation,
    )


def _spread(view: View, rows: Rows) -> FacetCounts:
    rows = rows.take(rows.messages > 0)
    of_kinds = np.unique(rows.messages * len(KINDS) + rows.kinds)  # each kind of a message once
    rows = rows.take(np.unique(rows.messages, return_index=True)[1])
    numbers, sizes = (found.tolist() for found in np.unique(rows.conversations, return_counts=True))
    origins, sources, by_id = view.origins(numbers), Counter[str](), dict[NodeId, int]()
    for number, size in zip(numbers, sizes, strict=True):
        if number in origins:
            named, source = origins[number]
            by_id[named] = size
            sources[source] += size
    known = rows.times[rows.times > 0]
    return FacetCounts(
        messages=len(rows),
        conversations=len(numbers),
        sources=dict(sources.most_common()),
        roles=_named(rows.roles, ROLES),
        kinds=_named(of_kinds % len(KINDS), KINDS),
        months=_months(known // _DAY, np.ones(len(known), np.int64)),
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
