"""Code as it was written: the block that fits best with its language, what introduces it, and where it stands."""

from __future__ import annotations

from recollect.ask.extract import showing
from recollect.ask.extract.choosing import MOST_CITED, Chooser
from recollect.ask.extract.quote import Draft, Quote, speaker_of
from recollect.ask.extract.spans import Kind
from recollect.ask.extract.telling import by_nearness, tell
from recollect.record import NodeId
from recollect.text.terms import words

_BLOCKS = 2
_LONGEST = 4_000  # characters of a block that is shown whole
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
            if one.span.kind is Kind.CODE and len(one.text) <= _LONGEST:
                worth = one.worth + 0.5 * whole - 0.05 * place + (0.3 if one.span.language in asked else 0.0)
                quote = Quote(passage, message, one.span, (one.span.start, one.span.end), worth, one.share)
                found.append((worth, quote))
    found.sort(key=lambda pair: -pair[0])
    best = [pair for pair in found[:_BLOCKS] if pair[0] >= _SECOND * found[0][0]]
    return [quote for _, quote in best]


def _shown(block: Quote, number: int) -> str:
    """The block as it was written, behind what introduces it."""
    content, span = block.message.content, block.span
    lead = showing.plain(content[slice(*span.lead)]) if span.lead else ""
    when = showing.day(block.message.timestamp)
    title = block.passage.conversation.title if block.passage.conversation else ""
    head = ", ".join(filter(None, (speaker_of(block), when, f"“{showing.plain(title)}”" if title else "")))
    fence = "````" if "```" in block.message.content[span.start : span.end] else "```"
    lines = content[content.rfind("\n", 0, span.start) + 1 : span.end] if span.start else content[: span.end]
    return f"{head}{': ' + lead if lead else ':'} [{number}]\n{fence}{span.language}\n{lines}\n{fence}"
