"""What a context is: the messages for a model, and what each part of it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.context.choices import IndexForm
from recollect.record import NodeId


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A part of a context: its tokens, and the ids of what stands in it, messages in the order in which they do.

    `name` is rules, guide, facts, summaries, recent, asked, knowledge, relevant or index. `whole` are those of the ids
    whose messages stand in it whole; of the others there is an excerpt, a line, or the name.
    """

    name: str
    text: str
    tokens: int
    ids: tuple[NodeId, ...] = ()
    whole: frozenset[NodeId] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """As in `recollect context --json`."""
        return {"name": self.name, "tokens": self.tokens, "ids": list(self.ids), "text": self.text}


@dataclass(frozen=True, slots=True)
class Context:
    """What a model needs to go on, within a budget.

    `messages` are for a model: what stands (a system message), the newest messages as they were said, and the text that
    was asked with, behind what was found for it. They are in the order of how seldom they change, so that two turns
    share as long a beginning as can be. `text` is the same for a model without roles, without the text that was asked.
    `tokens` counts all of `messages`. `index_form` says how the index of the rest was made (recent_only: nothing that
    was found is shown), `relevant` how many results decided that. `took` are milliseconds. `degraded` says in words why
    there is less than usual; None: there is not.
    """

    messages: tuple[Mapping[str, str], ...]
    text: str
    tokens: int
    budget: int
    index_form: IndexForm
    parts: tuple[ContextPart, ...]
    relevant: int = 0
    took: float = 0.0
    degraded: str | None = None

    def part(self, name: str) -> ContextPart | None:
        """The part of that name."""
        return next((part for part in self.parts if part.name == name), None)

    def whole_ids(self) -> set[NodeId]:
        """The messages that stand in it word for word."""
        return {own for part in self.parts for own in part.whole}

    def named_ids(self) -> set[NodeId]:
        """Everything that stands in it, whole, in part or by name."""
        return {own for part in self.parts for own in part.ids}

    def to_json(self) -> dict[str, Any]:
        """The document that `recollect context --json` prints."""
        return {
            "tokens": self.tokens,
            "budget": self.budget,
            "index_form": self.index_form,
            "relevant": self.relevant,
            "took_ms": round(self.took, 1),
            "degraded": self.degraded,
            "parts": [part.to_json() for part in self.parts],
            "messages": [dict(message) for message in self.messages],
        }
