"""The extract for each kind of question: code, a decision with its reasons, an overview, or the best sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from recollect.answer.evidence import Evidence, SourcePassage
from recollect.answer.extract import quotes as showing
from recollect.answer.extract.choosing import MOST_CITED, MOST_WORDS, Chooser, in_succession
from recollect.answer.extract.quotes import ALSO, Draft, Quote, QuoteGroup, by_nearness, speaker_of, tell
from recollect.answer.extract.weighing import CAUSE, CHOICE, REASON, Place, QuoteSpan, SpanKind
from recollect.answer.intents import Intent
from recollect.record import Message, NodeId, Role
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


# Why something was chosen: the choice first, then the reasons that were given, in the words of the time.

_CHOSEN, _OWN, _LENT = 0.5, 0.3, 0.5  # what a choice gains, one of one's own, and one where the talk is about it
_THERE, _PLAIN, _AFTER, _LEAST = 0.35, 0.15, 0.15, 0.2  # near the choice, plainly a reason, said later; the least worth
_ABOUT = 0.6  # of the question's words that any talk holds, what that of the choice must hold at least
_REASONS = 3
_CLOSE = 3  # messages before and after what names the subject, in which it may go without its name
_NEAR = 12  # messages before and after the choice in which its reasons are looked for


def decision(chooser: Chooser) -> Draft:
    """The choice, its reasons, and what else may tell."""
    choice = _choice(chooser)
    if choice is None:
        return tell(by_nearness(chooser.within(chooser.quotes())))
    reasons = _reasons(chooser, choice)
    used = {choice.message.id, *(reason.message.id for reason in reasons)}
    rest = chooser.quotes(MOST_CITED - 1 - len(reasons), used)
    fitted = chooser.within([choice, *reasons, *rest])
    why = {reason.message.id for reason in reasons}
    groups = [QuoteGroup([one]) for one in fitted if one.message.id == choice.message.id]
    if given := [one for one in fitted if one.message.id in why]:
        groups.append(QuoteGroup(given, "Reasons:"))
    if also := [one for one in fitted if one.message.id not in used]:
        groups.append(QuoteGroup(also, ALSO))
    return tell(groups)


def _choice(chooser: Chooser) -> Quote | None:
    """What says what was chosen: its own words need not name it, where the talk is about it."""
    shares = _shares(chooser)
    most = max((share for _, _, share in shares), default=0.0)
    best: tuple[float, Quote | None] = (0.0, None)
    for place, (passage, message) in enumerate(chooser.pool()):
        there = _lent(chooser, passage, message, shares)
        for one in chooser.scale.weigh(message):
            if not one.prose or not CHOICE.search(one.text) or max(one.share, there) < _ABOUT * most or not most:
                continue
            own = _OWN if message.role is Role.USER else 0.0
            worth = one.worth + _LENT * max(0.0, there - one.share) + _CHOSEN + own - 0.02 * place
            if worth > best[0]:
                best = (worth, chooser.quote(passage, one))
    return best[1]


def _shares(chooser: Chooser) -> list[tuple[NodeId, int, float]]:
    """Where it is spoken of: conversation, position, and how much of the question's words are said there."""
    told = [(passage.message, chooser.scale.best(passage.message)) for passage in chooser.evidence.passages]
    return [(m.conversation_id, m.position, best.share) for m, best in told if best is not None]


def _lent(
    chooser: Chooser, passage: SourcePassage, message: Message, shares: Sequence[tuple[NodeId, int, float]]
) -> float:
    """How much the talk around a message has to do with the question: by its title, or by what was said close by."""
    title = passage.conversation.title if passage.conversation is not None else ""
    close = (s for there, at, s in shares if there == message.conversation_id and abs(at - message.position) <= _CLOSE)
    return max(chooser.scale.share(title), *close, 0.0)


def _reasons(chooser: Chooser, choice: Quote) -> list[Quote]:
    """The sentences that give reasons, those near the choice first, one of a message, the best first."""
    best: dict[NodeId, tuple[float, Quote]] = {}
    most = max((share for _, _, share in _shares(chooser)), default=0.0)
    there, at = choice.message.conversation_id, choice.message.position
    for passage, message in chooser.pool():
        near = message.conversation_id == there and abs(message.position - at) <= _NEAR
        for one in chooser.scale.weigh(message):
            if message.id == choice.message.id or not one.prose or not REASON.search(one.text):
                continue
            plain = bool(CAUSE.search(one.text))
            if one.worth < _LEAST or not (near or (plain and one.share >= _ABOUT * most)):
                continue
            worth = one.worth + _THERE * near + _PLAIN * plain - _AFTER * (near and message.position > at)
            if message.id not in best or best[message.id][0] < worth:
                best[message.id] = (worth, chooser.quote(passage, one))
    ranked = sorted(best.values(), key=lambda pair: -pair[0])
    return [quote for _, quote in ranked[:_REASONS]]


# What was said on a subject, by conversation and in the order of time; and which conversations spoke of it.

_EVER = datetime.max.replace(tzinfo=UTC)


def synthesis(chooser: Chooser) -> Draft:
    """The best of each conversation, the earliest conversation first."""
    quotes = _quotes(chooser)
    groups = sorted(_by_conversation(quotes), key=lambda group: _time(group[0]))
    return tell([_group(sorted(group, key=_order)) for group in groups])


def retrieval(chooser: Chooser) -> Draft:
    """The conversations, the best first, each with what it says."""
    return tell([_group(group) for group in _by_conversation(_quotes(chooser))])


def _quotes(chooser: Chooser) -> list[Quote]:
    """What is quoted, as long as the headings leave room for."""
    quotes = chooser.quotes()
    headings = sum(showing.size(_group(group).heading) for group in _by_conversation(quotes))
    return chooser.within(quotes, MOST_WORDS - min(headings, MOST_WORDS // 2))


def _by_conversation(quotes: Sequence[Quote]) -> list[list[Quote]]:
    groups: dict[str, list[Quote]] = {}
    for quote in quotes:
        groups.setdefault(quote.message.conversation_id, []).append(quote)
    return list(groups.values())


def _group(quotes: Sequence[Quote]) -> QuoteGroup:
    c = quotes[0].passage.conversation
    if c is None:
        return QuoteGroup(quotes)
    told = filter(None, (c.source, showing.day(c.created or quotes[0].message.timestamp)))
    days = {showing.day(quote.message.timestamp) for quote in quotes}
    return QuoteGroup(quotes, f"{showing.plain(c.title) or '(no title)'} ({', '.join(told)}):", len(days) == 1)


def _time(quote: Quote) -> datetime:
    c = quote.passage.conversation
    return quote.message.timestamp or (c.created if c is not None else None) or _EVER


def _order(quote: Quote) -> tuple[str, int]:
    return quote.message.conversation_id, quote.message.position


_NEAREST, _NEAREST_WORDS = 3, 72


def extract(evidence: Evidence) -> Draft:
    """At most 120 words of the best passages with at most 5 citations; code is given in whole blocks."""
    chooser = Chooser(evidence)
    return _WAYS.get(evidence.intent, _answer)(chooser)


def nearest(evidence: Evidence) -> Draft:
    """What is nearest where nothing answers."""
    chooser = Chooser(evidence)
    return tell([QuoteGroup(chooser.within(chooser.quotes(_NEAREST), _NEAREST_WORDS))])


def _answer(chooser: Chooser) -> Draft:
    """What a fact says, and what it said before; then what says most on the question."""
    known = chooser.known()
    told = {quote.message.id for quote in known}
    quotes = in_succession([*known, *chooser.quotes(MOST_CITED - len(known), told)])
    return tell(by_nearness(chooser.within(quotes)))


_WAYS = {
    Intent.DECISION: decision,
    Intent.CODE_LOOKUP: code,
    Intent.SYNTHESIS: synthesis,
    Intent.RETRIEVAL: retrieval,
}
