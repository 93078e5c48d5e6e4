"""Whom or what a fact is about: names in its concept and its words, by how they are written [3]."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.compat.hierarchical.similarity import STOP_WORDS
from recollect.derive.facts.rules.subjects import is_name

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\-][^\W\d_]+)*")
_CONTRACTION = re.compile(r"['\u2019](?:t|s|re|ve|ll|d|m)$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['\u2019]s$", re.IGNORECASE)
_SHORTEST = 3  # letters of a single name


def extract_entity_name(content: str, concept: str = "") -> str:
    """The name that a fact is about, in lower case; "" where there is none. The concept goes before the content.

    The longest of names of several words, or with a hyphen or an apostrophe; else the first word that begins with a
    capital letter. At the beginning of the content a single one tells nothing; at that of a concept it does.

    >>> extract_entity_name("Klaebo won 10 gold medals", "Klaebo medals")
    'klaebo'
    >>> extract_entity_name("The city of Paris is beautiful")
    'paris'
    """
    for text, is_label in ((concept, True), (content, False)):
        names = list(_names(text))
        full = [name for name, _, is_full in names if is_full]
        if full:
            return max(full, key=len).lower()
        for name, begins, _ in names:
            if (is_label or not begins) and len(name) >= _SHORTEST:
                return name.lower()
    return ""


def leading_name(content: str, concept: str = "") -> str:
    """The name that a text begins with, in lower case; "" where a word has its capital for being the first.

    >>> leading_name("Norway won 15 medals", "medals"), leading_name("Medals: 15", "medals")
    ('norway', '')
    """
    name = next((name for name, begins, _ in _names(content) if begins), "")
    return name.lower() if is_name(name) and not _words(name) & _in_small(f"{content} {concept}") else ""


def are_of_others(content_a: str, content_b: str, concept_a: str = "", concept_b: str = "") -> bool:
    """Whether two texts begin with the names of different ones, neither of which is in the other text.

    >>> are_of_others("Norway won 15 medals", "Sweden won 5 medals", "medals", "medals")
    True
    """
    one, other = leading_name(content_a, concept_a), leading_name(content_b, concept_b)
    return bool(one and other) and not (_words(one) & _words(content_b) or _words(other) & _words(content_a))


def _words(text: str) -> set[str]:
    return {_POSSESSIVE.sub("", word.lower()) for word in _WORD.findall(text)}


def _in_small(text: str) -> set[str]:
    return {word for word in _WORD.findall(text) if word.islower()}


def names_in(query: str) -> list[str]:
    """The names that a question may ask for, in lower case; of one without capital letters its longer words.

    >>> names_in("How many medals does Klaebo have?")
    ['klaebo']
    """
    named = [name.lower() for name, _, _ in _names(query) if len(name) >= _SHORTEST]
    if not named:
        words = (_POSSESSIVE.sub("", word.lower()) for word in _WORD.findall(query))
        named = [word for word in words if len(word) > _SHORTEST and word not in STOP_WORDS]
    return list(dict.fromkeys(named))


def _names(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Runs of capitalized words: the name, whether the text begins with it, whether it is more than a single word."""
    run: list[str] = []
    begins, end = False, 0
    for found in [*_WORD.finditer(text), None]:
        word = found.group() if found else ""
        follows = bool(found) and text[end : found.start()].isspace() if found else False
        if run and not (_is_capital(word) and follows):
            yield _name(run), begins, len(run) > 1 or bool(re.search(r"['\u2019\-]", run[0]))
            run = []
        if found and _is_capital(word) and (run or word.lower() not in STOP_WORDS):
            begins = begins if run else not text[: found.start()].strip()
            run.append(_POSSESSIVE.sub("", word))
        end = found.end() if found else end
        if run and found and _POSSESSIVE.search(word):  # what is somebody's is not part of the name
            yield _name(run), begins, len(run) > 1 or "-" in run[0]
            run = []


def _name(run: list[str]) -> str:
    return " ".join(run).replace("\u2019", "'")


def _is_capital(word: str) -> bool:
    return bool(word) and word[0].isupper() and (_POSSESSIVE.search(word) is not None or not _CONTRACTION.search(word))
