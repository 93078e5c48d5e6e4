"""What a question names side by side: the parts of a comparison or a list, each able to stand alone as a search."""

from __future__ import annotations

import re

from recollect.search.query.phrasing import without_meta, without_opening
from recollect.text.terms import terms

#: How many parts are taken apart at most.
MOST = 4


def is_comparing(question: str) -> bool:
    """Whether things are compared in it."""
    return _COMPARING.search(question) is not None


def compared(question: str) -> list[str]:
    """What a question compares, each able to stand alone; nothing for one that compares nothing."""
    found = parts_of(subject_of(question), comparing=True) if is_comparing(question) else []
    return found if len(found) > 1 else []


def concrete(part: str) -> str:
    """A part without what only names the kind of thing: "deployment strategy" is told by what was deployed how."""
    left = " ".join(_ABSTRACT.sub(" ", part).split())
    return left if terms(left) else part


def subject_of(question: str) -> str:
    """The question without what it asks to be done with it: "compare X with Y" is "X with Y"."""
    left = without_meta(without_opening(question)).strip().rstrip("?.! ")
    for pattern in _OPENINGS:
        left = pattern.sub("", left, count=1).strip()
    return left if terms(left) else question.strip()


def parts_of(subject: str, *, comparing: bool) -> list[str]:
    """What is compared or listed, each able to stand alone: "React or Next.js for the shop" is "React for the shop" and
    "Next.js for the shop", "costs in Rome and in Paris" are "costs in Rome" and "costs in Paris". One where nothing is.
    """
    parts = [part.strip(" ,;") for part in (_COMPARED if comparing else _LISTED).split(subject)]
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= MOST or any(len(part.split()) > _WORDS or _CLAUSE.search(part) for part in parts):
        return [subject]
    first, *others = parts
    parts = [bare(first), *(_completed(bare(other), bare(first)) for other in others)]
    if not any(_NAMES.search(part) for part in parts) or any(_REFERS.search(part) for part in parts):
        return [subject]
    tail = _TAIL.search(parts[-1])
    if tail and not _TAIL.search(parts[0]) and terms(parts[-1][: tail.start()]):
        parts = [part if _TAIL.search(part) else f"{part}{tail[0]}" for part in parts[:-1]] + parts[-1:]
    return list(dict.fromkeys(filter(None, parts)))


def _completed(part: str, first: str) -> str:
    """A part that says only what is different: "in 2025" or "the one in 2025" after "the running in 2024"."""
    begins = _PREPOSITION.match(part)
    if begins is not None:
        place = first.lower().rfind(f" {begins[1].lower()} ")
        return f"{first[:place] if place > 0 else first} {part[begins.start(1) :]}"
    return part if _NAMES.search(part) else f"{_NUMBERS.sub('', first).strip()} {part}"


def bare(part: str) -> str:
    """Without the words before a name that name nothing: "what the boiler" is "boiler"."""
    return _BEFORE.sub("", part).strip(" ,;:")


_WORDS = 12  # of a part: what is longer is no name of a thing
_REFERS = re.compile(r"\b(?:they|them|their|it|its|he|him|she|her|this|these|those|ones?)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"^(?:(?:both|what|how|the|my|our|your|all|between|of|about|mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|mon|ma|mes)\s+)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"^(?:what|how|why|when|where|who|which)\s+(?:i|we|you|they|he|she|it|did|do|does|was|is|are|were|had|has|have)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"(?:(?:those|that|the\s+ones?|ones?)\s+)?\b(in|at|on|for|of|during|from|with)\s", re.IGNORECASE
)
_TAIL = re.compile(r"\s(?:for|in|at|on|during|since|before|after|when|while)\s.+$", re.IGNORECASE)
_NAMES = re.compile(r"[^\W\d_]{2,}")
_NUMBERS = re.compile(r"\b(?:in\s+)?\d+\b")
_COMPARING = re.compile(
    r"\b(?:compar\w*|contrast\w*|differ(?:s|ed|ences?)?|versus|vs|relat(?:e|es|ion|ions|ionship)|vergleich\w*|unterschied\w*)\b",
    re.IGNORECASE,
)
_AND = r"""\s*(?:;|,\s*(?:and|or|und|oder|et|ou)\b|,(?=\s))\s* | \s+(?:and|or|und|oder|et|ou|vs\.?|versus)\s+"""
_AGAINST = r"""(?:(?:compares?|differs?|relates?|contrasts?)\s+)?
    (?:against|with|to\ my|to\ our|from\ my|compared\ (?:with|to)|as\ opposed\ to|rather\ than|instead\ of|mit|avec)
  | (?:compares?|differs?|relates?|contrasts?)\s+(?:to|from)"""
_LISTED = re.compile(_AND, re.IGNORECASE | re.VERBOSE)
_COMPARED = re.compile(rf"{_AND} | \s+(?:{_AGAINST})\s+", re.IGNORECASE | re.VERBOSE)
_OPENINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:please\s+)?(?:compare|contrast|research|investigate|analy[sz]e|review|summari[sz]e|trace|recap|report on"
        r"|look into|find out(?: about)?|collect|gather|list|vergleiche|comparez)\b:?",
        r"^(?:and\s+)?how\s+(?:do|does|did)\b",
        r"^(?:(?:what|how)\s+(?:is|are|was|were)\s+)?(?:an?|the)?\s*(?:differences?|comparison|relation|relationship"
        r"|connection|links?|report|overview|summary)\s+(?:between|of|on|about)\b",
        r"^(?:what|everything|all)\s+(?:(?:did|do|have|has|had|was|were)\s+)?(?:i|we)?\s*(?:ever\s+)?"
        r"(?:know|learn|learned|learnt|say|said|decide|decided|discuss|discussed|write|written|done|do|tried|try)?"
        r"\s*(?:about|on|of|for)\b",
    )
)
_ABSTRACT = re.compile(
    r"\b(?:(?:my|our|the|your)\s+)?(?:decisions?|choices?|strateg(?:y|ies)|approach(?:es)?|thinking|thoughts?|views?"
    r"|opinions?|reasoning|rationale|considerations?|lessons?|learnings?|experiences?|stance|attitude)"
    r"(?:\s+(?:about|on|of|for|to|towards?|with))?\b",
    re.IGNORECASE,
)
