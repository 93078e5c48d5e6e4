"""The answer where no model is set: it says so, and gives the messages that may answer, as they were said."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.chat.retrieve import Source
from recollect.model.transcript import heading

#: What is said first.
NO_MODEL = "No language model is set, so here is what may answer:"
#: What is said where there are none.
NOTHING = "No language model is set, and the memory holds nothing near this."

_MOST = 5
_LONGEST = 600  # characters of a message


def told(sources: Sequence[Source]) -> str:
    """The messages in words, best first."""
    if not sources:
        return NOTHING
    parts = [NO_MODEL]
    for source in sources[:_MOST]:
        text = " ".join(source.message.content.split())
        if len(text) > _LONGEST:
            text = " ".join(source.snippet.split())[:_LONGEST]
        parts.append(f"[{source.number}] {_told_of(source)}:\n{text}")
    return "\n\n".join(parts)


def _told_of(source: Source) -> str:
    if source.cited:
        return f"document {source.cited!r}"
    return heading(source.message) + (f" in {source.title!r}" if source.title and not source.is_own else "")
