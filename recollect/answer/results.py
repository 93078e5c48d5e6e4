"""What a turn of a chat tells while it runs, and the answer that it ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.answer.evidence import Citation, SourcePassage
from recollect.answer.intents import Intent
from recollect.answer.references.rules import Reference
from recollect.models.language.base import NOTHING_USED, Usage
from recollect.record import NodeId, iso


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """The next words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool that the model called, with its arguments as it wrote them, and what came of it."""

    name: str
    arguments: str
    tokens: int
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """The words so far do not count. The answer broke off and is asked for again; or without `asks` the model is not
    asked again: what it said is mended and follows, or it failed and the last event holds what stands there instead.
    """

    why: str
    asks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """A whole turn. `resolved` is the question with its references resolved, `entities` are who and what it is about.

    `model` is None where none was asked, or the one that was asked failed: then `text` gives the passages that may
    answer, and says so. `note` is what the reader should know besides. `drifted`: the talk turned to something else.
    """

    text: str
    conversation_id: NodeId
    question_id: NodeId
    answer_id: NodeId | None
    question: str
    resolved: str
    references: tuple[Reference, ...] = ()
    entities: tuple[str, ...] = ()
    drifted: bool = False
    sources: tuple[SourcePassage, ...] = ()
    tools: tuple[ToolUsed, ...] = ()
    model: str | None = None
    usage: Usage = NOTHING_USED
    cost: float | None = None
    note: str = ""
    took_ms: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As in `recollect chat --json`."""
        return {
            "conversation_id": self.conversation_id,
            "question_id": self.question_id,
            "answer_id": self.answer_id,
            "question": self.question,
            "resolved": self.resolved,
            "references": [{"said": one.said, "meant": one.meant} for one in self.references],
            "entities": list(self.entities),
            "drifted": self.drifted,
            "answer": self.text,
            "model": self.model,
            "note": self.note,
            "sources": [
                {
                    "number": source.number,
                    "message_id": None if source.cited else source.message.id,
                    "document_id": source.message.id if source.cited else None,
                    "conversation_id": source.message.conversation_id or None,
                    "title": source.cited or source.title,
                    "role": "document" if source.cited else source.message.role.value,
                    "timestamp": iso(source.message.timestamp),
                    "score": round(source.score, 4),
                    "used": source.is_used,
                    "snippet": source.snippet,
                }
                for source in self.sources
            ],
            "tools": [
                {"name": tool.name, "arguments": tool.arguments, "tokens": tool.tokens, "is_error": tool.is_error}
                for tool in self.tools
            ],
            "tokens": {"input": self.usage.input_tokens, "output": self.usage.output_tokens, "calls": self.usage.calls},
            "cost": self.cost,
            "took_ms": round(self.took_ms, 1),
        }

    def __str__(self) -> str:
        return self.text


ChatEvent = AnswerWords | ToolUsed | Again | ChatAnswer


# What asking gives back: an answer with numbered citations, and what is told while it is made.


@dataclass(frozen=True, slots=True)
class Step:
    """What was done on the way: `name` is understood, searched or answering, `detail` says it in words."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAnswer:
    """An answer from the memory. `known` is False where the conversations do not say: then `citations` are the nearest.

    `likelihood` is how likely the memory holds an answer, as the search judges it. `model` is None for an extract.
    `removed` counts citations of a model that pointed to nothing that was retrieved. `notes` say what the reader should
    know besides.
    """

    question: str
    intent: Intent
    known: bool
    text: str
    citations: tuple[Citation, ...] = ()
    likelihood: float = 0.0
    model: str | None = None
    usage: Usage = NOTHING_USED
    cost: float | None = None
    removed: int = 0
    notes: Sequence[str] = ()
    took_ms: float = 0.0

    @property
    def tokens(self) -> int:
        """What a model read and wrote."""
        return self.usage.tokens

    def to_json(self) -> dict[str, Any]:
        """The document that `recollect ask --json` prints (docs/reference/json.md)."""
        return {
            "question": self.question,
            "intent": self.intent.value,
            "known": self.known,
            "likelihood": round(self.likelihood, 3),
            "answer": self.text,
            "citations": [citation.to_json() for citation in self.citations],
            "removed": self.removed,
            "notes": list(self.notes),
            "model": self.model,
            "tokens": {"input": self.usage.input_tokens, "output": self.usage.output_tokens, "calls": self.usage.calls},
            "cost": self.cost,
            "took_ms": round(self.took_ms, 1),
        }

    def __str__(self) -> str:
        return self.text


AskEvent = Step | AnswerWords | Again | AskAnswer


# What research gives back: a report in Markdown with numbered sources, and what is told while it is made.


@dataclass(frozen=True, slots=True)
class ReportPart:
    """A search of the plan as it went: how many passages it found, and whether they answer."""

    query: str
    heading: str
    round: int
    passages: int
    known: bool

    def to_json(self) -> dict[str, Any]:
        """As in `research --json`."""
        return {
            "query": self.query,
            "heading": self.heading,
            "round": self.round,
            "passages": self.passages,
            "known": self.known,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report: `text` is Markdown, with its sources at the end. It is kept in the memory as the document `id`.

    `known` is False where the conversations do not say; such a report is not kept. `model` is None where the report
    quotes and no model wrote it, `planned_by` "rules" or a model. `missing` says what was asked for and not found,
    `removed` counts citations of a model that pointed to nothing that was found.
    """

    id: NodeId
    question: str
    title: str
    text: str
    known: bool
    created: datetime
    parts: tuple[ReportPart, ...] = ()
    citations: tuple[Citation, ...] = ()
    missing: tuple[str, ...] = ()
    planned_by: str = "rules"
    model: str | None = None
    usage: Usage = NOTHING_USED
    cost: float | None = None
    removed: int = 0
    notes: Sequence[str] = ()
    steps: tuple[Step, ...] = ()
    took_ms: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The document that `recollect research --json` prints (docs/reference/json.md)."""
        return {
            "id": self.id,
            "question": self.question,
            "title": self.title,
            "created": iso(self.created),
            "known": self.known,
            "report": self.text,
            "plan": [part.to_json() for part in self.parts],
            "planned_by": self.planned_by,
            "citations": [citation.to_json() for citation in self.citations],
            "missing": list(self.missing),
            "removed": self.removed,
            "notes": list(self.notes),
            "model": self.model,
            "tokens": {"input": self.usage.input_tokens, "output": self.usage.output_tokens, "calls": self.usage.calls},
            "cost": self.cost,
            "steps": [{"name": step.name, "detail": step.detail} for step in self.steps],
            "took_ms": round(self.took_ms, 1),
        }

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class SavedReport:
    """A report that is kept, or research that is not finished (`finished` is None): it was interrupted, unless it is
    `under_way`. `sources` counts what it cites.
    """

    id: NodeId
    title: str
    question: str
    created: datetime
    finished: datetime | None
    sources: int
    model: str | None
    under_way: bool = False

    def to_json(self) -> dict[str, Any]:
        """As in `research --list --json`."""
        return {
            "id": self.id,
            "title": self.title,
            "question": self.question,
            "created": iso(self.created),
            "finished": iso(self.finished),
            "sources": self.sources,
            "model": self.model,
            "under_way": self.under_way,
        }


ReportEvent = Step | AnswerWords | Again | Report
