"""What is asked: a question read once, by rules, before anything is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from recollect.search.query import wants
from recollect.search.query.phrasing import META_TERMS, without_meta, without_opening
from recollect.search.query.wants import TimeOrder
from recollect.text.dates import DateSpan, named_dates
from recollect.text.language import is_english, is_foreign_script, is_sentence
from recollect.text.relative import relative_dates, with_year, without_relative
from recollect.text.terms import terms

#: What is longer was pasted: it is read so far, which is enough to find where it came from.
LONGEST_QUESTION = 2_000
#: More different terms would make a search slower, and no better.
MOST_TERMS = 100
_MOST_DATES = 50


@dataclass(frozen=True, slots=True)
class Question:
    """A question, as far as it is read, and what it wants. The wants are rules of English: all False for one in another
    language.

    `clean` is the question without what it says about the asking, `terms` its index terms, each once. Vectors of the
    packaged models mean nothing where `is_foreign_script`.
    """

    text: str
    clean: str
    terms: tuple[str, ...]
    is_english: bool
    is_foreign_script: bool = False
    is_sentence: bool = False
    is_personal: bool = False
    asks_when: bool = False
    asks_how_many: bool = False
    asks_where: bool = False
    asks_assistant: bool = False
    wants_summary: bool = False
    is_how_to: bool = False
    asks_ever: bool = False
    order: TimeOrder | None = None
    dates: tuple[DateSpan, ...] = ()


def read_question(text: str, *, years: Sequence[int] = (), today: date | None = None) -> Question:
    """Reads a question, as asked on a day (today, unless told).

    A date without a year stands for that date in each of `years`, those of the history.
    """
    today = today or date.today()
    text = _cut(text)
    asked = without_opening(text)
    english = is_english(asked)
    timeless = without_relative(asked, today, years)
    clean = _clean(timeless if terms(timeless) else asked, english)
    return Question(
        text=text,
        clean=clean,
        terms=_sought_terms(clean),
        is_english=english,
        is_foreign_script=is_foreign_script(clean),
        is_sentence=is_sentence(asked),
        is_personal=english and wants.speaks_of_asker(asked),
        asks_when=english and wants.asks_when(asked),
        asks_how_many=english and wants.asks_how_many(asked),
        asks_where=english and wants.asks_where(asked),
        asks_assistant=english and wants.asks_assistant(asked),
        wants_summary=english and wants.wants_summary(asked),
        is_how_to=english and wants.is_how_to(asked),
        asks_ever=english and wants.asks_ever(asked),
        order=wants.read_order(asked) if english else None,
        dates=_dates(asked, years, today),
    )


def _clean(text: str, english: bool) -> str:
    return without_meta(text) if english else text


def _cut(text: str) -> str:
    if len(text) <= LONGEST_QUESTION:
        return text
    return text[: max(text.rfind(" ", 0, LONGEST_QUESTION), LONGEST_QUESTION // 2)]


def _dates(text: str, years: Sequence[int], today: date) -> tuple[DateSpan, ...]:
    text = with_year(text, today)
    return tuple(dict.fromkeys(named_dates(text, years) + relative_dates(text, today)))[:_MOST_DATES]


def _sought_terms(clean: str) -> tuple[str, ...]:
    """The index terms, each once, without those about the asking where two others remain."""
    every = tuple(dict.fromkeys(terms(clean)))
    telling = tuple(term for term in every if term not in META_TERMS)
    return (telling if len(telling) >= 2 else every)[:MOST_TERMS]
