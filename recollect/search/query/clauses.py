"""Times that a question tells by what happened: "before we moved", "since the wedding", "the first time".

English rules, for what is in the past: "before it is served" is a recipe, and names no time. What happened is looked up
in the memory (moments.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from recollect.search.query.phrasing import words_of
from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY


class Side(StrEnum):
    """Where the time that is meant lies from what happened."""

    BEFORE = "before"
    AFTER = "after"
    SINCE = "since"
    UNTIL = "until"

    @property
    def is_later(self) -> bool:
        """Whether it begins with what happened, rather than ends."""
        return self in (Side.AFTER, Side.SINCE)


class Order(StrEnum):
    """Which of several times is meant."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Clause:
    """What happened, as a question says it: "we moved to Porto", "the wedding"."""

    side: Side
    words: str


_SIDES = {
    "before": Side.BEFORE,
    "prior to": Side.BEFORE,
    "until": Side.UNTIL,
    "till": Side.UNTIL,
    "up to": Side.UNTIL,
    "after": Side.AFTER,
    "following": Side.AFTER,
    "once": Side.AFTER,
    "since": Side.SINCE,
    "ever since": Side.SINCE,
}
# A pattern is compiled by the first question that has one of its words: a process that searches once has none to lose.
_SIDE_WORDS = frozenset(side.split()[0] for side in _SIDES)
_SIDE = rf"(?P<side>{'|'.join(sorted(map(re.escape, _SIDES), key=len, reverse=True))})"

_IRREGULAR = """
    was were had did went came left got began became bought brought built broke chose cut died felt found forgot gave
    grew hired hit hurt kept lost made met paid put quit ran read said sat saw sent set shut sold spent spoke stood took
    taught told thought tore threw understood woke won wore wrote
"""
_PAST = rf"(?:\w{{2,}}ed|{'|'.join(_IRREGULAR.split())})"
_OWN = r"(?:my|our|his|her|their|the|that|[A-Z][\w’'-]*(?:'s|’s|s'|s’))"
_WHO = (
    rf"(?:I|we|he|she|they|it|you|{_OWN} (?:[\w’-]+ ){{0,2}}?[\w’-]+|[A-Z][\w’-]*(?: [A-Z][\w’-]*)?(?: and [A-Z]\w+)?)"
)
_ADVERB = r"(?:(?:first|last|finally|actually|both|all|just|\w+ly) )?"
#: Somebody did something: "we moved to Porto", "my brother got married", "Ann first visited".
_DID = rf"(?P<did>{_WHO} {_ADVERB}{_PAST}\b[^,;:?!.\"“”]*)"
_NO_EVENT = (
    "one|fact|same|way|day|time|moment|point|beginning|end|while|second|minute|hour|night|week|month|year|morning"
    "|evening|afternoon|attempt|few|others?|rest"
)
#: Something that was: "the wedding", "my trip to Japan", "Anna’s surgery".
_WAS = rf"(?P<was>{_OWN} (?!(?:(?:first|second|third|last|next) )?(?:{_NO_EVENT})\b)[\w’-]+[^,;:?!.\"“”]*)"

_WH = r"(?:what|which|who|whom|where|when|why|how)"
_ASKS = rf"(?:{_WH}|did|do|does|was|were|is|are|have|has|had|can|could|should)"
#: "named after her mother", "how long until": no time that something else lies before or after.
_NOT_AFTER = r"(?<!named )(?<!called )(?<!look )(?<!looks )(?<!looked )(?<!looking )(?<!how long )(?<!just )"
_CLAUSE = rf"(?<![\w-]){_NOT_AFTER}(?i:{_SIDE}) (?:{_DID}|{_WAS})"
#: Where what happened ends, and the rest of the question goes on.
_OTHER_TIME = r"\s+(?:before|after|since|until|about|regarding)\s|\s+and$"
_NEXT = {
    "did": rf"(?i)\s+(?:and )?{_WH}\b(?=.* \w)|{_OTHER_TIME}",
    "was": rf"(?i)\s+(?:and )?{_ASKS}\b(?=.* \w)|{_OTHER_TIME}",
}
#: What is asked now, or in general: nothing of a time that was.
_TIMELESS = (
    r"(?i)^\W*(?:please )?(?:how (?:do|should|can|could|would) (?:i|you|we|one)\b|should\b|what should\b|is it\b)"
)
_MOST_WORDS, _FEWEST_LETTERS = 12, 3


def read_clause(question: str) -> Clause | None:
    """What happened before or after the time that a question means; None where it names nothing of the kind.

    >>> read_clause("What did we use for notes before we moved to Porto?").words
    'we moved to Porto'
    >>> read_clause("How long should the dough rest before I shape it?") is None
    True
    """
    if not _SIDE_WORDS & words_of(question) or re.match(_TIMELESS, question):
        return None
    for match in re.finditer(_CLAUSE, question):
        group = "did" if match["did"] else "was"
        words = match[group]
        if cut := re.compile(_NEXT[group]).search(words, 4):
            words = words[: cut.start()]
        if 1 < len(words.split()) <= _MOST_WORDS and len(words) >= _FEWEST_LETTERS:
            return Clause(_SIDES[match["side"].lower()], words.strip())
    return None


_UNITS = rf"night|day|week|weekend|month|year|{ANY_SEASON}|{ANY_WEEKDAY}|{ANY_MONTH}|name|\d"
_TALK = "(?:time|conversation|chat|talk|discussion|meeting|session|mention)"
_SUBJECT = r"(?!(?:my|our|your|his|her|their|its|the|an?)\b)[\w'-]+(?:\ and\ [\w'-]+)?"
_WE = "(?:i|we|you|he|she|they)"
_OF_THE_LATEST = "(?:on|about|from|news|state|status|update|decision|plan|version)"
_FIRST = rf"""(?xi)
      (\b(?:the|my|our|that)\ (?:very\ )?first\ {_TALK}s?\b)
    | (\bat\ first\b | \binitially\b | \boriginally\b | \bin\ the\ beginning\b(?!\ of) | \bto\ begin\ with\b)
    | \b(?:did|have|has|had)\ {_SUBJECT}\ ((?:ever\ )?first)\ [a-z]+
    | \b{_WE}\ (first)\ [a-z]+
"""
_LAST = rf"""(?xi)
      (\b(?:the|my|our)\ (?:very\ )?(?:last|latest|most\ recent)\ {_TALK}s?\b)
    | (\bmost\ recently\b | \blately\b)
    | \bthe\ (latest|most\ recent)\ {_OF_THE_LATEST}\b
    | \b(?:did|have|has|had)\ {_SUBJECT}\ (last)\ (?!{_UNITS})[a-z]+
    | \bwhen\ (?:was|were)\ .*\ (last)\ (?!{_UNITS})[a-z]+
    | \b{_WE}\ (last)\ (?!{_UNITS})[a-z]+
"""
_FIRST_WORDS = frozenset({"first", "initially", "originally", "beginning", "begin"})
_LAST_WORDS = frozenset({"last", "latest", "recent", "recently", "lately"})


def read_order(question: str) -> Order | None:
    """Whether the first or the last of several times is meant: "when did we first", "most recently".

    >>> read_order("When did I last bake bread?"), read_order("What did I say last night?")
    (<Order.LAST: 'last'>, None)
    """
    words = words_of(question)
    if _FIRST_WORDS & words and re.search(_FIRST, question):
        return Order.FIRST
    return Order.LAST if _LAST_WORDS & words and re.search(_LAST, question) else None
