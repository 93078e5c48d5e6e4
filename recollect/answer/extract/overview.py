"""What was said on a subject, by conversation and in the order of time; and which conversations spoke of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from recollect.answer.extract import showing
from recollect.answer.extract.choosing import MOST_WORDS, Chooser
from recollect.answer.extract.quote import Draft, Quote
from recollect.answer.extract.telling import QuoteGroup, tell

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
