"""What a search page is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

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

    def filters(self) -> dict[str, Any]:
        """What the façade takes."""
        return {
            "source": self.source,
            "role": self.role,
            "kind": self.kind,
            "since": self.since or None,
            "until": self.until or None,
            "conversation": self.in_ or None,
            "literal": self.literal,
        }

    @property
    def is_filtered(self) -> bool:
        """Whether less than everything is searched."""
        return bool(self.source or self.role or self.kind or self.since or self.until or self.in_)
