"""The rules that the user wrote or confirmed: first in every context, whatever is asked, and never searched for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, tokens_in, tokens_in_each
from recollect.context.result import ContextPart
from recollect.record import Node, NodeId

#: What rules may take of the room. All that may be told fit into it where the room is twice as large.
_SHARE = 0.5
_ROUND = 8  # tokens that a line may cost beside its words, in the room for it


def rules_part(rules: Sequence[Node], room: int, known: Collection[NodeId] = ()) -> ContextPart | None:
    """The rules that are not `known`, in the order in which they were told, so that a new one changes nothing before
    it. Where not all fit, the newest are left out, and a line says how many. None where there are none.
    """
    rules = [node for node in rules if node.id not in known]
    if not rules:
        return None
    lines = [f"- {wording.shown(node.text)}" for node in rules]
    for many in range(len(lines), -1, -1):
        left = [_left_out(len(lines) - many)] if many < len(lines) else []
        text = "\n".join([wording.RULES, *lines[:many], *left])
        cost = tokens_in(text) + PER_ENTRY + _more_in_the_guide()
        if cost <= room * _SHARE:
            return ContextPart("rules", text, cost, tuple(node.id for node in rules[:many]))
    return None


def room_for(rules: Sequence[str]) -> int:
    """The room in which all these rules fit."""
    return int(sum(tokens_in_each([wording.RULES, *rules])) / _SHARE) + _ROUND * (len(rules) + 2)


def _more_in_the_guide() -> int:
    """What the guide costs more below rules."""
    above, below = tokens_in_each([wording.GUIDE, wording.BELOW_RULES])
    return max(0, below - above)


def _left_out(count: int) -> str:
    return "(1 further rule does not fit here)" if count == 1 else f"({count} further rules do not fit here)"
