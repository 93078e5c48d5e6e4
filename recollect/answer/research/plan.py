"""What a question asks for, as two to four searches: by the shape of the question, or by a model [0]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass, field, replace

from recollect.answer.evidence import NEAR_BEST, Evidence, SourcePassage, evidence_of
from recollect.answer.intents import MOST, Intent, IntentSettings, bare, concrete, is_comparing, parts_of, subject_of
from recollect.models.language.base import Completion, LanguageModel
from recollect.models.language.prompts import request
from recollect.models.language.transcript import TranscriptEntry, heading, material
from recollect.record import Conversation, NodeId
from recollect.search.find import Find
from recollect.search.query.request import Search
from recollect.search.query.wants import META_TERMS
from recollect.store import Space
from recollect.text.clean import marked
from recollect.text.terms import terms, words

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


def plan_by_rules(question: str, found: Sequence[Conversation] = ()) -> ResearchPlan:
    """The parts that a question names, and those together; of a question of one part what a first search found: the
    conversations about it, and what was said elsewhere.
    """
    subject = subject_of(question)
    before, colon, after = subject.partition(": ")
    parts = parts_of(after if colon else subject, comparing=is_comparing(question))
    if len(parts) > 1:
        apart = [SubQuery(f"{part} {before}" if colon else part, _heading(part)) for part in parts]
        joint = SubQuery(" and ".join(parts), "Together", joins=tuple(_heading(part) for part in parts))
        return ResearchPlan(
            _heading(before if colon else " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))),
            (*apart, joint)[:MOST],
        )
    title = _capital(_line(question))
    about = {one.title: one for one in reversed(found)}
    kept = [one for one in found if about[one.title] is one][: MOST - 1]
    if len(kept) < 2:
        return ResearchPlan(title, (SubQuery(subject, title),))
    inside = [SubQuery(subject, _capital(_line(one.title)), inside=one.id) for one in kept]
    return ResearchPlan(title, (*inside, SubQuery(subject, "Elsewhere", besides=tuple(one.id for one in kept))))


def plan_by_model(
    model: LanguageModel, question: str, found: Sequence[Conversation]
) -> tuple[ResearchPlan, Completion]:
    """A model's plan, with what it took. Raises ModelError."""
    entries = [TranscriptEntry(one.id, "conversation", one.title) for one in found]
    shown = material(entries, most_tokens=_TITLES).text if entries else "(none)"
    text = f"TITLES OF CONVERSATIONS THAT MAY MATTER:\n{shown}\n\nQUESTION:\n{question}"
    answer = model.complete(request("research_plan", text))
    queries = [
        SubQuery(_line(one["query"]), told_heading(one["heading"]) or _heading(one["query"]))
        for one in answer.data["queries"]
    ]
    kept = tuple({query.text.casefold(): query for query in queries if query.text}.values())[:MOST]
    title = told_heading(answer.data["title"]) or _heading(question)
    return ResearchPlan(title, kept or plan_by_rules(question, found).queries, answer.model), answer


def shown(query: SubQuery) -> str:
    """A search as a person is told of it."""
    return f"{query.text}, in {query.heading!r}" if query.inside else query.text


def told_heading(text: str) -> str:
    """A heading as a model wrote it, on one line and without its own marks."""
    return _capital(_line(text).lstrip("#*-> "))


def named(query: SubQuery) -> str:
    """A search as a model is told of it. Titles of conversations may be in it, so it stands behind a bar like them."""
    return _line(f"{query.heading}: {query.text}").replace("<", "&lt;")


def _heading(text: str) -> str:
    return _capital(bare(_line(text)).lstrip("#*-> ").rstrip("?.! "))


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:_LONGEST]


def _line(text: str) -> str:
    return " ".join(text.split())


# What the searches of a plan found, numbered as one: each passage once, whichever of them found it.

_ELSEWHERE = 3  # passages besides the conversations that a question is about

#: What tells a passage from others: the message, or the document and its words.
Key = tuple[NodeId, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """A search of the plan with what it found; of a search for several things together only what speaks of them all."""

    query: SubQuery
    evidence: Evidence

    @property
    def is_known(self) -> bool:
        """Whether something found answers."""
        return self.evidence.known and bool(self.evidence.passages)


@dataclass(slots=True)
class Findings:
    """All that was found so far."""

    of: list[Finding] = field(default_factory=list)

    def of_query(self, query: SubQuery, evidence: Evidence) -> Finding:
        """What a search found, but for what has nothing new in it."""
        passages = tuple(_near(evidence.passages))
        if query.joins:
            parts = [frozenset(terms(part)) for part in query.joins]
            passages = tuple(passage for passage in passages if _speaks_of_all(passage, parts))
        elif query.besides:
            passages = tuple(p for p in passages if p.message.conversation_id not in query.besides)[:_ELSEWHERE]
        elif query.round > 1:
            seen = {key(passage) for finding in self.of for passage in finding.evidence.passages}
            passages = tuple(passage for passage in passages if key(passage) not in seen)
            if query.widens:  # the words that were added bring what holds them, whatever it is about
                tried = frozenset(terms(query.widens))
                passages = tuple(passage for passage in passages if _speaks_of_all(passage, [tried]))
        return Finding(query, only(evidence, passages))

    @property
    def passages(self) -> tuple[SourcePassage, ...]:
        """Every passage once, in the order of the searches, numbered. What is only near is left out where anything is
        known.
        """
        found: dict[Key, SourcePassage] = {}
        for finding in self._telling:
            for passage in finding.evidence.passages:
                found.setdefault(key(passage), passage)
        return tuple(replace(passage, number=number) for number, passage in enumerate(found.values(), 1))

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """Of the messages and documents found."""
        return tuple(dict.fromkeys(passage.message.id for passage in self.passages))

    @property
    def known(self) -> bool:
        """Whether any of the searches found an answer."""
        return any(finding.is_known for finding in self.of)

    @property
    def answered(self) -> frozenset[str]:
        """The headings of the parts that some search answers, the first or a later one."""
        return frozenset(finding.query.heading for finding in self.of if finding.is_known)

    def found_by(self, passage: SourcePassage) -> list[int]:
        """The numbers of the searches that found a passage."""
        wanted = key(passage)
        return [
            number
            for number, finding in enumerate(self.of, 1)
            if any(key(one) == wanted for one in finding.evidence.passages)
        ]

    def as_evidence(self, question: str) -> Evidence:
        """All of it as the evidence for one answer."""
        telling = self._telling
        return Evidence(
            question=question,
            intent=Intent.SYNTHESIS,
            passages=self.passages,
            facts=tuple({fact.id: fact for one in telling for fact in one.evidence.facts}.values()),
            relations=tuple(dict.fromkeys(relation for one in telling for relation in one.evidence.relations)),
            likelihood=max((one.evidence.likelihood for one in self.of), default=0.0),
            known=self.known,
            searched=max((one.evidence.searched for one in self.of), default=0),
            notes=tuple(dict.fromkeys(note for one in self.of for note in one.evidence.notes)),
        )

    @property
    def _telling(self) -> Sequence[Finding]:
        return [finding for finding in self.of if finding.is_known] or self.of


def only(evidence: Evidence, passages: Sequence[SourcePassage]) -> Evidence:
    """The evidence with these of its passages, numbered anew, and what stands around them."""
    there = {passage.message.conversation_id for passage in passages}
    return replace(
        evidence,
        passages=tuple(replace(passage, number=number) for number, passage in enumerate(passages, 1)),
        around=tuple(message for message in evidence.around if message.conversation_id in there),
        known=evidence.known and bool(passages),
    )


def key(passage: SourcePassage) -> Key:
    """What tells a passage from others."""
    return passage.message.id, passage.message.content if passage.cited else ""


def _near(passages: Sequence[SourcePassage]) -> Iterator[SourcePassage]:
    """Without what comes far behind the best: a report names it as if it belonged there."""
    best = max((passage.score for passage in passages if not passage.cited), default=0.0)
    for passage in passages:
        if passage.cited or best <= 0 or passage.score >= NEAR_BEST * best:
            yield passage


def _speaks_of_all(passage: SourcePassage, parts: Sequence[frozenset[str]]) -> bool:
    title = passage.conversation.title if passage.conversation is not None else ""
    said = set(terms(f"{title} {passage.message.content}"))
    return all(said & part for part in parts)


# What is missing after a round, and what to look for next: by what the findings lack, or by a model.

_SHOWN = 3_000  # tokens of what was found
_MOST = 2  # further searches
_LEADS = 3  # words that lead on from what was found
_SHARED = 2  # conversations that have such a word
_LONG_ENOUGH = 4  # letters of one


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is missing in words, and the searches that may find it."""

    missing: tuple[str, ...] = ()
    queries: tuple[SubQuery, ...] = ()


def gaps_by_rules(question: str, findings: Findings, round_: int) -> Gaps:
    """Searches that found no answer are tried with the words that lead on from what was found; what the question names
    and nothing found says is missing.
    """
    poor = [finding for finding in findings.of if not finding.is_known and not finding.query.is_further]
    queries = [query for finding in poor if (query := _again(finding, round_)) is not None]
    return Gaps(_missing(question, findings), tuple(queries[:_MOST]))


def gaps_by_model(model: LanguageModel, question: str, findings: Findings, round_: int) -> tuple[Gaps, Completion]:
    """What a model finds missing, with what it took. Raises ModelError."""
    answer = model.complete(request("research_gaps", gaps_prompt(question, findings)))
    tried = {finding.query.text.casefold() for finding in findings.of}
    queries = [
        SubQuery(" ".join(one["query"].split()), told_heading(one["heading"]), round_)
        for one in answer.data["queries"]
        if " ".join(one["query"].split()).casefold() not in tried
    ]
    missing = tuple(" ".join(one.split()) for one in answer.data["missing"])
    return Gaps(missing, tuple(queries[:_MOST]) if missing else ()), answer


def gaps_prompt(question: str, findings: Findings) -> str:
    """What a model is shown to judge by."""
    searches = [
        f"| {named(finding.query)} ({len(finding.evidence.passages)} found"
        f"{'' if finding.is_known else ', none of them an answer'})"
        for finding in findings.of
    ]
    entries = [TranscriptEntry(p.message.id, heading(p.message), p.message.content) for p in findings.passages]
    shown = marked(material(entries, most_tokens=_SHOWN).text) if entries else "(nothing)"
    return "\n".join(["SEARCHES:", *searches, "", "MESSAGES FOUND:", shown, "", "QUESTION:", question])


def _again(finding: Finding, round_: int) -> SubQuery | None:
    """The search with the words that several of the conversations that it came near to have in common."""
    asked = set(terms(finding.query.text))
    of: dict[str, set[str]] = {}
    shown = Counter[str]()
    for passage in finding.evidence.passages:
        for word in words(passage.message.content):
            found = terms(word)
            if len(word) >= _LONG_ENOUGH and word.isalpha() and found and not {*found} & (asked | META_TERMS):
                of.setdefault(found[0], set()).add(passage.message.conversation_id)
                shown[word] += 1
    shared = [term for term, conversations in of.items() if len(conversations) >= _SHARED]
    shared.sort(key=lambda term: (-len(of[term]), term))
    leads = [max((word for word in shown if terms(word) == [term]), key=lambda w: shown[w]) for term in shared[:_LEADS]]
    tried = finding.query.text
    return SubQuery(f"{tried} {' '.join(leads)}", finding.query.heading, round_, widens=tried) if leads else None


def _missing(question: str, findings: Findings) -> tuple[str, ...]:
    """Parts that nothing was found for, and words of the question that no message found holds."""
    parts = [finding.query.heading for finding in findings.of if not finding.is_known and not finding.query.is_further]
    if not findings.known and not parts:
        return (question,)
    said = {term for passage in findings.passages for term in terms(f"{_title(passage)} {passage.message.content}")}
    unsaid = [word for word in _names(question) if terms(word) and not {*terms(word)} & said]
    return tuple(dict.fromkeys([*parts, *unsaid]))


def _title(passage: SourcePassage) -> str:
    return passage.conversation.title if passage.conversation is not None else ""


def _names(question: str) -> list[str]:
    """Words with a capital or a digit inside of a question: names, which a report should not pass over."""
    found = question.split()
    return [w for w in (word.strip(".,;:!?()\"'“”") for word in found[1:]) if w and (w[0].isupper() or w[0].isdigit())]


# The searches of a round, beside each other.

#: What each search brings: no more than a few of a conversation, so that a part is not told by one alone.
SETTINGS = IntentSettings(passages=10, each=3)


def search_all(
    find: Find, space: Space, search: Search, queries: Sequence[SubQuery]
) -> Iterator[tuple[SubQuery, Evidence]]:
    """Each query with what it found, as they are done, within the filters of `search`. Raises StoreError.

    Whoever stops before the end waits for those that are under way; the others are not begun.
    """
    with ThreadPoolExecutor(MOST, "recollect-research") as pool:
        waiting = {pool.submit(copy_context().run, _one, find, space, search, query): query for query in queries}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()


def _one(find: Find, space: Space, search: Search, query: SubQuery) -> Evidence:
    asked, settings = replace(search, query=replace(search.query, text=concrete(query.text))), SETTINGS
    if query.inside is not None:
        asked = replace(asked, filter=replace(asked.filter, conversation_ids=(query.inside,)))
        settings = replace(settings, each=settings.passages)
    return evidence_of(find, space, asked, Intent.SYNTHESIS if query.inside is not None else Intent.QA, settings)
