"""Counting: every token that is handed out is counted by the packaged tokenizer, none is estimated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice

from recollect.models.embedding.tokenizer import count_tokens_of, slices
from recollect.text.terms import has_unspaced_script

#: What a message costs beside its words: who says it, and where it begins and ends.
PER_MESSAGE = 4
#: What an entry costs beside its words: the break before it.
PER_ENTRY = 1


#: Lines whose tokens are remembered: much of a context stands in the next one, too.
_REMEMBERED, _LONGEST = 20_000, 4_000
_LONGEST_WORD = 40  # characters; what goes on for longer is no word

_counted: dict[str, int] = {}


def tokens_in(text: str) -> int:
    """The tokens of a text of any length, all of them counted."""
    return tokens_in_each([text])[0]


def tokens_in_each(texts: Sequence[str]) -> list[int]:
    """The tokens of each of these texts, all of them counted, line by line: no token crosses the end of one."""
    split = [text.split("\n") for text in texts]
    lines = set(chain.from_iterable(split))
    known = {line: count for line in lines if (count := _counted.get(line)) is not None}
    new = [line for line in lines if line not in known]
    pieces = [piece for line in new for piece in slices(line)]
    counts = iter(count_tokens_of(pieces))
    fresh = {line: sum(islice(counts, sum(1 for _ in slices(line)))) for line in new}
    if len(_counted) > _REMEMBERED:
        _counted.clear()
    _counted.update((line, count) for line, count in fresh.items() if len(line) <= _LONGEST)
    known |= fresh
    return [sum(map(known.__getitem__, own)) for own in split]


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
    """The text, or its beginning and end, cut between words, in at most so many tokens."""
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
        begin = text[: _between_words(text, head, -min(head // 2, _LONGEST_WORD))]
        end = text[_between_words(text, len(text) - (keep - head), _LONGEST_WORD) :]
        cut = f"{begin.rstrip()} […] {end.lstrip()}"
        own = tokens_in(cut)
    return cut


def _between_words(text: str, place: int, away: int) -> int:
    """The place, or the next one at most so far `away` at which no word is cut; of what has no blanks, the place."""
    if text[place - 1].isspace() or text[place].isspace():
        return place
    ends = range(place, min(place + away, len(text)), 1 if away > 0 else -1)
    found = next((end for end in ends if text[end].isspace()), place)
    return place if has_unspaced_script(text[min(found, place) : max(found, place)]) else found
