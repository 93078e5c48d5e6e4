"""The same question as people put it: with an opening before it, or as the few words that one types into a search."""

from __future__ import annotations

import re

from recollect.text.terms import STOP_WORDS

#: It carries no meaning, so it should cost nothing.
OPENING = "Can you remind me: "

_KEYWORDS = 5
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_MORE = frozenset(["did", "does", "can", "could", "would", "should", "tell", "give", "say", "said"])


def with_opening(question: str, opening: str = OPENING) -> str:
    """The question after an opening."""
    return opening + question


def keywords(question: str) -> str:
    """The first five words that carry meaning; a question in a script without blanks stays as it is.

    >>> keywords("Which kind of flour did Mara's sister use for the bread in May?")
    'kind flour Mara sister use'
    """
    found = [_without_s(word) for word in _WORD.findall(question)]
    kept = [word for word in found if word.lower() not in STOP_WORDS | _MORE]
    return " ".join(kept[:_KEYWORDS]) or question


def _without_s(word: str) -> str:
    return re.sub(r"['’]s$", "", word)
