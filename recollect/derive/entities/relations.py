"""What a text says of the names in it, by rules: plain statements only, no questions, conditions or denials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.derive.entities.extract import Mention
from recollect.derive.entities.lines import lines
from recollect.derive.entities.naming import YOU, folded
from recollect.derive.entities.statements import (
    ALONE_ONLY,
    AND,
    BETWEEN,
    BRACKET,
    DECIDED,
    FROM_TO,
    IMPROVES,
    IS_A,
    IT_IS,
    NO_NOUN,
    OVER,
    REJECTED_FOR,
    REPLACED,
    SAME,
    SPEAKER,
    TO,
    UNSAID,
    is_apt,
)
from recollect.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class Assertion:
    """That one name stands in a relation to another, as one message says it."""

    source: str
    relation: str
    target: str


_LONGEST_GAP = 70
_BEFORE = 60
_CLAUSE = re.compile(r"(?<=;)\s+")


def relations(text: str, found: Sequence[Mention], me: str | None) -> list[Assertion]:
    """What is said of the names that were found in a text; `me` is who says it, None where "I" is nobody.

    >>> from recollect.derive.entities.extract import mentions
    >>> said = "We chose Next.js over React. Next.js improves SEO."
    >>> [(a.source, a.relation, a.target) for a in relations(said, mentions(said), "you")]
    [('you', 'CHOSE', 'Next.js'), ('you', 'REJECTED', 'React'), ('Next.js', 'REPLACES', 'React'), \
('Next.js', 'IMPROVES', 'SEO')]
    """
    if not found:
        return []
    names = sorted({mention.name for mention in found}, key=lambda name: (-len(name), name))
    known = {folded(name): name for name in names}
    types = {folded(mention.name): mention.type for mention in found}
    said: dict[Assertion, None] = {}
    for line in lines(text.replace("’", "'")):
        if line.heading:
            continue
        for sentence in (clause for one in sentences(line.text) for clause in _CLAUSE.split(one)):
            if sentence.endswith("?"):
                continue
            for assertion in _of_sentence(sentence, names, me):
                if folded(assertion.source) != folded(assertion.target) and _fits(assertion, types, me):
                    said[_shown(assertion, known)] = None
    return list(said)


def _fits(assertion: Assertion, types: Mapping[str, str], me: str | None) -> bool:
    """Whether the types of both ends allow it."""
    source, target = types.get(folded(assertion.source)), types.get(folded(assertion.target))
    return is_apt(assertion.relation, source, target, by_speaker=assertion.source == me)


def _shown(assertion: Assertion, known: dict[str, str]) -> Assertion:
    """With names as the text first has them."""
    source, target = (known.get(folded(name), name) for name in (assertion.source, assertion.target))
    return Assertion(source, assertion.relation, target)


def _of_sentence(sentence: str, names: Sequence[str], me: str | None) -> Iterator[Assertion]:
    spans = _spans(sentence, names)
    last: tuple[str, str] | None = None  # with what an enumeration goes on
    for number, (start, end, name) in enumerate(spans):
        before, after = sentence[max(0, start - _BEFORE) : start], sentence[end : end + _LONGEST_GAP]
        follows = spans[number + 1] if number + 1 < len(spans) else None
        between = sentence[end : follows[0]] if follows else ""
        if number and last and AND.match(sentence[spans[number - 1][1] : start]):
            yield Assertion(last[0], last[1], name)
        elif not (number and last and OVER.match(sentence[spans[number - 1][1] : start])):
            last = None
        if me is not None and not UNSAID.search(sentence[:start]):
            for assertion in _of_speaker(before, name, after, me):
                last = (me, assertion.relation)
                yield assertion
        if UNSAID.search(after[: len(between)] if follows else after[:40]) or UNSAID.search(before):
            continue
        yield from _alone(name, after)
        if follows and len(between) <= _LONGEST_GAP:
            for assertion in _of_pair(name, between, follows[2], before, last, me):
                if assertion.source == name and assertion.relation not in ("REPLACES", SAME):
                    last = (name, assertion.relation)
                yield assertion


def _spans(sentence: str, names: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where the names stand as whole words, in order; the longer before those that they hold."""
    spans: list[tuple[int, int, str]] = []
    for name in names:
        start = sentence.find(name)
        while start >= 0:
            end = start + len(name)
            apart = not (_is_part(sentence[start - 1 : start]) or _is_part(sentence[end : end + 1]))
            if apart and not any(a < end and start < b for a, b, _ in spans):
                spans.append((start, end, name))
            start = sentence.find(name, end)
    return sorted(spans)


def _is_part(char: str) -> bool:
    return char.isalnum() or char == "_"


def _of_speaker(before: str, name: str, after: str, me: str) -> Iterator[Assertion]:
    if DECIDED.search(before) or IT_IS.match(after):
        yield Assertion(me, "CHOSE", name)
        return
    for relation, pattern in SPEAKER:
        if pattern.search(before):
            if relation not in ALONE_ONLY or NO_NOUN.match(after):
                yield Assertion(me, relation, name)
            return


def _alone(name: str, after: str) -> Iterator[Assertion]:
    """What a sentence says of one name: its kind, what it improves."""
    if kind := IS_A.match(after):
        yield Assertion(name, "IS_A", kind[1].lower())
    if quality := IMPROVES.match(after):
        yield Assertion(name, "IMPROVES", quality[1] if quality[1].isupper() else quality[1].lower())


def _of_pair(
    name: str, between: str, other: str, before: str, last: tuple[str, str] | None, me: str | None
) -> Iterator[Assertion]:
    if last and last[1] in ("CHOSE", "USES") and OVER.match(between) and last[0] == me:
        yield Assertion(last[0], "REJECTED", other)
        yield Assertion(name, "REPLACES", other)
        return
    if last and last[1] == "REJECTED" and REJECTED_FOR.match(between):
        yield Assertion(name, "REJECTED_FOR", other)
        return
    if (FROM_TO.search(before) or REPLACED.search(before)) and TO.match(between):
        yield Assertion(other, "REPLACES", name)
        return
    if BRACKET.match(between) and (_is_acronym(other, name) or _is_acronym(name, other)):
        short, long = sorted((name, other), key=len)
        yield Assertion(short, SAME, long)
        return
    for relation, pattern in BETWEEN:
        if pattern.match(between):
            yield Assertion(name, relation, other)
            return


def _is_acronym(short: str, long: str) -> bool:
    """Whether a name is made of another's first letters.

    >>> _is_acronym("LLM", "Large Language Model"), _is_acronym("GDPR", "General Data Protection Regulation")
    (True, True)
    """
    letters = [word[0] for word in re.split(r"[\s-]+", long) if word[:1].isupper()]
    return len(letters) >= 2 and short.removesuffix("s").upper() == "".join(letters).upper()


__all__ = ["SAME", "YOU", "Assertion", "relations"]
