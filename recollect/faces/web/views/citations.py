"""Answers and reports as a page shows them: steps so far, text with links, and sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from starlette.requests import Request

from recollect.answer.results import Again, AnswerWords, Step
from recollect.errors import NotFound
from recollect.faces.web.page import address
from recollect.faces.web.runs import RunEvent, WebRun
from recollect.faces.web.text.markdown import html
from recollect.faces.web.wording import inline, is_you, speaker
from recollect.search.results.snippet import readable
from recollect.text.markdown import code_blocks

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


def are_unchanged(memory: Memory, citations: Sequence[Citation]) -> bool:
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


def grouped_sources(request: Request, citations: Sequence[Citation]) -> list[SourceGroup]:
    """The sources, by conversation, in the order of their first numbers."""
    groups: dict[str, SourceGroup] = {}
    for citation in citations:
        conversation = citation.conversation
        key = conversation.id if conversation else citation.message.id
        if key not in groups:
            title = conversation.title if conversation else citation.cited
            href = source_address(request, citation)
            groups[key] = SourceGroup(title, conversation.source if conversation else "documents", href)
        groups[key].sources.append(_source(request, citation))
    return list(groups.values())


def source_address(request: Request, citation: Citation) -> str:
    """The address of the conversation or document of a citation."""
    if citation.conversation is None:
        return address(f"/document/{citation.message.id}", request)
    return address(f"/c/{citation.conversation.id}", request)


def quotation_address(request: Request, citation: Citation) -> str:
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
        quotation_address(request, citation),
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


_OPEN, _CLOSE = "\ue020", "\ue021"  # where numbers stand, while the text is drawn
_NO_SIGNS = {ord(_OPEN): None, ord(_CLOSE): None}
_CITE = re.compile(r"(?<!\]\()\[(\d{1,3})\](?!\()")
_CODE = re.compile(r"(<pre\b.*?</pre>|<code\b.*?</code>)", re.DOTALL)
_PLACED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")

_TICKS = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]*?(?<!`)\1(?!`))?")
_AFTER_LIST = re.compile(r"(^- .*\n)(?=[^\s\-`>|])", re.MULTILINE)
_BY = re.compile(r"^(- )?([^\n:]{1,60}?(?:, \d{1,2} [A-Z][a-z]+ \d{4})?(?:, “[^”\n]{1,100}”)?): (?=\S)", re.MULTILINE)


def answer_html(text: str, links: Mapping[int, str] | None = None) -> Markup:
    r"""The HTML of an answer. `links` are the addresses of what its numbers stand for; as long as they are not known,
    each number leads to its place among the sources.

    >>> str(answer_html("Postgres. [1]", {1: "/c/7Q2K"}))
    '<p>Postgres. <a class="cite" href="/c/7Q2K" data-source="1" aria-label="Source 1">1</a></p>\n'
    """

    def cite(found: re.Match[str]) -> str:
        number = int(found[1])
        if links is not None and number not in links:
            return f"[{number}]"
        href = escape(f"#s{number}" if links is None else links[number])
        return f'<a class="cite" href="{href}" data-source="{number}" aria-label="Source {number}">{number}</a>'

    drawn = html(_CITE.sub(rf"{_OPEN}\1{_CLOSE}", text.translate(_NO_SIGNS)), breaks=True)
    parts = _CODE.split(drawn)
    parts[::2] = [_PLACED.sub(cite, part) for part in parts[::2]]
    parts[1::2] = [_PLACED.sub(r"[\1]", part) for part in parts[1::2]]
    return Markup("".join(parts))


def extract_html(text: str, links: Mapping[int, str]) -> Markup:
    """The same of an answer in the words of the conversations: lists end where their lines do, who speaks is set
    apart, and a backtick that a quotation was cut at reaches no further than its line.
    """
    parts, at = list[str](), 0
    for block in code_blocks(text):
        parts += [_TICKS.sub(_within_line, text[at : block.start]), text[block.start : block.end]]
        at = block.end
    parts.append(_TICKS.sub(_within_line, text[at:]))
    return answer_html(_BY.sub(_spoken, _AFTER_LIST.sub(r"\1\n", "".join(parts))), links)


def with_caret(drawn: Markup) -> Markup:
    """An answer that is still being written: a caret stands behind its last word."""
    text = str(drawn).rstrip()
    body, end = (text[:-4], text[-4:]) if text.endswith("</p>") else (text, "")
    return Markup(f'{body}<span class="caret" aria-hidden="true"></span>{end}') if text else drawn


def _within_line(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > len(found[1]) else "\\`" * len(found[1])


def _spoken(found: re.Match[str]) -> str:
    return f"{found[1] or ''}**{found[2]}** "


@dataclass(frozen=True, slots=True)
class DisplayedStep:
    """A step as it is shown; the current one is not done yet."""

    words: str
    seconds: float
    current: bool = False


#: The words of a step, by its name.
Wording = Mapping[str, Callable[[str], str]]


def displayed_steps(run: WebRun, wording: Wording, following: Mapping[str, str]) -> list[DisplayedStep]:
    """The steps of a run. `following` says what is done after each of them, as long as the run is not over; after ""
    at the beginning.
    """
    shown: list[DisplayedStep] = []
    last, began = "", 0.0
    for told in run.events:
        if isinstance(told.event, Step):
            step = told.event
            shown.append(DisplayedStep(wording.get(step.name, str)(step.detail), told.at - began))
            last, began = step.name, told.at
        elif isinstance(told.event, Again):
            shown.append(DisplayedStep(f"{told.event.why} Asking again", told.at - began))
            began = told.at
    if run.ended is None and last in following:
        shown.append(DisplayedStep(following[last], run.seconds - began, current=True))
    return shown


def text_so_far(events: list[RunEvent]) -> str:
    """The text as far as it has come, since it was last begun."""
    parts: list[str] = []
    for told in events:
        if isinstance(told.event, AnswerWords):
            parts.append(told.event.text)
        elif isinstance(told.event, Again):
            parts = []
    return "".join(parts)
