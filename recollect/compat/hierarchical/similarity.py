"""How alike two facts are: words, tags and concepts that they share [3]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
