"""Whom a clause is about: oneself, one's own people and animals, somebody named, or the one just spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from recollect.text.dates import MONTHS, WEEKDAYS
from recollect.text.words import word_lists

_FAMILY = word_lists("family")
_SHE, _HE, _EITHER, _PLURAL = (_FAMILY[name] for name in ("she", "he", "either", "several"))
_ANIMALS = _FAMILY["animals"]
_KIND_OF = {word: kind for kind in ("dog", "cat", "rabbit") for word in _FAMILY[f"{kind}s"]}
_ONE_OF = {
    "kids": "child",
    "children": "child",
    "kid": "child",
    **{f"{one}s": one for one in ("daughter", "son", "sister", "brother", "twin")},
}

#: The words for one's own people and animals.
ONES_OWN = ("best friend", "guinea pig", *_SHE, *_HE, *_EITHER, *_ANIMALS)
_animals = "|".join(["guinea pig", *_ANIMALS, *_KIND_OF])
PEOPLE = "|".join(("best friend", *_SHE, *_HE, *_EITHER, *_PLURAL))
ANIMAL = rf"(?:(?:[a-z]+ ){{0,2}}(?:{_animals}))"
_WHICH = "older younger little big eldest youngest oldest twin late new first second".split()
#: What is one's own, by the word for it.
OWN = rf"(?:(?:{' |'.join(_WHICH)} )*(?:{PEOPLE})|{ANIMAL})"

NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[a-zà-öø-ÿ]+(?:-[A-ZÀ-ÖØ-Þ]?[a-zà-öø-ÿ]+)?"
#: Capitalised words at the start of a clause that are no names.
_NO_NAMES = frozenset(MONTHS + WEEKDAYS + word_lists("names")["no names"])


@dataclass(slots=True)
class Known:
    """Who was spoken of: a pronoun means the only one whose sex fits, and nobody where there are two."""

    who: list[tuple[str, str]] = field(default_factory=list)  # name of the entity, "he", "she" or ""

    def add(self, entity: str, sex: str = "") -> None:
        """Takes note of somebody."""
        self.who = [(name, s) for name, s in self.who if name != entity]
        self.who.append((entity, sex))

    @property
    def names(self) -> frozenset[str]:
        """Those who have a name."""
        return frozenset(name for name, _ in self.who if name[:1].isupper())

    def meant(self, pronoun: str) -> str | None:
        """Whom a pronoun means, or nobody where it is not sure."""
        fitting = [name for name, sex in self.who if sex in ("", pronoun)]
        return fitting[-1] if len(fitting) == 1 else None


def ones_own(who: str) -> Iterator[str]:
    """What somebody's people and animals are called where they have no name: "user's dog", "user's little sister"."""
    for word in (*ONES_OWN, *_PLURAL):
        yield f"{who}'s {word}"
        yield from (f"{who}'s {which} {word}" for which in _WHICH)


def sex_of(relation: str) -> str:
    """The pronoun for a relation; empty where it may be either.

    >>> sex_of("wife"), sex_of("dog")
    ('she', '')
    """
    last = relation.lower().split()[-1]
    return "she" if last in _SHE else "he" if last in _HE else ""


def is_animal(relation: str) -> bool:
    """Whether the word is one for an animal."""
    return bool(re.fullmatch(ANIMAL, relation.lower()))


def relation_of(word: str) -> str:
    """The attribute under which somebody's name is kept: "golden retriever" is a dog, "kids" are children.

    >>> relation_of("golden retriever"), relation_of("younger brother"), relation_of("Kids")
    ('dog', 'brother', 'child')
    """
    last = word.lower().split()[-1]
    if word.lower().endswith("guinea pig"):
        return "guinea pig"
    return _KIND_OF.get(last) or _ONE_OF.get(last) or last


def is_name(word: str) -> bool:
    """Whether a capitalised word may be a name."""
    return bool(word) and word[0].isupper() and word.split()[0].lower().removesuffix("'s") not in _NO_NAMES


_EXPANSIONS = (
    (re.compile("[’‘ʼ]"), "'"),
    (re.compile(r"(?:(?<=^)|(?<=[\s,;:(]))[Ii]m\b(?= )"), "I am"),
    (re.compile(r"\b[Ii]ve\b(?= )"), "I have"),
    (re.compile(r"\b(do|does|is|are|did|was)nt\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\bcant\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\b(can)'t\b|\b(can)not\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"(?<=\bI)'m\b|(?<=\bi)'m\b"), " am"),
    (re.compile(r"'re\b", re.IGNORECASE), " are"),
    (re.compile(r"'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"'d\b", re.IGNORECASE), " would"),
    (re.compile(r"\b(he|she|it|name|that|there|who|here)'s\b(?! name)", re.IGNORECASE), r"\1 is"),
    (
        re.compile(
            r"'s (?=(?:allergic|named|called|lactose|gluten|vegan|vegetarian|married|been|\d+ years|turning)\b)"
        ),
        " is ",
    ),
    (re.compile(r"\b(have|has) got\b", re.IGNORECASE), r"\1"),
    (re.compile(r"[ \t]+"), " "),
)


_CONTRACTED = re.compile(
    r"['’‘ʼ]|  |\t|\bcannot\b|\b[Ii]?(?:m|ve|got|cant|dont|doesnt|isnt|arent|didnt|wasnt)\b", re.IGNORECASE
)


def expanded(sentence: str) -> str:
    """The sentence without contractions.

    >>> expanded("I'm sure she's 12, and I don't own it")
    'I am sure she is 12, and I do not own it'
    """
    if not _CONTRACTED.search(sentence):
        return sentence
    for pattern, replacement in _EXPANSIONS:
        sentence = pattern.sub(replacement, sentence)
    return sentence
