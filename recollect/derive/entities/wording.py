"""Words that begin with a capital and name nothing: weekdays, greetings, what sentences and lists begin with."""

from __future__ import annotations

from functools import cache

from recollect.text.terms import STOP_WORDS
from recollect.text.words import word_lists

_CALENDAR, _NAMES, _OPENINGS = word_lists("calendar"), word_lists("names"), word_lists("openings")

TIMES = frozenset[str]().union(*(_CALENDAR[name] for name in _CALENDAR if name != "times in any language"))
NATIONS = frozenset(_NAMES["nations"])
GREETINGS, LABELS = frozenset(_OPENINGS["greetings"]), frozenset(_OPENINGS["labels"])
#: What is no part of a name, wherever it stands.
CUTS = (TIMES | GREETINGS | NATIONS | STOP_WORDS) - {"of", "the", "for", "new", "best", "us"}
#: What names nothing alone.
NEVER = CUTS | LABELS | frozenset({"of", "the", "for", "new"})

TITLES = frozenset(_NAMES["titles"])
#: Small words within a name: University of Porto, Vincent van Gogh, Bodega do Mar.
WITHIN = frozenset(_NAMES["within names"])

_FIRST_WHOLE_WORD = 1_996  # before it stand signs and single letters
_FREQUENT = 8_000  # behind it stand most names of people and places


@cache
def ordinary_words() -> frozenset[str]:
    """English words that are frequent enough to begin any sentence, and names among them: what a capital alone cannot
    make a name at the beginning of one. The packaged tokenizer's vocabulary stands in order of frequency.
    """
    from recollect.models.embedding.tokenizer import vocabulary

    return frozenset(
        word
        for word, number in vocabulary().items()
        if number >= _FIRST_WHOLE_WORD and word.isascii() and word.isalpha()
    )


@cache
def frequent_words() -> frozenset[str]:
    """The most frequent of the ordinary words: a capital in the midst of a sentence makes no name of them either."""
    from recollect.models.embedding.tokenizer import vocabulary

    return frozenset(word for word, number in vocabulary().items() if _FIRST_WHOLE_WORD <= number < _FREQUENT)


@cache
def _ordinary_stems() -> frozenset[str]:
    from recollect.text.terms import stemmed

    return frozenset(stemmed(sorted(ordinary_words())))


@cache
def is_ordinary(word_lower: str) -> bool:
    """Whether this is a plain English word, in any of its forms: what a capital alone makes no name of at the beginning
    of a sentence.
    """
    if "'" in word_lower or "’" in word_lower:
        return True
    if "-" in word_lower:
        return all(map(is_ordinary, word_lower.split("-")))
    from recollect.text.terms import stemmed

    if word_lower in ordinary_words():
        return True
    stems = stemmed([word_lower])
    return not stems or stems[0] in _ordinary_stems()
