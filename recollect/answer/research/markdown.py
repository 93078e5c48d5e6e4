"""The report as Markdown: its sources at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.answer.evidence import Citation

_LONGEST = 200  # characters of a quote in the list of sources
_SHORT = 6  # characters of an id that tell it apart
_MEANS = re.compile(r"([\\`*_\[\]<>])")


def sources(citations: Sequence[Citation]) -> str:
    """The part that lists them: the words, who said them, where and when, and the end of the id that opens it."""
    return "\n".join(["## Sources", "", *map(_source, citations)]) if citations else ""


def plain(text: str) -> str:
    """A foreign text on one line, without what Markdown would read as its own."""
    return _MEANS.sub(r"\\\1", " ".join(text.split()))


def _source(citation: Citation) -> str:
    quote = " ".join(citation.quote.split())
    quote = quote if len(quote) <= _LONGEST else f"{quote[:_LONGEST].rstrip()}…"
    message, conversation = citation.message, citation.conversation
    where = [plain(citation.cited)] if citation.cited else [message.speaker or message.role.value]
    if conversation is not None:
        where += [f"“{plain(conversation.title)}”"] if conversation.title else []
        where += [plain(conversation.source)]
    when = message.timestamp
    where += [f"{when.day} {when:%B %Y}"] if when is not None else []
    return f"{citation.number}. “{plain(quote)}” — {', '.join(where)} · `{message.id[-_SHORT:]}`"
