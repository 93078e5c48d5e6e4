"""Whether two facts contradict each other: other numbers about the same [3]."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from recollect.text.dates import named_dates
from recollect.text.quantities import Quantity, is_same, quantities
from recollect.text.terms import terms

_SHORTEST = 3  # letters of a word of a concept that counts
_ORDINAL = re.compile(r"(?<![\w.,/:-])(?P<number>\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
_LEAP_YEAR = 2000  # which has every day


def detect_contradiction(content_a: str, content_b: str, concept_a: str = "", concept_b: str = "") -> dict[str, Any]:
    """What contradicts, or {}: the concepts share a word, and each content has an amount that the other has not.

    >>> detect_contradiction("has 9 golds", "has 10 golds", "Klaebo medals", "Klaebo medals")
    {'contradiction': True, 'conflicting_values': '9 vs 10'}
    """
    if not _concept_words(concept_a) & _concept_words(concept_b):
        return {}
    own, other = amounts(content_a), amounts(content_b)
    only_own, only_other = _without(own, other), _without(other, own)
    if not only_own or not only_other:
        return {}
    counted_by = {(one.unit, one.per, one.currency) for one in (*only_own, *only_other)}
    bare = len(counted_by) == 1 and not only_own[0].currency
    told = f"{_listed(only_own, bare)} vs {_listed(only_other, bare)}"
    return {"contradiction": True, "conflicting_values": told}


def amounts(text: str) -> list[Quantity]:
    """The amounts in a text, and the numbers that ordinals count up to, but for days of a month.

    >>> [one.text for one in amounts("On May 9th he won his 10th of 12 medals")]
    ['10', '12']
    """
    found = quantities(text)
    ordinals = list(_ORDINAL.finditer(text))
    days = {span.start.day for span in named_dates(text, (_LEAP_YEAR,)) if span.start == span.end} if ordinals else ()
    for one in ordinals:
        number = one["number"]
        if int(number) not in days:
            found.append(Quantity(number, one.start(), one.end("number"), "number", (Decimal(number),)))
    return sorted(found, key=lambda one: one.start)


def _without(some: list[Quantity], others: list[Quantity]) -> list[Quantity]:
    return [one for one in some if not any(is_same(one, other) for other in others)]


def _listed(amounts: list[Quantity], bare: bool) -> str:
    """As they are written; `bare`: without their unit, which is the same for all of them."""
    return ", ".join(sorted({one.number if bare else one.text for one in amounts}))


def _concept_words(concept: str) -> set[str]:
    """Its words as they are and in their basic form."""
    words = {word for word in (concept or "").lower().split() if len(word) >= _SHORTEST}
    return words | {term for word in words for term in terms(word)}
