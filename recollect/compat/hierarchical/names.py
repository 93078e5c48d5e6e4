"""Whom or what a fact is about: names in its concept and its words, by how they are written [3]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from recollect.derive.facts.rules.subjects import is_name
from recollect.text.dates import named_dates
from recollect.text.quantities import Quantity, is_same, quantities
from recollect.text.terms import terms


class MemoryCategory(StrEnum):
    """The five kinds of memory."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    PROSPECTIVE = "prospective"
    WORKING = "working"


#: Of a text that is several of them, the first is the kind.
_WORDS = {
    MemoryCategory.PROCEDURAL: "step how_to procedure process method recipe instruction",
    MemoryCategory.PROSPECTIVE: "plan goal future will should todo to-do intend schedule",
    MemoryCategory.EPISODIC: "happen event occur experience observe saw notice",
}
_ENDINGS = r"(?:s|es|d|ed|ing)?"


def _pattern(words: str) -> re.Pattern[str]:
    forms = "|".join(_form(word.replace("_", " ")) for word in words.split())
    return re.compile(rf"(?<![^\W_])(?:{forms})(?![^\W_])", re.IGNORECASE)


def _form(word: str) -> str:
    last = word[-1]
    doubled = rf"(?:{last}(?:ed|ing))?" if last in "npr" else ""
    if last == "e":
        return rf"{re.escape(word[:-1])}(?:e|es|ed|ing)"
    return rf"{re.escape(word)}(?:{doubled}|{_ENDINGS})"


_PATTERNS = {category: _pattern(words) for category, words in _WORDS.items()}


class MemoryClassifier:
    """Tells the kind of a text by its words; semantic where none of them says otherwise. Never WORKING.

    A word counts in its usual forms, and only as a whole: "planned" is a plan, "plants" are not.
    """

    def classify(self, content: str, concept: str = "") -> MemoryCategory:
        """The kind of a text and the concept that it is about.

        >>> MemoryClassifier().classify("Step 1: clone the repository").value
        'procedural'
        """
        text = f"{content} {concept}"
        for category, pattern in _PATTERNS.items():
            if pattern.search(text):
                return category
        return MemoryCategory.SEMANTIC


# How alike two facts are: words, tags and concepts that they share [3].

_STOP_WORDS = """
    a an the this that these those each every all any few more most other some such no only own same
    i me my we our you your he him his she her it its they them their who whom which what
    is are was were be been being have has had do does did will would could should may might shall can
    to of in for on with at by from as into about like through after over between out against during without before
    under around among and but or nor not so yet both either neither than too very just because if when where how
"""
#: Words that say nothing about what a text is about.
STOP_WORDS = frozenset(_STOP_WORDS.split())

WORD_WEIGHT, TAG_WEIGHT, CONCEPT_WEIGHT = 0.5, 0.2, 0.3

_MARKS = ".,;:!?()[]{}\"'"
_SHORTEST = 3  # characters, marks included
_TIMELY_WORDS = """
    change changed original before after previous current first initially updated revised intermediate history evolution
    timeline when
"""
_TIMELY = frozenset(_TIMELY_WORDS.split())
_TIMELY_BONUS = 0.15


def tokens(text: str) -> frozenset[str]:
    """The words of a text in lower case, without marks around them, short ones and stop words."""
    found = (word.strip(_MARKS) for word in text.lower().split() if len(word) >= _SHORTEST)
    return frozenset(word for word in found if word) - STOP_WORDS


def compute_word_similarity(text_a: str, text_b: str) -> float:
    """The share of words that two texts have in common (Jaccard), 0 to 1."""
    return _jaccard(tokens(text_a or ""), tokens(text_b or ""))


def compute_tag_similarity(tags_a: Iterable[str], tags_b: Iterable[str]) -> float:
    """The share of tags that two lists have in common, whatever the case, 0 to 1."""
    return _jaccard(_tags(tags_a), _tags(tags_b))


@dataclass(frozen=True, slots=True)
class Compared:
    """What a fact is compared by."""

    words: frozenset[str]
    tags: frozenset[str]
    concept: frozenset[str]

    @classmethod
    def of(cls, content: str, tags: Iterable[str], concept: str) -> Compared:
        """Cut into words once, for many comparisons."""
        return cls(tokens(content or ""), _tags(tags), tokens(concept or ""))

    def similarity(self, other: Compared) -> float:
        """How alike two facts are, 0 to 1."""
        return (
            WORD_WEIGHT * _jaccard(self.words, other.words)
            + TAG_WEIGHT * _jaccard(self.tags, other.tags)
            + CONCEPT_WEIGHT * _jaccard(self.concept, other.concept)
        )


def compute_similarity(node_a: Mapping[str, Any], node_b: Mapping[str, Any]) -> float:
    """How alike two facts are, 0 to 1: half their contents, 0.3 their concepts, 0.2 their tags.

    Each is a map with `content`, `concept` and `tags`; what is missing shares nothing.

    >>> fact = {"content": "Klaebo has 9 gold medals", "concept": "medals", "tags": ["ski"]}
    >>> compute_similarity(fact, fact)
    1.0
    """
    one, other = (
        Compared.of(node.get("content", ""), node.get("tags", ()), node.get("concept", "")) for node in (node_a, node_b)
    )
    return one.similarity(other)


def rerank_facts_by_query(facts: Sequence[dict[str, Any]], query: str, top_k: int = 0) -> Sequence[dict[str, Any]]:
    """The facts (`context`, `outcome`) that hold most of the question's words first; with `top_k` only so many.

    Where the question is about change, facts with a time (`metadata`) come a little earlier.
    """
    asked = tokens(query or "")
    if not facts or not asked:
        return facts
    timely = bool(_TIMELY & set(query.lower().replace("?", " ").split())) or "over time" in query.lower()

    def share(fact: dict[str, Any]) -> float:
        held = tokens(f"{fact.get('context', '')} {fact.get('outcome', '')}")
        if not held:
            return 0.0
        return len(asked & held) / len(asked) + (_TIMELY_BONUS if timely and _is_dated(fact) else 0.0)

    ordered = sorted(facts, key=share, reverse=True)
    return ordered[:top_k] if top_k > 0 else ordered


def _is_dated(fact: Mapping[str, Any]) -> bool:
    metadata = fact.get("metadata") or {}
    return any(metadata.get(name) for name in ("temporal_index", "source_date", "temporal_order"))


def _tags(tags: Iterable[str] | None) -> frozenset[str]:
    return frozenset(tag.strip().lower() for tag in tags or () if tag.strip())


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\-][^\W\d_]+)*")
_CONTRACTION = re.compile(r"['\u2019](?:t|s|re|ve|ll|d|m)$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['\u2019]s$", re.IGNORECASE)
_SHORTEST_NAME = 3  # letters of a single name


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
            if (is_label or not begins) and len(name) >= _SHORTEST_NAME:
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
    named = [name.lower() for name, _, _ in _names(query) if len(name) >= _SHORTEST_NAME]
    if not named:
        words = (_POSSESSIVE.sub("", word.lower()) for word in _WORD.findall(query))
        named = [word for word in words if len(word) > _SHORTEST_NAME and word not in STOP_WORDS]
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


# Whether two facts contradict each other: other numbers about the same [3].

_SHORTEST_WORD = 3  # letters of a word of a concept that counts
_ORDINAL = re.compile(r"(?<![\w.,/:-])(?P<number>\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
_LEAP_YEAR = 2000  # which has every day


def detect_contradiction(content_a: str, content_b: str, concept_a: str = "", concept_b: str = "") -> dict[str, Any]:
    """What contradicts, or {}: the concepts share a word, and each content has an amount that the other has not.

    >>> detect_contradiction("has 9 golds", "has 10 golds", "Klaebo medals", "Klaebo medals")
    {'contradiction': True, 'conflicting_values': '9 vs 10'}
    """
    if not _concept_words(concept_a) & _concept_words(concept_b):
        return {}
    own, other = amounts(content_a), amounts(content_b)
    only_own, only_other = _without(own, other), _without(other, own)
    if not only_own or not only_other:
        return {}
    counted_by = {(one.unit, one.per, one.currency) for one in (*only_own, *only_other)}
    bare = len(counted_by) == 1 and not only_own[0].currency
    told = f"{_listed(only_own, bare)} vs {_listed(only_other, bare)}"
    return {"contradiction": True, "conflicting_values": told}


def amounts(text: str) -> list[Quantity]:
    """The amounts in a text, and the numbers that ordinals count up to, but for days of a month.

    >>> [one.text for one in amounts("On May 9th he won his 10th of 12 medals")]
    ['10', '12']
    """
    found = quantities(text)
    ordinals = list(_ORDINAL.finditer(text))
    days = {span.start.day for span in named_dates(text, (_LEAP_YEAR,)) if span.start == span.end} if ordinals else ()
    for one in ordinals:
        number = one["number"]
        if int(number) not in days:
            found.append(Quantity(number, one.start(), one.end("number"), "number", (Decimal(number),)))
    return sorted(found, key=lambda one: one.start)


def _without(some: list[Quantity], others: list[Quantity]) -> list[Quantity]:
    return [one for one in some if not any(is_same(one, other) for other in others)]


def _listed(amounts: list[Quantity], bare: bool) -> str:
    """As they are written; `bare`: without their unit, which is the same for all of them."""
    return ", ".join(sorted({one.number if bare else one.text for one in amounts}))


def _concept_words(concept: str) -> set[str]:
    """Its words as they are and in their basic form."""
    words = {word for word in (concept or "").lower().split() if len(word) >= _SHORTEST_WORD}
    return words | {term for word in words for term in terms(word)}
