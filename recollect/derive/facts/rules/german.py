"""A few plain German sentences, which are cheap to read with certainty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.derive.facts.rules.found import RuleMatch

_NAME = r"[A-ZÄÖÜ][a-zäöüß-]+"
_RELATIONS = {
    "Tochter": "daughter", "Sohn": "son", "Frau": "wife", "Mann": "husband", "Schwester": "sister", "Bruder": "brother",
    "Mutter": "mother", "Vater": "father", "Freundin": "girlfriend", "Freund": "boyfriend", "Hund": "dog",
    "Hündin": "dog", "Katze": "cat", "Kater": "cat", "Pferd": "horse",
}  # fmt: skip
_RELATED = re.compile(rf"\b[Mm]eine? (?P<rel>{'|'.join(_RELATIONS)}) heißt (?P<v>{_NAME})")
_PATTERNS = (
    (re.compile(rf"^(?:Also )?[Ii]ch bin allergisch gegen (?P<v>{_NAME}(?: und {_NAME})?)(?=[.,!]|$)"), "allergy"),
    (re.compile(rf"^[Ii]ch (?:wohne|lebe) (?:jetzt )?in (?P<v>{_NAME})(?=[.,! ]|$)"), "home"),
    (re.compile(rf"^[Ii]ch (?:bin|wohne) .{{0,20}}nach (?P<v>{_NAME}) (?:gezogen|umgezogen)"), "home"),
    (re.compile(r"^[Ii]ch arbeite bei (?P<v>[A-ZÄÖÜ][\wÄÖÜäöüß&.-]*)(?=[.,! ]|$)"), "employer"),
    (re.compile(r"^[Ii]ch bin (?P<v>\d{1,3}) Jahre alt"), "age"),
    (re.compile(rf"^[Ii]ch heiße (?P<v>{_NAME})(?=[.,! ]|$)"), "name"),
    (re.compile(r"^[Ii]ch bin (?P<v>Vegetarier(?:in)?|Veganer(?:in)?)(?=[.,!]|$)"), "diet"),
)


def found(text: str, who: str) -> Iterator[RuleMatch]:
    """What the sentence says in these forms."""
    if not _GERMAN.search(text):
        return
    for pattern, attribute in _PATTERNS:
        if match := pattern.search(text):
            for value in re.split(r" und ", match["v"]):
                yield RuleMatch(who, attribute, value, rest=text)
    for match in _RELATED.finditer(text):
        yield RuleMatch(who, _RELATIONS[match["rel"]], match["v"], rest=text)


_GERMAN = re.compile(r"\b(?:[Ii]ch (?:bin|wohne|lebe|arbeite|heiße)|[Mm]eine? \w+ heißt)\b")
