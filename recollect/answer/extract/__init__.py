"""Answers without a language model: the best sentences, quoted, arranged by intent [0]."""

from __future__ import annotations

from recollect.answer.evidence import Evidence
from recollect.answer.extract.choosing import MOST_CITED, Chooser, in_succession
from recollect.answer.extract.drafts import code, decision, retrieval, synthesis
from recollect.answer.extract.quotes import Draft, QuoteGroup, best_quote, by_nearness, tell
from recollect.answer.intents import Intent

__all__ = ["Draft", "best_quote", "extract", "nearest"]

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
