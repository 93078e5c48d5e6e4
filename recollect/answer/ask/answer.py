"""What asking gives back: an answer with numbered citations, and what is told while it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.answer.chat.events import Again, AnswerWords
from recollect.answer.evidence import Citation
from recollect.answer.intents import Intent
from recollect.models.language.usage import NOTHING_USED, Usage


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
