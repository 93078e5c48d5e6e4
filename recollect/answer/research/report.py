"""What research gives back: a report in Markdown with numbered sources, and what is told while it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.answer.ask.answer import Step
from recollect.answer.chat.events import Again, AnswerWords
from recollect.answer.evidence import Citation
from recollect.models.language.usage import NOTHING_USED, Usage
from recollect.record import NodeId, iso


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
