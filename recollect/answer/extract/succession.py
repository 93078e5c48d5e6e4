"""What was said of one thing at different times with different figures: the latest holds, and the others held before.

Facts tell this of what they know ("lives in Porto"); this tells it of any state that is said in the same words again:
"the deductible is 300 euros", and in May "the deductible is now 500 euros".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.answer.extract import showing
from recollect.answer.extract.quote import Quote
from recollect.answer.extract.signs import FIGURE, PASSING, STATE
from recollect.record import Role, iso
from recollect.text.terms import terms

_SAME = 0.7  # of the words but figures, what two statements have in common at least (Jaccard)
_LONGEST = 24  # words: what is longer says more than one thing


def in_succession(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, those of one state together and told with the time from which each held, the latest first."""
    told, left = list[Quote](), list(quotes)
    while left:
        first = left.pop(0)
        same = [other for other in left if _succeeds(first, other)]
        left = [other for other in left if other not in same]
        if not same:
            told.append(first)
            continue
        states = sorted([first, *same], key=lambda quote: iso(quote.message.timestamp) or "", reverse=True)
        told += [_since(quote, "Before that, since" if place else "Since") for place, quote in enumerate(states)]
    return told


def _since(quote: Quote, since: str) -> Quote:
    return replace(quote, instead=f"{since} {showing.day(quote.message.timestamp)}: “{quote.text}”", is_near=False)


def _succeeds(one: Quote, other: Quote) -> bool:
    """Whether both say of the same thing how it is, with other figures, on different days."""
    if not (_is_state(one) and _is_state(other)) or _day(one) == _day(other):
        return False
    words = [frozenset(term for term in terms(quote.text) if not term[0].isdigit()) for quote in (one, other)]
    figures = [frozenset(FIGURE.findall(quote.text)) for quote in (one, other)]
    return figures[0] != figures[1] and len(words[0] & words[1]) >= _SAME * len(words[0] | words[1])


def _is_state(quote: Quote) -> bool:
    """Whether the asker said how something is, rather than how it was or is today."""
    text = quote.text
    return (
        quote.message.role is Role.USER
        and quote.message.timestamp is not None
        and not (quote.instead or quote.asked)
        and showing.size(text) <= _LONGEST
        and bool(FIGURE.search(text) and STATE.search(text))
        and not PASSING.search(text)
    )


def _day(quote: Quote) -> str:
    return showing.day(quote.message.timestamp)
