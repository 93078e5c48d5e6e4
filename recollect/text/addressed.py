"""Facts about the person whose memory it is, said to that person."""

from __future__ import annotations

import re

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
