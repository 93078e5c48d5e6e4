"""Whether a text is English, and whether it is a sentence, told by small words and letters: no model is needed."""

from __future__ import annotations

import re
from enum import IntFlag
from functools import cache

from recollect.text.terms import AUXILIARIES, PRONOUNS, QUESTION_WORDS, STOP_WORDS, fold, words
from recollect.text.words import word_lists

_LANGUAGES = {name: frozenset(small_words) for name, small_words in word_lists("languages").items()}
_ENGLISH = frozenset(word for word in STOP_WORDS if word.isalpha()) | _LANGUAGES.pop("English")
_MAKE_A_SENTENCE = PRONOUNS | AUXILIARIES | QUESTION_WORDS
_LAST_LATIN = "\u024f"
_END_A_SENTENCE = (".", "!", "?", "。", "！", "？", "؟", "۔", "।")

_FOREIGN = tuple(_LANGUAGES.values())
#: Frequent small words of all these languages, English apart; folded.
FOREIGN_SMALL_WORDS = frozenset[str]().union(*_FOREIGN)

#: All of these, English ones too, as surface words: what no phrase begins or ends with.
SMALL_WORDS = _ENGLISH.union(*_FOREIGN)


def is_english(text: str) -> bool:
    """Whether the text is English rather than anything else.

    Its small words decide. Without any, or where they speak for both, it is English unless it has letters beyond ASCII.

    >>> is_english("nginx 502"), is_english("Wo ist mein Rad?"), is_english("What does 重跑 mean?")
    (True, False, True)
    """
    found = frozenset(words(text))
    english = len(found & _ENGLISH)
    foreign = _most_small_words(found) + sum(not fold(word).isascii() for word in text.split())
    if text.isascii():
        return foreign <= max(english, 1)  # one alone is hardly evidence: "la la land"
    if english != foreign:
        return english > foreign
    return not any(char.isalpha() and not char.isascii() for char in text)


def is_sentence(text: str) -> bool:
    """Whether somebody wrote a sentence, rather than a few words to look for.

    >>> is_sentence("when did we move"), is_sentence("Wo ist mein Rad"), is_sentence("nginx 502 on restart")
    (True, True, False)
    """
    if text.rstrip().endswith(_END_A_SENTENCE):
        return True
    found = frozenset(words(text))
    return bool(found & _MAKE_A_SENTENCE) or (not is_english(text) and _most_small_words(found) >= 2)


def is_foreign_script(text: str) -> bool:
    """Whether most letters are not Latin: the packaged models have read hardly anything else.

    >>> is_foreign_script("我的 nginx 配置文件在哪里"), is_foreign_script("What does 重跑 mean?")
    (True, False)
    """
    letters = [char for char in fold(text) if char.isalpha()]
    return 2 * sum(char > _LAST_LATIN for char in letters) > len(letters)


def _most_small_words(found: frozenset[str]) -> int:
    return max(len(found & small_words) for small_words in _FOREIGN)


# What can be told of a message at a glance, as bits made once at import: no search reads texts for it.

#: Of longer texts only so many characters of the beginning and of the end are looked at.
LOOKED_AT = 20_000


class Flag(IntFlag):
    """What a message is or has. The values are stored: they never change."""

    QUESTION = 1  # ends with a question mark
    TIME = 2  # names a day, month, year or other time
    NUMBER = 4  # has a figure or a number word
    PLACE = 8  # has a capitalised word inside a sentence, as names of places are
    INSTRUCTION = 16  # a standing instruction: "always", "from now on"
    PREFERENCE = 32  # states a preference: "I prefer", "rather than"
    NEVER = 64  # says that something has not been: "never", "haven't"
    DATE = 128  # is a date and nothing else, as titles are that nobody chose
    SECRET = 256  # holds a key, a token or a password, or a part of one (recollect.text.secrets)


def flags(text: str) -> Flag:
    """The flags of a message but SECRET, for which all of a text is looked at. The words are English, question marks of
    any script.
    """
    seen = text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"
    found = int(Flag.QUESTION) if seen.rstrip().endswith(_QUESTION_MARKS) else 0
    if re.search(_PLACE, seen):
        found |= Flag.PLACE
    lowered = seen.lower()  # twice as fast as patterns that ignore case
    if len(seen) <= _LONGEST_DATE and re.fullmatch(_DATE, lowered):
        found |= Flag.DATE
    if re.match(_INSTRUCTION_AT_ONCE, lowered):
        found |= Flag.INSTRUCTION
    for flag, pattern, cues in _signs():
        if (not cues or any(cue in lowered for cue in cues)) and pattern.search(lowered):
            found |= flag
    return Flag(found)


_QUESTION_MARKS = ("?", "？", "؟", "⁇", "\u037e")  # the last is the Greek one

_WEEKDAYS = "|".join(word_lists("calendar")["weekdays"])
_MONTHS = "|".join(name for name in word_lists("calendar")["months"] if name != "may")
_SEASONS = "summer|winter|spring|fall"
_SPANS = "week|weekend|month|year"
_UNITS = "days|weeks|months|years"

# Each begins with the first letters of all that follows: most words are passed over at once.
_TIME = rf"""\b(?=[\dadfijlmnorstwy])(?:
    yesterday | today | tonight | tomorrow | ago | recently | since | weekend
  | last\ (?:{_SPANS}|night|{_SEASONS}|{_WEEKDAYS})
  | next\ (?:{_SPANS}|{_SEASONS})
  | this\ (?:{_SPANS}|morning|summer)
  | {_WEEKDAYS} | {_MONTHS} | in\ may
  | (?:19|20)\d\d
  | (?:a\ few|\d+)\ (?:{_UNITS})
)\b"""

_NUMBER = r"""\b(?:
    \d+ | one | two | three | four | five | six | seven | eight | nine | ten | twelve
  | dozen | couple | several | hundred | thousand | once | twice
)\b"""

_PLACE = "[A-Z](?<=[a-z,;:] .)[a-z]"  # begins with the capital: all other characters are passed over at once

_INSTRUCTION_AT_ONCE = r"(?:please )?(?:always|never)\b"

_INSTRUCTION = r"""\b(?=[fikrw])(?:
    from\ now\ on
  | when(?:ever)?\ i\ ask
  | in\ (?:the\ )?future\ (?:answers|responses|messages|conversations)
  | remember\ (?:to|that)
  | keep\ in\ mind
)\b"""

_PREFERENCE = r"""\b(?=[imr])(?:
    i(?:'d|\ would|\ really|\ also|\ usually|\ generally)*\ (?:prefer|rather|avoid|favou?r)
  | i(?:'m|\ am)\ (?:(?:more\ )?(?:comfortable|inclined)|not\ comfortable)
  | i\ (?:don't|do\ not)\ (?:like|want)
  | i(?:'ve)?\ (?:decided|chose|chosen)
  | my\ preference | instead\ of | rather\ than
)\b"""

_NEVER = r"\b(?:never|haven't|have\ not|not\ yet)\b"

_LONGEST_DATE = 60  # characters
# What it can read it reads in one way only: in several, a long number that is no date would be tried for ever.
_DATE = rf"""(?x)
    (?=[^\W_]) (?=.*\d) (?=.*(?:[a-z]{{3}} | \d{{4}} | \d[:./-]\d))
    (?: [\W_\d] | (?<=\d)(?:st|nd|rd|th) | {_WEEKDAYS} | {_MONTHS} | may | [ap]\.?m | of | on | at | the
      | (?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|t|z|utc|gmt)(?![a-z]) )+
"""


# One of these stands in whatever the pattern finds. Most messages hold none, which is told in a tenth of the time.
_INSTRUCTION_CUES = ("from now on", " i ask", " future ", "remember t", "keep in mind")
_PREFERENCE_CUES = (
    *("prefer", "rather", "avoid", "favo", "comfortable", "inclined", "i don't", "i do not"),
    *("decided", "chose", "instead of"),
)
_NEVER_CUES = ("never", "haven't", "have not", "not yet")


@cache
def _signs() -> tuple[tuple[int, re.Pattern[str], tuple[str, ...]], ...]:
    """Flags, their patterns and cues. Compiled by who first reads a message: a search reads none, and takes longer to
    start than to search.
    """
    return (
        (Flag.TIME.value, re.compile(_TIME, re.VERBOSE), ()),
        (Flag.NUMBER.value, re.compile(_NUMBER, re.VERBOSE), ()),
        (Flag.INSTRUCTION.value, re.compile(_INSTRUCTION, re.VERBOSE), _INSTRUCTION_CUES),
        (Flag.PREFERENCE.value, re.compile(_PREFERENCE, re.VERBOSE), _PREFERENCE_CUES),
        (Flag.NEVER.value, re.compile(_NEVER, re.VERBOSE), _NEVER_CUES),
    )


# Facts about the person whose memory it is, said to that person.

_OF_THE_USER = re.compile(r"^The user's ")
_THE_USER = re.compile(r"^The user ([a-z]+)\b")
_IRREGULAR = {"is": "are", "has": "have", "was": "were", "does": "do", "goes": "go", "isn't": "aren't"}
_HISSING = ("sses", "shes", "ches", "xes", "zzes", "oes")


def addressed(content: str) -> str:
    """The same with "you" where it is clear how that is said, else as it is.

    >>> addressed("The user's brother is Anders."), addressed("The user likes Tidepool.")
    ('Your brother is Anders.', 'You like Tidepool.')
    >>> addressed("The user studies law."), addressed("The user always takes the train.")
    ('You study law.', 'The user always takes the train.')
    """
    if _OF_THE_USER.match(content):
        return _OF_THE_USER.sub("Your ", content)
    found = _THE_USER.match(content)
    verb = None if found is None else _second_person(found[1])
    return content if found is None or verb is None else f"You {verb}{content[found.end() :]}"


def _second_person(verb: str) -> str | None:
    """The verb as it stands after "you"; None for what may be no verb."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ed"):
        return verb
    if not verb.endswith("s") or verb.endswith(("ss", "us", "ways")):
        return None
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(_HISSING) else verb[:-1]
