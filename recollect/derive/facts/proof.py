"""Whether the words that a model quotes prove what it claims: a statement of the message itself, to the letter.

A model may invent, shorten a quotation, or do what a pasted text tells it. So its claim counts only where the author of
the message states it in his own voice: not in quotation marks, code or a quoted line, no question, doubt or command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.derive.facts.claim import Claim, Polarity, canonical_attribute, entity_key, folded, is_described
from recollect.derive.facts.phrase import content_of, shown
from recollect.derive.facts.rules.guards import (
    is_commanded,
    is_held_back,
    is_joke,
    is_said_by_another,
    taken_back,
    told_part,
)
from recollect.derive.facts.rules.sentences import Sentence, own_sentences
from recollect.record import Message
from recollect.text.quantities import quantities
from recollect.text.terms import AUXILIARIES, PRONOUNS, terms

_ENOUGH = 2  # words beside the value that make a statement, where none of them is a verb
_WORD = re.compile(r"[^\W_]+(?:(?:['’]|(?<=\d)[.,](?=\d))[^\W_]+)*")
_SPACED = re.compile(r"[A-Za-zÀ-ɏͰ-ϿЀ-ӿ0-9]")  # scripts that put blanks between words
_OF_GRAMMAR = (PRONOUNS | {word for word in AUXILIARIES if "n't" not in word and word != "cannot"}) | {"a", "an", "the"}
_DENIES = re.compile(r"\b(?:not|no|never|none|nothing|cannot|without|kein\w*|nicht|nie)\b|n['’]t\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;:.!?()\n–—]|\b(?:and|but|or|so|because|und|aber|oder)\b", re.IGNORECASE)
# Attributes that say no themselves: "I don't eat pork" states what is avoided.
_OF_DENIALS = frozenset({"avoids", "dislikes", "intolerance", "condition", "habit", "plan"})


def stated(message: Message, quote: str, attribute: str = "") -> tuple[int, int] | None:
    """Where the message states these words, whole and in its author's own voice; None where it does not."""
    words = quote.strip()
    sentences: list[Sentence] | None = None
    at = message.content.find(words) if words else -1
    while at >= 0:
        end = at + len(words)
        if _is_whole(message.content, at, end):
            if sentences is None:
                own = own_sentences(message.content, message.speaker, lambda label: _is_heading(label, attribute))
                sentences = list(own)
            if _is_meant(message.content, at, end, sentences):
                return at, end
        at = message.content.find(words, at + 1)
    return None


def proved(claim: Claim, message: Message) -> Claim | None:
    """The claim of a model where its message proves it, in words of the message."""
    if not claim.value:
        return claim  # the end of a dose, which follows from another claim
    place = stated(message, claim.quote, claim.attribute)
    if place is None or not proves(claim.quote, claim.value):
        return None
    if claim.polarity is Polarity.IS and _is_denied(message.content, place, claim):
        return None
    words = (claim.entity, claim.attribute, claim.value, claim.quote, claim.content)
    return replace(claim, content=worded(*words, claim.polarity))


def bears_out(message: Message, quote: str, names: Iterable[str]) -> bool:
    """Whether the message states the words, and these say something of one of the names."""
    place = stated(message, quote)
    return place is not None and not _denies(message.content, place[0]) and any(proves(quote, name) for name in names)


def proves(quote: str, value: str) -> bool:
    """Whether a quotation holds a value, and says something of it: neither a letter of it, nor the value alone."""
    if not _holds(quote, value):
        return False
    if not _SPACED.search(quote):
        return len(folded(quote)) > len(folded(value)) + 1
    of_value = set(_roots(value))
    rest = [word for word in _roots(quote) if word not in of_value]
    return len(rest) >= _ENOUGH or any(word in AUXILIARIES for word in rest) or any("'" in word for word in rest)


def is_named(entity: str, who: str, messages: Iterable[Message]) -> bool:
    """Whether somebody is the speaker, one of his own, or named in what a model was shown."""
    key = entity_key(entity)
    if key == entity_key(who):
        return True
    own = f"{entity_key(who)}'s "
    texts = [(entity_key(message.content), entity_key(message.speaker or "")) for message in messages]
    name = key.removeprefix(own)
    return any(re.search(rf"(?<!\w){re.escape(name)}", text) or key == speaker for text, speaker in texts)


def worded(entity: str, attribute: str, value: str, quote: str, content: str, polarity: Polarity) -> str:
    """What is claimed, in words of the quotation, the entity and the value; a model's words only where they are these.

    >>> worded("Heron", "temper", "shy", "is shy", "Heron is shy.", Polarity.IS)
    'Heron is shy.'
    >>> worded("Heron", "temper", "shy", "is shy", "Heron bites.", Polarity.IS)
    'Heron: is shy.'
    """
    if is_described(attribute) or set(terms(attribute)) <= set(terms(quote)):
        return content_of(entity, attribute, value, polarity)
    if polarity is Polarity.IS and _is_made_of(content, entity, value, quote):
        return content
    end = "" if quote.endswith((".", "!")) else "."
    return f"{'No longer: ' if polarity is Polarity.ENDED else ''}{shown(entity)}: {quote}{end}"


def _is_made_of(content: str, entity: str, value: str, quote: str) -> bool:
    """Whether a sentence has the words of a quotation in their order, and besides only names and grammar."""
    if bool(_DENIES.search(content)) != bool(_DENIES.search(quote)):
        return False
    left = _words(quote)
    free = {*_words(entity), *_words(value), "user", "user's"} | _OF_GRAMMAR
    for word in _words(content):
        if word in left:
            left = left[left.index(word) + 1 :]
        elif word not in free:
            return False
    return True


def _holds(quote: str, value: str) -> bool:
    """Whether a quotation has a value in whole words: "5 mg" is no part of "15 mg", of "0.5 mg" or of "-5 mg"."""
    if _WORD.search(value) and set(_roots(value)) <= set(_roots(quote)):
        return True
    words = value.lower().strip(" .,;:!?\"'")
    if not any(one.unit or one.currency for one in quantities(words)):
        words, quote = folded(value), folded(quote)
    before = r"(?<![\w.,/:+−–-])" if words[:1].isdigit() else r"(?<!\w)" if _SPACED.match(words) else ""
    behind = r"(?!\w|[.,/:]\d)" if _SPACED.match(words[-1:]) else ""
    return bool(words) and bool(re.search(f"{before}{re.escape(words)}{behind}", quote.lower()))


def _is_denied(content: str, place: tuple[int, int], claim: Claim) -> bool:
    """Whether a statement is denied before what is quoted of it, or its value within: "not allergic to nuts"."""
    start, end = place
    if _denies(content, start):
        return True
    if claim.attribute in _OF_DENIALS or not is_described(claim.attribute):
        return False
    at = content.lower().find(claim.value.lower(), start, end)
    return _denies(content[start : at if at >= 0 else end], None)


def _denies(content: str, end: int | None) -> bool:
    """Whether the clause that a text ends in says no."""
    return bool(_DENIES.search(_CLAUSES.split(content[:end])[-1]))


def _is_whole(content: str, at: int, end: int) -> bool:
    """Whether no word is cut at either end."""
    return not any(_is_within(content, edge) for edge in (at, end))


def _is_within(content: str, at: int) -> bool:
    around = content[max(0, at - 1) : at + 1]
    return len(around) == len("ab") and all(_SPACED.match(char) for char in around)


def _is_heading(label: str, attribute: str) -> bool:
    """Whether a label names what is claimed, rather than who speaks: "Allergies: nuts", "Day 3: …"."""
    words = label.split()
    return canonical_attribute(label) == attribute or any(word[0].isdigit() for word in words)


def _is_meant(content: str, at: int, end: int, sentences: Sequence[Sentence]) -> bool:
    covered = at
    if at < taken_back(content):
        return False
    for sentence in sentences:
        if sentence.end <= at or sentence.start >= end:
            continue
        if content[covered : max(covered, sentence.start)].strip():
            return False
        begin, stop = max(0, at - sentence.start), min(end, sentence.end) - sentence.start
        text = sentence.text
        if "¤" in text[begin:stop] or is_joke(text) or is_said_by_another(text):
            return False
        if is_held_back(text[:begin]) or is_commanded(text, begin) or stop > len(told_part(text).rstrip()) + 1:
            return False
        covered = sentence.end
    return covered > at and not content[covered:end].strip()


def _words(text: str) -> list[str]:
    return [word.replace("’", "'").lower() for word in _WORD.findall(text)]


def _roots(text: str) -> list[str]:
    """The words without their plurals, since "a peanut" is one of the peanuts; each amount in one spelling as one."""
    amounts = [one for one in quantities(text) if one.unit or one.currency]
    for one in reversed(amounts):
        text = f"{text[: one.start]} {text[one.end :]}"
    words = (word[:-1] if len(word) > len("abc") and word.endswith("s") else word for word in _words(text))
    return [*words, *(one.key for one in amounts)]
