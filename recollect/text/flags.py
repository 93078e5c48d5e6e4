"""What can be told of a message at a glance, as bits made once at import: no search reads texts for it."""

from __future__ import annotations

import re
from enum import IntFlag
from functools import cache

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

_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASONS = "summer|winter|spring|fall"
_SPANS = "week|weekend|month|year"
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
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
