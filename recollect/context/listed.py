"""Lines of what is derived, as a part of a context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.context.budget import PER_ENTRY, tokens_in
from recollect.context.result import ContextPart
from recollect.record import NodeId


@dataclass(frozen=True, slots=True)
class ListedLine:
    """What is told of a node. Lines stand in the order of their places."""

    id: NodeId
    text: str
    place: tuple[int, int, str]


def part_of(name: str, heading: str, lines: Sequence[ListedLine]) -> ContextPart | None:
    """These lines below their heading; None where there are none."""
    if not lines:
        return None
    ordered = sorted(lines, key=lambda line: line.place)
    text = "\n".join([heading, *(line.text for line in ordered)])
    return ContextPart(name, text, tokens_in(text) + PER_ENTRY, tuple(line.id for line in ordered))
