"""The report of a model: what it is given, its words as they come, and its citations checked (recollect.answer.ask)."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from recollect.answer.ask import Generated, generate
from recollect.answer.citations import renumbered
from recollect.answer.evidence import Citation, Evidence
from recollect.answer.extract import extract
from recollect.answer.intents import Intent, IntentSettings
from recollect.answer.research.plan import SETTINGS, Finding, Findings, Key, ResearchPlan, SubQuery, key, named, only
from recollect.answer.research.saving import KEPT
from recollect.answer.results import Again, AnswerWords, Report
from recollect.models.language.base import Usage
from recollect.models.language.talk import TalkingModel
from recollect.record import Conversation, Document, Message, NodeId, Role
from recollect.store import View

_MOST = 14_000  # tokens of material: more is read less well


@cache
def system() -> str:
    """What a model is told first."""
    prompts = resources.files("recollect.models.language.prompts")
    return "\n\n".join(prompts.joinpath(name).read_text("utf-8").strip() for name in ("research.md", "rules.md"))


def write(
    model: TalkingModel, question: str, findings: Findings, tokens: tuple[int, int]
) -> Generator[AnswerWords | Again | Generated, None, None]:
    """The words of the report as they come, and last the whole of it. Raises ModelError.

    `tokens` are those that the material may have, and the report.
    """
    material, answer = tokens
    settings: IntentSettings = replace(SETTINGS, material_tokens=min(material, _MOST), answer_tokens=answer)
    yield from generate(
        model,
        findings.as_evidence(question),
        settings,
        told=system(),
        before=_searches(findings),
        name="research",
    )


def _searches(findings: Findings) -> str:
    """The searches with their headings, and the numbers of what each found."""
    lines = ["SEARCHES, each with the heading of its part:"]
    passages = findings.passages
    for number, finding in enumerate(findings.of, 1):
        found = [str(passage.number) for passage in passages if number in findings.found_by(passage)]
        told = f"found {', '.join(found)}" if found else "found nothing that answers"
        lines.append(f"| {named(finding.query)} ({told})")
    return "\n".join(lines)


# The report where no model is asked: by parts, the best sentences as they were said, each with its source.

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
        cited = {citation.message.id for citation in draft.citations}
        told |= {key(passage) for passage in evidence.passages if passage.message.id in cited}
        parts.append(_part(finding.query, renumbered(draft.text, numbers)))
    lacking = _lacking(findings, missing, kept)
    citations = tuple(kept.values())
    opening = _opening(citations, known=findings.known)
    return Quoted("\n\n".join([f"# {plan.title}", opening, *parts, *lacking]), citations)


def _fresh(finding: Finding, told: set[Key]) -> Evidence:
    """The evidence of a part without what stands in an earlier one."""
    passages = [passage for passage in finding.evidence.passages if key(passage) not in told]
    return only(finding.evidence, passages)


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


# The report as Markdown: its sources at the end.

_LONGEST = 200  # characters of a quote in the list of sources
_SHORT = 6  # characters of an id that tell it apart
_MEANS = re.compile(r"([\\`*_\[\]<>])")


def sources(citations: Sequence[Citation]) -> str:
    """The part that lists them: the words, who said them, where and when, and the end of the id that opens it."""
    return "\n".join(["## Sources", "", *map(_source, citations)]) if citations else ""


def plain(text: str) -> str:
    """A foreign text on one line, without what Markdown would read as its own."""
    return _MEANS.sub(r"\\\1", " ".join(text.split()))


def _source(citation: Citation) -> str:
    quote = " ".join(citation.quote.split())
    quote = quote if len(quote) <= _LONGEST else f"{quote[:_LONGEST].rstrip()}…"
    message, conversation = citation.message, citation.conversation
    where = [plain(citation.cited)] if citation.cited else [message.speaker or message.role.value]
    if conversation is not None:
        where += [f"“{plain(conversation.title)}”"] if conversation.title else []
        where += [plain(conversation.source)]
    when = message.timestamp
    where += [f"{when.day} {when:%B %Y}"] if when is not None else []
    return f"{citation.number}. “{plain(quote)}” — {', '.join(where)} · `{message.id[-_SHORT:]}`"


# A report as it is kept in the memory, with the messages and documents that it cites.


def report_of(view: View, document: Document) -> Report:
    """The report that a document is. Of what was deleted since, no citation is left."""
    kept = document.metadata[KEPT]
    assert document.created is not None
    return Report(
        id=document.id,
        question=kept["question"],
        title=document.title,
        text=document.content,
        known=bool(kept.get("known", True)),
        created=document.created,
        citations=_citations(view, kept.get("cited", ())),
        missing=tuple(kept["missing"]),
        planned_by=kept["planned_by"],
        model=kept.get("model"),
        usage=Usage(*kept["usage"]),
        cost=kept["cost"] if kept["usage"][0] else None,
    )


def _citations(view: View, cited: Sequence[Sequence[Any]]) -> tuple[Citation, ...]:
    ids = [NodeId(of) for _, of, *_ in cited]
    messages: Mapping[str, Message] = {m.id: m for m in view.get(Message, ids) if not (m.deleted or m.erased)}
    conversations = {
        c.id: c for c in view.get(Conversation, list(dict.fromkeys(m.conversation_id for m in messages.values())))
    }
    documents = {d.id: d for d in view.get(Document, ids) if not (d.hidden or d.erased)}
    made = []
    for number, of, start, end, place in cited:
        if of in messages:
            message = messages[of]
            made.append(Citation(number, message, conversations.get(message.conversation_id), start, end))
        elif of in documents:
            of_document = Message(NodeId(of), NodeId(""), Role.USER, documents[of].content)
            made.append(Citation(number, of_document, None, start, end, place))
    return tuple(made)
