"""What a turn of a chat tells while it runs, and the answer that it ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recollect.answer.evidence import SourcePassage
from recollect.answer.references.rules import Reference
from recollect.models.language.usage import NOTHING_USED, Usage
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
