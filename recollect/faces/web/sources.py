"""The sources of an answer: messages and documents, grouped by conversation, with the exact sentence marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.requests import Request

from recollect.errors import NotFound
from recollect.faces.web.inline import inline
from recollect.faces.web.page import address
from recollect.faces.web.wording import is_you, speaker
from recollect.search.results.readable import readable

if TYPE_CHECKING:
    from recollect.answer.evidence import Citation
    from recollect.memory import Memory

_BESIDE = 140  # characters on either side of the sentence
_LONGEST = 420  # characters of a sentence
_LEAD = re.compile(r"^\s*(?:[-*+>]|#{1,6}|\d{1,2}\.)\s+")  # of an item or a heading


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """A message that is cited: where it is, who said it and when, and the words, the sentence marked."""

    number: int
    href: str
    words: Markup
    by: str
    is_you: bool
    time: datetime | None


@dataclass(slots=True)
class SourceGroup:
    """The sources of one conversation or document."""

    title: str
    source: str
    href: str
    sources: list[SourceExcerpt] = field(default_factory=list)


def hold(memory: Memory, citations: Sequence[Citation]) -> bool:
    """Whether everything that is cited is in the memory as it was: messages, and parts of documents."""
    said = [one.message for one in citations if one.conversation is not None]
    there = {message.id: message for message in memory.messages([message.id for message in said])}
    return all(
        (found := there.get(message.id)) is not None and not found.deleted and found.content == message.content
        for message in said
    ) and all(_is_in_document(memory, one) for one in citations if one.conversation is None)


def _is_in_document(memory: Memory, citation: Citation) -> bool:
    try:
        text = memory.document(citation.message.id).content
    except NotFound:
        return False
    return text.startswith(citation.message.content, citation.offset)


def grouped(request: Request, citations: Sequence[Citation]) -> list[SourceGroup]:
    """The sources, by conversation, in the order of their first numbers."""
    groups: dict[str, SourceGroup] = {}
    for citation in citations:
        conversation = citation.conversation
        key = conversation.id if conversation else citation.message.id
        if key not in groups:
            title = conversation.title if conversation else citation.cited
            href = whole(request, citation)
            groups[key] = SourceGroup(title, conversation.source if conversation else "documents", href)
        groups[key].sources.append(_source(request, citation))
    return list(groups.values())


def whole(request: Request, citation: Citation) -> str:
    """The address of the conversation or document of a citation."""
    if citation.conversation is None:
        return address(f"/document/{citation.message.id}", request)
    return address(f"/c/{citation.conversation.id}", request)


def place(request: Request, citation: Citation) -> str:
    """The address of the very sentence."""
    message = citation.message
    if citation.conversation is None:
        return address(
            f"/document/{message.id}#at", request, at=citation.place, to=citation.place + len(citation.quote)
        )
    span = f"{citation.start}-{citation.end}"
    return address(f"/c/{citation.conversation.id}#m-{message.id}", request, at=message.id, span=span)


def _source(request: Request, citation: Citation) -> SourceExcerpt:
    message, conversation = citation.message, citation.conversation
    return SourceExcerpt(
        citation.number,
        place(request, citation),
        _words(citation),
        speaker(message, conversation.source) if conversation else "Document",
        conversation is not None and is_you(message),
        message.timestamp,
    )


def _words(citation: Citation) -> Markup:
    """The sentence marked, with a few words of its paragraph on either side."""
    text, start, end = citation.message.content, citation.start, citation.end
    quote = readable(text[start:end])
    if len(quote) > _LONGEST:
        quote = f"{quote[:_LONGEST].rsplit(' ', 1)[0]} …"
    before = text[max(0, start - _BESIDE) : start].rpartition("\n")[2]
    if start > _BESIDE and "\n" not in text[start - _BESIDE : start]:
        before = "… " + before.partition(" ")[2]
    after = text[end : end + _BESIDE].partition("\n")[0]
    if len(after) == _BESIDE:
        after = after.rpartition(" ")[0] + " …"
    before = _LEAD.sub("", before)
    return inline(before + quote + after, [(len(before), len(before) + len(quote))])


def as_text(text: str, citations: Sequence[Citation]) -> str:
    """An answer with its sources, for the clipboard."""
    lines = [text, ""] if citations else [text]
    for one in citations:
        named = one.cited if one.conversation is None else one.conversation.title or "(no title)"
        when = f", {one.message.timestamp:%Y-%m-%d}" if one.message.timestamp else ""
        lines.append(f"[{one.number}] {named}{when}: “{' '.join(one.quote.split())}” ({one.message.id})")
    return "\n".join(lines)
