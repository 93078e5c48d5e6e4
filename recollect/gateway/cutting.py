"""What goes of a request that is too long: its oldest exchanges, so that the rest is still a conversation.

An exchange is a question with all that follows it; its steps are what the model did on the way, each with the results
of its tools. System prompts stay, the newest question and what follows it stay, and a call is never parted from its
result. What is removed grows by steps of a fixed size, counted from the beginning of the conversation: two requests of
one conversation begin alike until the next step, whatever happened in between, and a provider's cache of prompts holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from recollect.gateway.wires.base import Links

#: So many steps of removal an exchange must have before a place within it counts as a place to cut.
_WITHIN = 0.5


@dataclass(frozen=True, slots=True)
class _CutPoint:
    """A place to cut: what stands before `start` goes, but for the question from `head` to `behind`."""

    removed: int
    start: int
    head: int = 0
    behind: int = 0
    is_last_resort: bool = False


def cut(links: Sequence[Links], costs: Sequence[int], question: int, room: int, step: int) -> frozenset[int]:
    """The places of what has to go so that the rest costs at most `room`, or as little as can be.

    `links` tell of each item who says it and which calls it opens and closes, `costs` what it costs in tokens;
    `question` is the place of the newest question, `step` by how many tokens the removal grows.
    """
    flow = [at for at, one in enumerate(links) if one.role != "system"]
    excess = sum(costs) - room
    if excess <= 0 or not flow:
        return frozenset()
    target = -(-excess // step) * step
    asked = flow.index(question) if question in flow else len(flow) - 1
    places = _places([links[at] for at in flow], [costs[at] for at in flow], asked, int(step * _WITHIN))
    regular = (place for place in places if not place.is_last_resort and place.removed >= target)
    chosen = next(regular, None) or next((place for place in places if place.removed >= target), None)
    chosen = chosen or (places[-1] if places else None)
    if chosen is None:
        return frozenset()
    return frozenset([*flow[: chosen.head], *flow[chosen.behind : chosen.start]])


def _places(flow: Sequence[Links], costs: Sequence[int], asked: int, within: int) -> list[_CutPoint]:
    """The places where it may be cut, in order."""
    total = [0, *accumulate(costs)]
    joined = _joined(flow)
    starts = [n for n, one in enumerate(flow) if one.role == "user" and not joined[n] and _begins(flow, n)]
    found: list[_CutPoint] = []
    for start, end in pairwise([*starts, len(flow)]):
        if start > asked:
            break
        found.append(_CutPoint(total[start], start, start, start))
        behind = next((n for n in range(start, end) if flow[n].role != "user" or joined[n]), end)
        for n in range(behind + 1, end):
            is_step = flow[n].role == "assistant" and not joined[n] and flow[n - 1].role != "assistant"
            if not is_step or (behind <= asked < n):
                continue
            inside = total[n] - total[behind]
            found.append(_CutPoint(total[start] + inside, n, start, behind, inside < within))
    return found


def _begins(flow: Sequence[Links], n: int) -> bool:
    return n == 0 or flow[n - 1].role != "user"


def _joined(flow: Sequence[Links]) -> list[bool]:
    """Of each item whether it must not be parted from the one before it."""
    joined = [False] * len(flow)
    opened: dict[str, int] = {}
    for n, one in enumerate(flow):
        for name in one.closes:
            if (begin := opened.pop(name, None)) is not None:
                joined[begin + 1 : n + 1] = [True] * (n - begin)
        opened.update(dict.fromkeys(one.opens, n))
    return joined
