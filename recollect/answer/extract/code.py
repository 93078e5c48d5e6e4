"""Code as it was written: the block that fits best with its language, what introduces it, and where it stands."""

from __future__ import annotations

import re

from recollect.answer.extract import showing
from recollect.answer.extract.choosing import MOST_CITED, Chooser
from recollect.answer.extract.quote import Draft, Quote, speaker_of
from recollect.answer.extract.spans import Place, QuoteSpan, SpanKind
from recollect.answer.extract.telling import by_nearness, tell
from recollect.record import NodeId
from recollect.text.terms import words

_TICKS = re.compile(r"`{3,}")
_BLOCKS = 2
_LONGEST = 4_000  # characters of a block that are shown
_SECOND = 0.75  # of the worth of the first block, what a second must have to be shown
_WORDS = 100  # of prose


def code(chooser: Chooser) -> Draft:
    """The best blocks, at most two, and in a few words what else was found."""
    blocks = _blocks(chooser)
    used = {block.message.id for block in blocks}
    rest = chooser.within(chooser.quotes(MOST_CITED - len(blocks), used), _WORDS)
    shown = [_shown(block, number) for number, block in enumerate(blocks, 1)]
    citations = tuple(block.citation(number) for number, block in enumerate(blocks, 1))
    after = tell(by_nearness(rest), first=len(blocks) + 1)
    return Draft("\n\n".join(filter(None, (*shown, after.text))), (*citations, *after.citations))


def _blocks(chooser: Chooser) -> list[Quote]:
    asked = frozenset(words(chooser.evidence.question))
    found: list[tuple[float, Quote]] = []
    seen: set[NodeId] = set()
    for place, (passage, message) in enumerate(chooser.pool()):
        if message.id in seen:
            continue
        seen.add(message.id)
        told = chooser.scale.weigh(message)
        whole = max((one.worth for one in told if one.prose), default=0.0)
        for one in told:
            if one.span.kind is SpanKind.CODE:
                worth = one.worth + 0.5 * whole - 0.05 * place + (0.3 if one.span.language in asked else 0.0)
                quote = Quote(passage, message, one.span, _place(message.content, one.span), worth, one.share)
                found.append((worth, quote))
    found.sort(key=lambda pair: -pair[0])
    best = [pair for pair in found[:_BLOCKS] if pair[0] >= _SECOND * found[0][0]]
    return [quote for _, quote in best]


def _place(content: str, span: QuoteSpan) -> Place:
    """Of a long block the first lines."""
    if span.end - span.start <= _LONGEST:
        return span.start, span.end
    end = content.rfind("\n", span.start, span.start + _LONGEST)
    return span.start, end if end > span.start else span.start + _LONGEST


def _shown(block: Quote, number: int) -> str:
    """The block as it was written, behind what introduces it; of a long one how much of it that is."""
    content, span = block.message.content, block.span
    lead = showing.plain(content[slice(*span.lead)]) if span.lead else ""
    when = showing.day(block.message.timestamp)
    title = block.passage.conversation.title if block.passage.conversation else ""
    head = ", ".join(filter(None, (speaker_of(block), when, f"“{showing.plain(title)}”" if title else "")))
    start, end = block.place
    lines = content[content.rfind("\n", 0, start) + 1 if start else 0 : end]
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(lines))])
    shown, of = lines.count("\n") + 1, span.of(content).count("\n") + 1
    more = f"\n({shown} of {of} lines)" if end < span.end else ""
    return f"{head}{': ' + lead if lead else ':'} [{number}]\n{fence}{span.language}\n{lines}\n{fence}{more}"
