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
    `joins` are the headings of the parts that it looks for together, `inside` is the conversation that it looks in, and
    `besides` are those that others look in.
    """

    text: str
    heading: str
    round: int = 1
    joins: tuple[str, ...] = ()
    inside: NodeId | None = None
    besides: tuple[NodeId, ...] = ()

    @property
    def is_further(self) -> bool:
        """Whether it looks for more on what other searches are about: nobody misses it."""
        return bool(self.joins or self.inside or self.besides)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is looked for, and what the report is called. `made_by` is a model, or "rules"."""

    title: str
    queries: tuple[SubQuery, ...]
    made_by: str = "rules"


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation that a first search found."""

    id: NodeId
    title: str


def by_rules(question: str, found: Sequence[Found] = ()) -> Plan:
    """The parts that a question names, and those together; of a question of one part what a first search found: the
    conversations about it, and what was said elsewhere.
    """
    subject = _subject(question)
    before, colon, after = subject.partition(": ")
    parts = _parts(after if colon else subject, comparing=_COMPARING.search(question) is not None)
    if len(parts) > 1:
        apart = [SubQuery(f"{part} {before}" if colon else part, _heading(part)) for part in parts]
        joint = SubQuery(" and ".join(parts), "Together", joins=tuple(_heading(part) for part in parts))
        return Plan(_heading(before if colon else _listed(parts)), (*apart, joint)[:MOST])
    title = _capital(_line(question))
    about = {one.title: one for one in reversed(found)}
    kept = [one for one in found if about[one.title] is one][: MOST - 1]
    if len(kept) < 2:
        return Plan(title, (SubQuery(subject, title),))
    inside = [SubQuery(subject, _capital(_line(one.title)), inside=one.id) for one in kept]
    return Plan(title, (*inside, SubQuery(subject, "Elsewhere", besides=tuple(one.id for one in kept))))


def by_model(model: LanguageModel, question: str, found: Sequence[Found]) -> tuple[Plan, Completion]:
    """A model's plan, with what it took. Raises ModelError."""
    entries = [Entry(one.id, "conversation", one.title) for one in found]
    shown = material(entries, most_tokens=_TITLES).text if entries else "(none)"
    text = f"TITLES OF CONVERSATIONS THAT MAY MATTER:\n{shown}\n\nQUESTION:\n{question}"
    answer = model.complete(request("research_plan", text))
    queries = [
        SubQuery(_line(one["query"]), told_heading(one["heading"]) or _heading(one["query"]))
        for one in answer.data["queries"]
    ]
    kept = tuple({query.text.casefold(): query for query in queries if query.text}.values())[:MOST]
    title = told_heading(answer.data["title"]) or _heading(question)
    return Plan(title, kept or by_rules(question, found).queries, answer.model), answer


def shown(query: SubQuery) -> str:
    """A search as a person is told of it."""
    return f"{query.text}, in {query.heading!r}" if query.inside else query.text


def told_heading(text: str) -> str:
    """A heading as a model wrote it, on one line and without its own marks."""
    return _capital(_line(text).lstrip("#*-> "))


def searched(query: SubQuery) -> str:
    """The words that are looked for: "deployment strategy" is told by what was deployed how, in other words."""
    left = " ".join(_ABSTRACT.sub(" ", query.text).split())
    return left if terms(left) else query.text


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
    "Next.js for the shop", "costs in Rome and in Paris" are "costs in Rome" and "costs in Paris". One where nothing is.
    """
    parts = [part.strip(" ,;") for part in (_COMPARED if comparing else _LISTED).split(subject)]
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= MOST or any(len(part.split()) > _WORDS or _CLAUSE.search(part) for part in parts):
        return [subject]
    first, *others = parts
    parts = [_bare(first), *(_completed(_bare(other), _bare(first)) for other in others)]
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


def _bare(part: str) -> str:
    return _BEFORE.sub("", part).strip(" ,;:")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _heading(text: str) -> str:
    return _capital(_BEFORE.sub("", _line(text)).lstrip("#*-> ").rstrip("?.! "))


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:_LONGEST]


def _line(text: str) -> str:
    return " ".join(text.split())


_ABSTRACT = re.compile(
    r"\b(?:(?:my|our|the|your)\s+)?(?:decisions?|choices?|strateg(?:y|ies)|approach(?:es)?|thinking|thoughts?|views?"
    r"|opinions?|reasoning|rationale|considerations?|lessons?|learnings?|experiences?|stance|attitude)"
    r"(?:\s+(?:about|on|of|for|to|towards?|with))?\b",
    re.IGNORECASE,
)
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
