"""What a search page is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

LIMIT, MOST = 10, 200  # results


@dataclass(frozen=True)
class Asked:
    """What a search page is asked for, as its address says it. `month` is one month, instead of since and until."""

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
    n: int = LIMIT

    def query(self, **changed: Any) -> dict[str, object]:
        """The parameters of the address of this search, or of one that differs a little from it."""
        one = replace(self, **{"n": LIMIT, **changed})
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
            "n": one.n if one.n != LIMIT else "",
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
