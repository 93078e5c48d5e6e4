"""People in a question: who is named in it, and the question as that person would have put it."""

from __future__ import annotations

import re
from collections.abc import Collection

from recollect.text.terms import has_unspaced_script

_SHORT = 3  # a name of up to three letters is found only as it is written: "Al", "Jo", "Will" are words too


def named(question_clean: str, names: Collection[str]) -> dict[str, int]:
    """Which people are named, by full or first name: the name, and the character where it first stands.

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
    match = re.search(_bounded(form), text, re.IGNORECASE if len(form) > _SHORT else re.NOFLAG)
    return match.start() if match else None


def _bounded(form: str) -> str:
    """A pattern for the name as a whole word, where its script has blanks between words."""
    return re.escape(form) if has_unspaced_script(form) else rf"\b{re.escape(form)}\b"
