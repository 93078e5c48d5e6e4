"""Questions that leave out what the question before them said: "What about Germany?", "And in February?", "Why?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.answer.references.candidates import TurnText
from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import folded
from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY
from recollect.text.terms import PRONOUNS

_PREPOSITIONS = "in|on|at|for|of|from|with|to|under|after|before|during|by|about|near|without|between|since|until"
_OTHER = re.compile(
    rf"(?:(?:and|but|ok(?:ay)?|so|then|or)[, ]+)?(?:what about|how about|what of|and|or)\s+(?:(?P<by>{_PREPOSITIONS})\s+)?"
    r"(?P<new>(?:[^?!.;:,]|\.(?=\w))+)\s*\?*\s*",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?)[, ]+)?(?:why|why not|when|where|who|how|how so|how come|how long|how much|how many|"
    r"how often|how far|since when|until when|from when|by when|by whom|with whom|what for|where to|where from|"
    r"for how long|how exactly|why exactly|when exactly|where exactly|why is that|how much exactly)\s*\?+\s*",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?)[, ]+)?(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|"
    r"could|should|would|will|have|has|had|may|might|must|am)\b",
    re.IGNORECASE,
)
_TIMES = frozenset(f"{ANY_MONTH}|{ANY_WEEKDAY}|{ANY_SEASON}".split("|"))
_YEAR = re.compile(r"(?:19|20)\d\d|Q[1-4](?: (?:19|20)\d\d)?")
_NO_NEW = re.compile(
    r"^(?:a|an|the|my|our|your|we|i|you|if|when|that|this|some|any|it|then)\b|^\w+ing\b", re.IGNORECASE
)
_MOST_WORDS = 4
_WHOSE = (PRONOUNS | {"this", "that", "these", "those", "one", "if", "when"}) - {"my", "our", "your"}


@dataclass(frozen=True, slots=True)
class Completed:
    """A question with what it left out, and what of it stands in place of what."""

    text: str
    said: str
    meant: str


def completed(question: str, lines: Sequence[TurnText]) -> Completed | None:
    """The question with what it leaves out, from the question that was asked before it; None where it is whole."""
    before = _asked_before(lines)
    if before is None:
        return None
    if _BARE.fullmatch(question):
        return Completed(f"{question.strip()} ({before})", question.strip(), before)
    match = _OTHER.fullmatch(question.strip())
    if match is None:
        return None
    new, by = match["new"].strip(), match["by"]
    if len(new.split()) > _MOST_WORDS or (not by and _NO_NEW.match(new)) or set(new.lower().split()) & _WHOSE:
        return None
    text = _by_preposition(before, by, new) if by else _by_type(before, new)
    return Completed(text, question.strip(), before) if text else None


def _asked_before(lines: Sequence[TurnText]) -> str | None:
    """The question that the person asked last, where the last thing they said was one."""
    said = next((line.text.strip() for line in reversed(lines) if line.is_user), None)
    if said is None:
        return None
    last = re.split(r"(?<=[.!?])\s+", said)[-1]
    return last if len(last) < 300 and _QUESTION.match(last) and len(last.split()) > 2 else None


def _by_preposition(before: str, by: str, new: str) -> str | None:
    """As in "And in February?": what stands after that preposition is replaced, or it is added at the end."""
    kind = _kind(new)
    phrases = list(
        re.finditer(rf"\b{by}\s+((?:the\s+)?[\w.+#'’-]+(?:\s+[A-ZÀ-Þ0-9][\w.+#'’-]*)*)", before, re.IGNORECASE)
    )
    same = [phrase for phrase in phrases if _kind(phrase[1].rstrip("?.!")) == kind]
    if same or len(phrases) == 1:
        phrase = (same or phrases)[-1]
        end = phrase.end(1) - len(phrase[1]) + len(phrase[1].rstrip("?.!"))
        return f"{before[: phrase.start(1)]}{new}{before[end:]}"
    body = before.rstrip("?!. ")
    return f"{body} {by} {new}?"


def _by_type(before: str, new: str) -> str | None:
    """As in "What about Germany?": it takes the place of what is of its kind in the question before."""
    kind = _kind(new)
    if kind == "":
        return None
    named = [(mention.name, mention.type) for mention in found_in(before)]
    named += [(word, "time") for word in re.findall(r"[\w’'-]+", before) if _kind(word) == "time"]
    spelled = [(name, type_) for name, type_ in named if folded(name) != folded(new)]
    same = [name for name, type_ in spelled if type_ == kind]
    vague = [name for name, type_ in spelled if "concept" in (type_, kind) and "time" not in (type_, kind)]
    if kind == "time" and not same:
        return None
    old = next(iter(same or vague), None)
    if old is None:
        old = _capital(before)
        if old is None or kind == "time":
            return None
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, before, count=1)


def _capital(before: str) -> str | None:
    """The one capitalised word inside of the question, whatever it names: "Does Notion work offline?"."""
    words = re.findall(r"(?<=[a-z,] )[A-ZÀ-Þ][\w.+#’'-]*", before)
    words += re.findall(r"^(?:Is|Are|Was|Do|Does|Did|Can|Will|Has|Have) ([A-ZÀ-Þ][\w.+#’'-]*)", before)
    kept = [word for word in dict.fromkeys(words) if word != "I" and not word.startswith("I'")]
    return kept[0] if len(kept) == 1 else None


def _kind(text: str) -> str:
    """The type of what is named; "time" for a month, a day or a year, "concept" for any capital, "" for none."""
    if text.lower() in _TIMES or _YEAR.fullmatch(text):
        return "time"
    for mention in found_in(f"It is about {text}."):
        if folded(mention.name) == folded(text):
            return mention.type
    return "concept" if re.match(r"[A-ZÀ-Þ]|[a-z]+[A-Z]", text) else ""
