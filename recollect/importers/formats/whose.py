"""Whose words a message holds, where the format does not say it but the message shows it."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.record import Kind, Part, PartKind


def said_or_done(content: str, parts: Sequence[Part], calls: Sequence[object]) -> Kind:
    """The kind of a message of one of the two sides: said, unless it holds nothing but calls, or but thoughts."""
    if content.strip() or any(part.kind is not PartKind.REASONING for part in parts):
        return Kind.SAID
    if calls:
        return Kind.TOOL
    return Kind.REASONING if parts else Kind.SAID
