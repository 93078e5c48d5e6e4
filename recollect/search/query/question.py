"""What is asked: a question read once, by rules, before anything is looked up."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from recollect.search.query import wants
from recollect.search.query.wants import META_TERMS, TimeOrder, without_meta, without_opening
from recollect.text.dates import DateSpan, named_dates
from recollect.text.language import is_english, is_foreign_script, is_sentence
from recollect.text.relative import relative_dates, with_year, without_relative
from recollect.text.terms import has_unspaced_script, terms

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
    order: TimeOrder | None = None
    dates: tuple[DateSpan, ...] = ()


def read_question(text: str, *, years: Sequence[int] = (), today: date | None = None) -> Question:
    """Reads a question, as asked on a day (today, unless told).

    A date without a year stands for that date in each of `years`, those of the history.
    """
    today = today or date.today()
    if len(text) > LONGEST_QUESTION:
        text = text[: max(text.rfind(" ", 0, LONGEST_QUESTION), LONGEST_QUESTION // 2)]
    asked = without_opening(text)
    english = is_english(asked)
    timeless = without_relative(asked, today, years)
    clean = timeless if terms(timeless) else asked
    clean = without_meta(clean) if english else clean
    every = tuple(dict.fromkeys(terms(clean)))
    telling = tuple(term for term in every if term not in META_TERMS)  # those about the asking, where two others remain
    dated = with_year(asked, today)
    spans = dict.fromkeys(named_dates(dated, years) + relative_dates(dated, today))
    return Question(
        text=text,
        clean=clean,
        terms=(telling if len(telling) >= 2 else every)[:MOST_TERMS],
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
        order=wants.read_order(asked) if english else None,
        dates=tuple(spans)[:_MOST_DATES],
    )


# People in a question: who is named in it, and the question as that person would have put it.

_SHORT = 3  # a name of up to three letters is found only as it is written: "Al", "Jo", "Bo"

#: First names that are English words too: alone they name somebody only where the sentence says so.
_WORDS_TOO_TEXT = """
    amber angel april art ash august autumn basil bill brook buck case chance chase chip cliff dawn drew earl eve faith
    fern flora forest frank ginger glen glory grace grant guy harmony hazel heath heather holly honey hope hunter iris
    ivy jade jewel joy june lane lily link major mark mason max may melody mercy merry miles misty norm olive page pansy
    patience pearl penny pepper pierce piper poppy precious ray red reed rich river rock rocky rose rosemary ruby rusty
    sage sandy saint savannah serenity sky skip sterling stone storm summer sunny trinity violet wade ward will willow
    winter wren young zion
"""
_WORDS_TOO = frozenset(_WORDS_TOO_TEXT.split())
_MONTHS_AND_SEASONS = frozenset({"april", "may", "june", "august", "summer", "autumn", "winter"})
#: What comes right before somebody's name, whatever its case: a noun would have an article there.
_BEFORE_A_NAME = re.compile(
    r"\b(?:do|does|did|is|was|has|had|hasn't|isn't|didn't|doesn't|wasn't|would|could|should)\s+$", re.IGNORECASE
)
#: What comes right after one at the beginning of a sentence: "Will said", "Rose and Ann", but not "Will he", "Mark it".
_AFTER_A_NAME = re.compile(
    r"['’]s\b|\s+(?:and\s+[A-Z]|is|was|has|had|does|did|said|says|told|asked|wants|wanted|likes|went|thinks|got)\b"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)[\"'“‘(]*$")
_BEFORE_A_DATE = re.compile(
    r"\b(?:in|during|since|until|by|last|next|this|every|early|late|mid|of)[\s-]+$", re.IGNORECASE
)
_AFTER_AN_ARTICLE = re.compile(r"\b(?:a|an|the|this|that|my|our|your|its?|every|one)\s+$", re.IGNORECASE)
_LOOKED_BACK = 40  # characters


def named(question_clean: str, names: Collection[str]) -> dict[str, int]:
    """Which people are named, by full or first name: the name, and the character where it first stands.

    Names that are words too ("Will", "Rose", "Bill") count only where the sentence makes them names.

    >>> named("Did Ann visit Bob Miller?", ["Bob Miller", "Ann", "Cleo"])
    {'Bob Miller': 14, 'Ann': 4}
    """
    lowered = question_clean.lower()
    found: dict[str, int] = {}
    for name in names:
        places = [_place(form, question_clean) for form in _forms(name) if form.lower() in lowered]
        if there := [place for place in places if place is not None]:
            found[name] = min(there)
    return found


def without_names(question_clean: str, names: Collection[str]) -> str:
    """The question with the people's names as those people speak of themselves: "X's" becomes "my", "X" becomes "I".

    >>> without_names("What is Ann's dog called, and where did Ann find it?", ["Ann"])
    'What is my dog called, and where did I find it?'
    """
    for name in names:
        for form in _forms(name):
            if form in question_clean:
                bounded = _bounded(form)
                question_clean = re.sub(rf"\b{re.escape(form)}['’]s\b", "my", question_clean)
                question_clean = re.sub(bounded, "I", question_clean)
    return question_clean


def _forms(name: str) -> list[str]:
    """Full name and first name, the longer first."""
    first = name.split()[:1]
    return sorted({name, *first}, key=len, reverse=True) if first else []


def _place(form: str, text: str) -> int | None:
    found = re.finditer(_bounded(form), text, re.IGNORECASE if len(form) > _SHORT else re.NOFLAG)
    is_word = form.lower() in _WORDS_TOO
    return next((match.start() for match in found if not is_word or _is_name(match, text)), None)


def _is_name(match: re.Match[str], text: str) -> bool:
    """Whether a word that is a name too is one here."""
    start, end = match.span()
    before, word, after = text[max(0, start - _LOOKED_BACK) : start], match[0], text[end : end + _LOOKED_BACK]
    if word.lower() in _MONTHS_AND_SEASONS and (_BEFORE_A_DATE.search(before) or re.match(r",?\s*\d", after)):
        return False
    if not word[0].isupper():
        owns = after.startswith(("'s", "’s")) and not _AFTER_AN_ARTICLE.search(before)
        return owns or bool(_BEFORE_A_NAME.search(before))
    return not _SENTENCE_START.search(before) or bool(_AFTER_A_NAME.match(after)) or not after.strip(" ?!.")


def _bounded(form: str) -> str:
    """A pattern for the name as a whole word, where its script has blanks between words."""
    return re.escape(form) if has_unspaced_script(form) else rf"\b{re.escape(form)}\b"
