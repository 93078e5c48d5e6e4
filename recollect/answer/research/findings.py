"""What the searches of a plan found, numbered as one: each passage once, whichever of them found it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from recollect.answer.evidence import NEAR_BEST, Evidence, SourcePassage
from recollect.answer.intents import Intent
from recollect.answer.research.plan import SubQuery
from recollect.record import NodeId
from recollect.text.terms import terms

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
