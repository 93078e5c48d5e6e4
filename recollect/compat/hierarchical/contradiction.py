"""Whether two facts contradict each other: other numbers about the same [3]."""

from __future__ import annotations

from typing import Any

from recollect.text.quantities import Quantity, is_same, quantities

_SHORTEST = 3  # letters of a word of a concept that counts


def detect_contradiction(content_a: str, content_b: str, concept_a: str = "", concept_b: str = "") -> dict[str, Any]:
    """What contradicts, or {}: the concepts share a word, and each content has an amount that the other has not.

    >>> detect_contradiction("has 9 golds", "has 10 golds", "Klaebo medals", "Klaebo medals")
    {'contradiction': True, 'conflicting_values': '9 vs 10'}
    """
    if not _concept_words(concept_a) & _concept_words(concept_b):
        return {}
    own, other = quantities(content_a), quantities(content_b)
    only_own, only_other = _without(own, other), _without(other, own)
    if not only_own or not only_other:
        return {}
    counted_by = {(one.unit, one.per, one.currency) for one in (*only_own, *only_other)}
    bare = len(counted_by) == 1 and not only_own[0].currency
    told = f"{_listed(only_own, bare)} vs {_listed(only_other, bare)}"
    return {"contradiction": True, "conflicting_values": told}


def _without(some: list[Quantity], others: list[Quantity]) -> list[Quantity]:
    return [one for one in some if not any(is_same(one, other) for other in others)]


def _listed(amounts: list[Quantity], bare: bool) -> str:
    """As they are written; `bare`: without their unit, which is the same for all of them."""
    return ", ".join(sorted({one.number if bare else one.text for one in amounts}))


def _concept_words(concept: str) -> set[str]:
    return {word for word in (concept or "").lower().split() if len(word) >= _SHORTEST}
