"""The report where no model is asked: by parts, the best sentences as they were said, each with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.answer.citations import renumbered
from recollect.answer.evidence import Citation, Evidence, SourcePassage
from recollect.answer.extract import extract
from recollect.answer.intents import Intent
from recollect.answer.research.findings import Finding, Findings, Key, key, only
from recollect.answer.research.plan import ResearchPlan, SubQuery
from recollect.record import NodeId

_NEAREST = 2  # quotes of a part that nothing answers


@dataclass(frozen=True, slots=True)
class Quoted:
    """The text with numbers, without the list of sources, and what they stand for."""

    text: str
    citations: tuple[Citation, ...]


def quoted(plan: ResearchPlan, findings: Findings, missing: Sequence[str]) -> Quoted:
    """A part for each search, with the words that answer it; then what was not found."""
    told: set[Key] = set()
    kept: dict[tuple[NodeId, str], Citation] = {}
    parts: list[str] = []
    for finding in findings.of:
        if not finding.is_known:
            continue
        evidence = _fresh(finding, told)
        draft = extract(evidence)
        if not draft.text.strip():
            continue
        numbers = {citation.number: _number(kept, citation) for citation in draft.citations}
        told |= {key(passage) for passage in evidence.passages if _is_cited(passage, draft.citations)}
        parts.append(_part(finding.query, renumbered(draft.text, numbers)))
    lacking = _lacking(findings, missing, kept)
    citations = tuple(kept.values())
    opening = _opening(citations, known=findings.known)
    return Quoted("\n\n".join([f"# {plan.title}", opening, *parts, *lacking]), citations)


def _fresh(finding: Finding, told: set[Key]) -> Evidence:
    """The evidence of a part without what stands in an earlier one."""
    passages = [passage for passage in finding.evidence.passages if key(passage) not in told]
    return only(finding.evidence, passages)


def _is_cited(passage: SourcePassage, citations: Sequence[Citation]) -> bool:
    return any(citation.message.id == passage.message.id for citation in citations)


def _number(kept: dict[tuple[NodeId, str], Citation], citation: Citation) -> int:
    """The number of a source in the whole report; the same words of the same message are one."""
    place = (citation.message.id, citation.quote)
    if place not in kept:
        kept[place] = replace(citation, number=len(kept) + 1)
    return kept[place].number


def _part(query: SubQuery, text: str) -> str:
    """The text under its heading; that of one conversation begins with its title, which is the heading then."""
    first, _, rest = text.partition("\n")
    if query.inside is not None and rest and first.endswith(":"):
        return f"## {first[:-1]}\n\n{rest}"
    if "```" in text:
        return f"## {query.heading}\n\n{text}"
    lines = [line if line.startswith("- ") else f"- {line}" for line in text.splitlines() if line.strip()]
    return "\n".join([f"## {query.heading}", "", *lines])


def _opening(citations: Sequence[Citation], *, known: bool) -> str:
    if not known:
        return "Your conversations do not say."
    moments = sorted(c.message.timestamp for c in citations if c.message.timestamp is not None)
    conversations = {c.conversation.id for c in citations if c.conversation is not None}
    files = {c.message.id for c in citations if c.cited}
    told = [_count(len({c.message.id for c in citations if not c.cited}), "message")] if conversations else []
    told = [f"{told[0]} in {_count(len(conversations), 'conversation')}"] if told else []
    told += [_count(len(files), "document")] if files else []
    first, last = (moments[0], moments[-1]) if moments else (None, None)
    span = "" if first is None or last is None else f", {first:%B %Y} – {last:%B %Y}"
    if first is not None and last is not None and f"{first:%B %Y}" == f"{last:%B %Y}":
        span = f", {first:%B %Y}"
    return f"Quoted from {' and '.join(told)}{span}. No model was asked: the words stand as they were said."


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _lacking(findings: Findings, missing: Sequence[str], kept: dict[tuple[NodeId, str], Citation]) -> list[str]:
    """The last part: what was looked for and not found, with what comes nearest."""
    lines: list[str] = []
    unanswered = [
        finding
        for finding in findings.of
        if not (finding.query.is_further or finding.query.widens or finding.query.heading in findings.answered)
    ]
    for finding in unanswered:
        near = extract(replace(finding.evidence, intent=Intent.RETRIEVAL)).citations[:_NEAREST]
        quotes = [f"“{' '.join(one.quote.split())}” [{_number(kept, one)}]" for one in near]
        lines.append(f"- {finding.query.heading}: not found.{' Nearest: ' if quotes else ''}{' '.join(quotes)}")
    headings = {finding.query.heading for finding in unanswered}
    lines += [f"- {one}: no message found speaks of it." for one in missing if one not in headings | findings.answered]
    return ["\n".join(["## What is missing", "", *lines])] if lines else []
