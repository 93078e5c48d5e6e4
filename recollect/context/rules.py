"""The rules that the user wrote or confirmed: first in every context, whatever is asked, and never searched for."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, tokens_in, tokens_in_each
from recollect.context.result import Part
from recollect.record import Node

#: What rules may take of the room. All that may be told fit into it where the room is twice as large.
_SHARE = 0.5


def rules_part(rules: Sequence[Node], room: int) -> Part | None:
    """The rules in the order in which they were told, so that a new one changes nothing before it. Where not all fit,
    the newest are left out, and a line says how many.
    """
    lines = [f"- {wording.shown(node.text)}" for node in rules]
    for many in range(len(lines), -1, -1) if lines else ():
        left = [_left_out(len(lines) - many)] if many < len(lines) else []
        text = "\n".join([wording.RULES, *lines[:many], *left])
        cost = tokens_in(text) + PER_ENTRY + _more_in_the_guide()
        if cost <= room * _SHARE:
            return Part("rules", text, cost, tuple(node.id for node in rules[:many]))
    return None


def _more_in_the_guide() -> int:
    """What the guide costs more below rules."""
    above, below = tokens_in_each([wording.GUIDE, wording.BELOW_RULES])
    return max(0, below - above)


def _left_out(count: int) -> str:
    return "(1 further rule does not fit here)" if count == 1 else f"({count} further rules do not fit here)"
