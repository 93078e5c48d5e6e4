"""Whether two facts contradict each other: other numbers about the same [3]."""

from __future__ import annotations

import re
from typing import Any

_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")
_SHORTEST = 3  # letters of a word of a concept that counts


def detect_contradiction(content_a: str, content_b: str, concept_a: str = "", concept_b: str = "") -> dict[str, Any]:
    """What contradicts, or {}: the concepts share a word, and each content has a number that the other has not.

    >>> detect_contradiction("has 9 golds", "has 10 golds", "Klaebo medals", "Klaebo medals")
    {'contradiction': True, 'conflicting_values': '9 vs 10'}
    """
    if not _concept_words(concept_a) & _concept_words(concept_b):
        return {}
    own, other = numbers_in(content_a), numbers_in(content_b)
    only_own, only_other = own - other, other - own
    if not only_own or not only_other:
        return {}
    told = f"{', '.join(sorted(only_own))} vs {', '.join(sorted(only_other))}"
    return {"contradiction": True, "conflicting_values": told}


def numbers_in(content: str) -> set[str]:
    """The numbers of a text as they are written."""
    return set(_NUMBER.findall(content))


def _concept_words(concept: str) -> set[str]:
    return {word for word in (concept or "").lower().split() if len(word) >= _SHORTEST}
