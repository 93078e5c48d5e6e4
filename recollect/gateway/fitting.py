"""A request within its window: what of it goes, and how much of the memory it may be given beside the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.gateway.cutting import cut
from recollect.gateway.measure import cost_of_each, cost_of_frame
from recollect.gateway.talk import Dialogue
from recollect.gateway.windows import ContextWindow
from recollect.gateway.wires import Wire

_OF_WINDOW = 4  # the part of a window that may be given


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """The places of what goes, and how many tokens of the memory may stand in the rest."""

    given: int
    gone: frozenset[int] = frozenset()

    def rest(self, wire: Wire, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request without what goes."""
        if not self.gone:
            return body
        return {**body, wire.items: [item for at, item in enumerate(_items(wire, body)) if at not in self.gone]}


def fit(wire: Wire, body: Mapping[str, Any], talk: Dialogue, window: ContextWindow, given: int) -> FittedRequest:
    """What of a request goes so that it fits into a window with as much as may be given of the memory."""
    items = _items(wire, body)
    costs = cost_of_each(items)
    room = window.own - cost_of_frame(body) - window.answer(body)
    given = min(given, window.own // _OF_WINDOW)
    links = [wire.links(item if isinstance(item, Mapping) else {}) for item in items]
    gone = cut(links, costs, _newest(talk, len(items)), room - given, window.step)
    left = room - sum(cost for at, cost in enumerate(costs) if at not in gone)
    return FittedRequest(max(min(given, left), 0), gone)


def cost_of(wire: Wire, body: Mapping[str, Any]) -> int:
    """The tokens of a request."""
    return sum(cost_of_each(_items(wire, body))) + cost_of_frame(body)


def is_kept_there(body: Mapping[str, Any], talk: Dialogue) -> bool:
    """Whether the provider has what was said before: it alone can leave some of that out."""
    return bool(talk.follows or body.get("conversation"))


def _items(wire: Wire, body: Mapping[str, Any]) -> Sequence[object]:
    found = body.get(wire.items)
    return found if isinstance(found, list) else [found]


def _newest(talk: Dialogue, many: int) -> int:
    """The place of the newest question; where nobody asks anything, of what came last."""
    return next((said.at for said in reversed(talk.said) if said.role == "user" and said.is_said), many - 1)
