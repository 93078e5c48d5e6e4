"""Words that begin with a capital and name nothing: weekdays, greetings, what sentences and lists begin with."""

from __future__ import annotations

from functools import cache

from recollect.text.stopwords import STOP_WORDS

_TIMES = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january
    february march april may june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec spring summer autumn fall winter today tomorrow yesterday tonight morning afternoon evening am
    pm a.m p.m gmt utc pst est cst pdt edt cet bst q1 q2 q3 q4 h1 h2
"""
_HOLIDAYS = "christmas easter thanksgiving halloween eve valentine's valentine year's mother's father's day"
_GREETINGS = """
    hi hello hey dear thanks thank cheers bye goodbye congrats congratulations welcome sorry please ok okay yes no
    yeah yep nope wow oh ah aha haha hahaha lol omg hmm hm um uh mm mhm mm-hmm uh-huh uh-oh yay aww aw ooh oops ouch
    yup yikes btw fyi imo imho tbh idk asap rsvp ps p.s nb tl;dr tldr eta faq diy aka etc e.g i.e regards sincerely
    xoxo xx lmao
"""
_LABELS = """
    step note tip example examples question answer part section chapter option phase week day month year table
    figure summary conclusion introduction overview total input output result results expected actual todo fixme
    warning error info debug pros cons goal goals purpose action actions item items topic subject title name date
    time location type status priority version description user assistant system human ai model bot true false null
    none nan undefined level scenario task tasks problem solution reason steps tips key main additional final first
    second third next last appendix stage method approach strategy activity exercise lesson module unit session
    function class method return def import const var let select from where insert update delete create shared photo
    image sister brother uncle aunt auntie mom mum mommy mama dad daddy papa grandma grandpa granny nana mother
    father son daughter sir madam ma'am mr mrs ms miss dr prof coach teacher boss chef captain doctor nurse manager
    director i i'm i'll i've i'd im ive god lord jesus earth sun moon internet pdf url id ids api apis ui ux ceo cto
    cfo hr pr qa http https gpa cv atm gps wifi wi-fi tv pc ok usb hd vs pto kpi roi usd eur gbp rmb cny
"""
_NATIONS = """
    american british english french german spanish italian portuguese chinese japanese korean russian dutch swedish
    danish norwegian finnish polish czech greek turkish arabic hebrew indian mexican brazilian canadian australian
    african asian european western eastern latin irish scottish welsh thai vietnamese cantonese mandarin hindi
    christian muslim jewish buddhist hindu catholic protestant
"""

TIMES = frozenset(_TIMES.split())
GREETINGS = frozenset(_GREETINGS.split())
NATIONS = frozenset(_NATIONS.split())
LABELS = frozenset(_LABELS.split())
#: What is no part of a name, wherever it stands.
CUTS = (TIMES | GREETINGS | NATIONS | STOP_WORDS | frozenset(_HOLIDAYS.split())) - {
    "of",
    "the",
    "for",
    "new",
    "best",
    "us",
}
#: What names nothing alone.
NEVER = CUTS | LABELS | frozenset({"of", "the", "for", "new"})

_TITLES = """
    mr mrs ms miss dr prof professor sir madam captain uncle aunt auntie coach sister brother master grandma grandpa
    teacher director manager
"""
TITLES = frozenset(_TITLES.split())
#: Small words within a name: University of Porto, Vincent van Gogh, Bodega do Mar.
_WITHIN = "of the de del della di da do dos das du van von der den la le el al bin ibn y and & for"
WITHIN = frozenset(_WITHIN.split())

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
