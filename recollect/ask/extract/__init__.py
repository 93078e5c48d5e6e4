"""The answer where no model is asked: the best sentences, as they were said, put together by intent [0]."""

from __future__ import annotations

from recollect.ask.evidence import Evidence
from recollect.ask.extract.choosing import MOST_CITED, Chooser, Draft, best_quote
from recollect.ask.extract.code import code
from recollect.ask.extract.decision import decision
from recollect.ask.extract.overview import retrieval, synthesis
from recollect.ask.extract.telling import Group, tell
from recollect.ask.intents import Intent

__all__ = ["Draft", "best_quote", "extract"]

_BY_SCORE = 0.15  # what a point of the search's score is worth, when the best quote is put first


def extract(evidence: Evidence) -> Draft:
    """At most 120 words of the best passages with at most 5 citations; code is given in whole blocks."""
    chooser = Chooser(evidence)
    return _WAYS.get(evidence.intent, _answer)(chooser)


def _answer(chooser: Chooser) -> Draft:
    """What says most on the question first."""
    quotes = chooser.each(chooser.evidence.passages)[:MOST_CITED]
    ranked = sorted(quotes, key=lambda quote: -(quote.worth + _BY_SCORE * quote.passage.score))
    fitted = chooser.within(ranked)
    return tell([Group(fitted)], times=chooser.scale.question.asks_when)


_WAYS = {
    Intent.DECISION: decision,
    Intent.CODE_LOOKUP: code,
    Intent.SYNTHESIS: synthesis,
    Intent.RETRIEVAL: retrieval,
}
