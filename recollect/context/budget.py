"""Counting: every token that is handed out is counted by the packaged tokenizer, none is estimated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.embedding.tokenizer import count_tokens_of, slices

#: What a message costs beside its words: who says it, and where it begins and ends.
PER_MESSAGE = 4
#: What an entry costs beside its words: the break before it.
PER_ENTRY = 1


def tokens_in(text: str) -> int:
    """The tokens of a text of any length, all of them counted."""
    return sum(tokens_in_each(list(slices(text))))


def tokens_in_each(texts: Sequence[str]) -> list[int]:
    """The tokens of each of these texts, all of them counted."""
    if all(len(text) <= _SHORT for text in texts):
        return count_tokens_of(texts)
    return [sum(count_tokens_of(list(slices(text)))) for text in texts]


_SHORT = 20_000


def fitting(costs: Iterable[int], budget: int) -> int:
    """How many of these, in order, fit into a budget."""
    count = 0
    for cost in costs:
        if cost > budget:
            break
        budget -= cost
        count += 1
    return count


def shortened(text: str, budget: int) -> str:
    """The text, or its beginning and end, in at most so many tokens."""
    own = tokens_in(text)
    if own <= budget:
        return text
    if budget < 8:
        return ""
    keep = len(text)
    while own > budget:  # mostly twice: the density of words is the same everywhere
        keep = min(keep - 1, int(keep * (budget - 3) / own * 0.98))
        if keep < 8:
            return ""
        head = keep * 2 // 3
        cut = f"{text[:head].rstrip()} […] {text[len(text) - (keep - head) :].lstrip()}"
        own = tokens_in(cut)
    return cut
