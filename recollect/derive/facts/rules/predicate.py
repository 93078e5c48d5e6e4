"""What a predicate is, and the pieces that patterns are made of: dates, times, doses.

The words before the patterns are in one form: "am", "are" and "have been" are "is", "have" is "has", adverbs are gone.
In a pattern `v` is the value, up to where it ends by itself; `a` makes part of the attribute, `d` is a dose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect.derive.facts.claim import Category, Polarity
from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY, SHORT_MONTHS
from recollect.text.quantities import NUMBER


@dataclass(frozen=True, slots=True)
class Predicate:
    """What may be said of somebody. `several`: the value may be a list of values. `only`: of "people", or of all."""

    pattern: re.Pattern[str]
    attribute: str
    check: Callable[[str], bool] | None = None
    several: bool = False
    exact: bool = False  # the value is what `v` matched, and not trimmed
    clause: bool = False  # the value is all of the clause from where `v` begins
    most_words: int = 6
    category: Category = Category.SEMANTIC
    polarity: Polarity = Polarity.IS
    only: str = ""


def predicate(pattern: str, attribute: str, check: Callable[[str], bool] | None = None, **more: Any) -> Predicate:
    """A predicate by its pattern."""
    capitals = re.sub(r"\[A-Z(?:À-ÖØ-Þ)?\]", r"(?-i:\g<0>)", pattern)  # a capital is one, whatever the case of the rest
    return Predicate(re.compile(capitals, re.IGNORECASE), attribute, check, **more)


def capital(value: str) -> bool:
    """Whether it is a name."""
    return value[0].isupper()


#: An amount, or a range.
AMOUNT = rf"{NUMBER}(?:\s?[-–]\s?{NUMBER})?"

DOSE = rf"{AMOUNT}\s?(?:mg|mcg|µg|ug|g|ml|mL|IU|units?|tablets?|pills?|drops?|puffs?|capsules?)(?:/day|/kg)?"

_MONTH = rf"(?:(?:{ANY_MONTH})\b|(?:{'|'.join(SHORT_MONTHS)})\b\.?)"

WEEKDAY = f"(?:{ANY_WEEKDAY})"

DATE = rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}})"

WHEN = rf"\b(?:(?:on |at |for |in |this |next |until )?(?:{DATE}|{WEEKDAY}s?|{_MONTH}(?: \d{{4}})?)|tomorrow|tonight|next (?:week|weekend|month|year|{ANY_SEASON})|this (?:coming )?(?:weekend|{ANY_SEASON})|in (?:two|three|four|\d+) (?:days|weeks|months)|(?:19|20)\d\d-\d\d-\d\d)"
