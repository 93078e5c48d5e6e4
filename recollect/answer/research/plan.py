"""What a question asks for, as two to four searches: by the shape of the question, or by a model [0]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.models.language.base import Completion, LanguageModel
from recollect.models.language.prompts import request
from recollect.models.language.transcript import Entry, material
from recollect.record import Conversation, NodeId
from recollect.search.query.parts import MOST, bare, is_comparing, parts_of, subject_of

_LONGEST = 120  # characters of a title
_TITLES = 1_500  # tokens of titles that a model is shown


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A search of the plan, with the heading that it has in a report. `round` 2 and later look for what was missing;
    `joins` are the headings of the parts that it looks for together, `inside` is the conversation that it looks in,
    `besides` are those that others look in, and `widens` is the text of the search that it tries again with more words.
    """

    text: str
    heading: str
    round: int = 1
    joins: tuple[str, ...] = ()
    inside: NodeId | None = None
    besides: tuple[NodeId, ...] = ()
    widens: str = ""

    @property
    def is_further(self) -> bool:
        """Whether it looks for more on what other searches are about: nobody misses it."""
        return bool(self.joins or self.inside or self.besides)


@dataclass(frozen=True, slots=True)
class ResearchPlan:
    """What is looked for, and what the report is called. `made_by` is a model, or "rules"."""

    title: str
    queries: tuple[SubQuery, ...]
    made_by: str = "rules"


def by_rules(question: str, found: Sequence[Conversation] = ()) -> ResearchPlan:
    """The parts that a question names, and those together; of a question of one part what a first search found: the
    conversations about it, and what was said elsewhere.
    """
    subject = subject_of(question)
    before, colon, after = subject.partition(": ")
    parts = parts_of(after if colon else subject, comparing=is_comparing(question))
    if len(parts) > 1:
        apart = [SubQuery(f"{part} {before}" if colon else part, _heading(part)) for part in parts]
        joint = SubQuery(" and ".join(parts), "Together", joins=tuple(_heading(part) for part in parts))
        return ResearchPlan(_heading(before if colon else _listed(parts)), (*apart, joint)[:MOST])
    title = _capital(_line(question))
    about = {one.title: one for one in reversed(found)}
    kept = [one for one in found if about[one.title] is one][: MOST - 1]
    if len(kept) < 2:
        return ResearchPlan(title, (SubQuery(subject, title),))
    inside = [SubQuery(subject, _capital(_line(one.title)), inside=one.id) for one in kept]
    return ResearchPlan(title, (*inside, SubQuery(subject, "Elsewhere", besides=tuple(one.id for one in kept))))


def by_model(model: LanguageModel, question: str, found: Sequence[Conversation]) -> tuple[ResearchPlan, Completion]:
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
    return ResearchPlan(title, kept or by_rules(question, found).queries, answer.model), answer


def shown(query: SubQuery) -> str:
    """A search as a person is told of it."""
    return f"{query.text}, in {query.heading!r}" if query.inside else query.text


def told_heading(text: str) -> str:
    """A heading as a model wrote it, on one line and without its own marks."""
    return _capital(_line(text).lstrip("#*-> "))


def named(query: SubQuery) -> str:
    """A search as a model is told of it. Titles of conversations may be in it, so it stands behind a bar like them."""
    return _line(f"{query.heading}: {query.text}").replace("<", "&lt;")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _heading(text: str) -> str:
    return _capital(bare(_line(text)).lstrip("#*-> ").rstrip("?.! "))


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:_LONGEST]


def _line(text: str) -> str:
    return " ".join(text.split())
