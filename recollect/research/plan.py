"""What a question asks for, as two to four searches: by the shape of the question, or by a model [0]."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.model.base import Completion, LanguageModel
from recollect.model.prompts import request
from recollect.model.transcript import Entry, material
from recollect.record import NodeId
from recollect.search.phrasing import without_meta, without_opening
from recollect.text.terms import terms

#: How many searches a plan has at most.
MOST = 4

_LONGEST = 120  # characters of a title
_TITLES = 1_500  # tokens of titles that a model is shown


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A search of the plan, with the heading that it has in a report. `round` 2 and later look for what was missing;
    `joins` are the headings of the parts that it looks for together.
    """

    text: str
    heading: str
    round: int = 1
    joins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is looked for, and what the report is called. `made_by` is a model, or "rules"."""

    title: str
    queries: tuple[SubQuery, ...]
    made_by: str = "rules"


def by_rules(question: str, titles: Sequence[str] = ()) -> Plan:
    """The parts that a question names, and those together; of a question of one part the conversations that a first
    search found (`titles`) are the parts.
    """
    subject = _subject(question)
    parts = _parts(subject, comparing=_COMPARING.search(question) is not None)
    if len(parts) > 1:
        joint = SubQuery(" and ".join(parts), "Together", joins=tuple(_heading(part) for part in parts))
        return Plan(_heading(_listed(parts)), (*(SubQuery(part, _heading(part)) for part in parts), joint))
    own = frozenset(terms(subject))
    about = [title for title in titles if frozenset(terms(title)) - own][: MOST - 1]
    facets = [SubQuery(f"{subject}: {title}", _heading(title)) for title in about]
    title = _capital(_line(question))
    return Plan(title, (SubQuery(subject, title), *facets))


def by_model(model: LanguageModel, question: str, titles: Sequence[str]) -> tuple[Plan, Completion]:
    """A model's plan, with what it took. Raises ModelError."""
    entries = [Entry(NodeId(str(number)), "conversation", title) for number, title in enumerate(titles)]
    shown = material(entries, most_tokens=_TITLES).text if entries else "(none)"
    text = f"TITLES OF CONVERSATIONS THAT MAY MATTER:\n{shown}\n\nQUESTION:\n{question}"
    answer = model.complete(request("research_plan", text))
    queries = [
        SubQuery(_line(one["query"]), told_heading(one["heading"]) or _heading(one["query"]))
        for one in answer.data["queries"]
    ]
    kept = tuple({query.text.casefold(): query for query in queries if query.text}.values())[:MOST]
    title = told_heading(answer.data["title"]) or _heading(question)
    return Plan(title, kept or by_rules(question, titles).queries, answer.model), answer


def told_heading(text: str) -> str:
    """A heading as a model wrote it, on one line and without its own marks."""
    return _capital(_line(text).lstrip("#*-> "))


def named(query: SubQuery) -> str:
    """A search as a model is told of it. Titles of conversations may be in it, so it stands behind a bar like them."""
    return _line(f"{query.heading}: {query.text}").replace("<", "&lt;")


def _subject(question: str) -> str:
    """The question without what it asks to be done with it: "compare X with Y" is "X with Y"."""
    left = without_meta(without_opening(question)).strip().rstrip("?.! ")
    for pattern in _OPENINGS:
        left = pattern.sub("", left, count=1).strip()
    return left if terms(left) else question.strip()


def _parts(subject: str, *, comparing: bool) -> list[str]:
    """What is compared or listed, each able to stand alone: "React or Next.js for the shop" is "React for the shop" and
    "Next.js for the shop". One part where nothing is.
    """
    found = [_BEFORE.sub("", part).strip(" ,;:") for part in (_COMPARED if comparing else _LISTED).split(subject)]
    parts = [part for part in found if part]
    named = [part for part in parts if _NAMES.search(part)]
    if not 1 < len(parts) <= MOST or not named or any(_is_clause(part) for part in parts):
        return [subject]
    tail = _TAIL.search(parts[-1])
    if tail and terms(parts[-1][: tail.start()]):
        parts = [part if _TAIL.search(part) else f"{part}{tail[0]}" for part in parts[:-1]] + parts[-1:]
    whole = [part if _NAMES.search(part) else f"{_NUMBERS.sub('', named[0]).strip()} {part}" for part in parts]
    return list(dict.fromkeys(whole))[: MOST - 1]


def _is_clause(part: str) -> bool:
    """Whether this is more than the name of a thing, or speaks of another part."""
    return len(part.split()) > _WORDS or _REFERS.search(part) is not None


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _heading(text: str) -> str:
    return _capital(_BEFORE.sub("", _line(text)).lstrip("#*-> ").rstrip("?.! "))


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:_LONGEST]


def _line(text: str) -> str:
    return " ".join(text.split())


_WORDS = 12  # of a part: what is longer is no name of a thing
_REFERS = re.compile(r"\b(?:they|them|their|it|its|he|him|she|her|this|these|those|ones?)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"^(?:(?:both|what|how|the|my|our|your|all|between|of|about|mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|mon|ma|mes)\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s(?:for|in|at|on|during|since|before|after|when|while)\s.+$", re.IGNORECASE)
_NAMES = re.compile(r"[^\W\d_]{2,}")
_NUMBERS = re.compile(r"\b(?:in\s+)?\d+\b")
_COMPARING = re.compile(
    r"\b(?:compar\w*|contrast\w*|differ\w*|versus|vs|relat(?:e|es|ion|ions|ionship)|vergleich\w*|unterschied\w*)\b",
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
