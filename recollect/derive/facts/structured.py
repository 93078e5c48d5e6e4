"""The value of a fact in figures: doses, test results, sums, amounts and dates, with their units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from recollect.text.dates import DateSpan, exact_dates, named_dates
from recollect.text.quantities import Quantity, quantities

_DOSE, _RESULT = "dose", "result"
_LEAP_YEAR = 2000  # has every day that a date without a year may name
_FEW_WORDS = 4
_NO_AMOUNTS = ("version of ", "name")  # attributes
_RESULTS = re.compile(r"\b(?:results?|levels?|tests?|counts?)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_][\w .()-]*?[ :=]+(?:is |was |of )?$")


@dataclass(frozen=True, slots=True)
class Structured:
    """A value in figures. `kind` is "dose", "result", "money", "date", or what is measured ("mass", "duration").

    `numbers` are one, or the two ends of a range; `unit` with `per` is "mg" per "day"; `of` is the medicine or what was
    tested. A `date` is an ISO date, month or year; "--05-03" has no year.
    """

    kind: str
    numbers: tuple[float, ...] = ()
    unit: str = ""
    per: str = ""
    currency: str = ""
    of: str = ""
    date: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "kind": self.kind,
            "numbers": list(self.numbers),
            "unit": self.unit,
            "per": self.per,
            "currency": self.currency,
            "of": self.of,
            "date": self.date,
        }


def structured(attribute: str, value: str) -> Structured | None:
    """A value in figures; None where it is words.

    >>> structured("medication", "fluoxetine 15 mg")
    Structured(kind='dose', numbers=(15,), unit='mg', per='', currency='', of='fluoxetine', date='')
    >>> structured("birthday", "3 May").date
    '--05-03'
    """
    if not any(map(str.isdigit, value)) or attribute.lower().startswith(_NO_AMOUNTS):
        return None
    if dated := _date(value):
        return Structured("date", date=dated)
    found = quantities(value)
    if len(found) != 1 or not found[0].numbers:
        return None
    one = found[0]
    before, after = value[: one.start], value[one.end :].strip(" .,;")
    name = before.strip(" :=").removesuffix(" is").removesuffix(" was")
    if (before.strip() and not _NAME.match(before)) or len(name.split()) > _FEW_WORDS:
        return None
    if after.startswith("of ") and not name:
        name, after = after.removeprefix("of "), ""
    if after and not after.startswith("("):
        return None
    subject = attribute.lower()
    if subject.startswith(f"{_DOSE} of "):
        return _of(one, _DOSE, name or attribute[len(f"{_DOSE} of ") :])
    if subject == "medication" and one.unit:
        return _of(one, _DOSE, name)
    if one.kind == "concentration" or _RESULTS.search(attribute) or (name.isupper() and one.kind == "number"):
        return _of(one, _RESULT, name or attribute)
    return _of(one, one.kind, "") if not name else None


def _of(one: Quantity, kind: str, name: str) -> Structured:
    numbers = tuple(int(number) if number == number.to_integral_value() else float(number) for number in one.numbers)
    return Structured(kind, numbers, one.unit, one.per, one.currency, name)


def _date(value: str) -> str:
    """The one date that a value names; nothing where it names none, or several."""
    spans = exact_dates(value) or named_dates(value)
    if not spans:
        figures = [one.date for one in quantities(value) if one.kind == "date"]
        spans = tuple(DateSpan(day, day) for day in figures if day is not None)
    if len(set(spans)) == 1:
        start, end = spans[0].start, spans[0].end
        length = len("2000-01-01") if start == end else len("2000-01") if start.month == end.month else len("2000")
        return start.isoformat()[:length]
    days = {span.start for span in named_dates(value, (_LEAP_YEAR,)) if span.start == span.end} if not spans else set()
    return f"-{days.pop().isoformat()[4:]}" if len(days) == 1 else ""
