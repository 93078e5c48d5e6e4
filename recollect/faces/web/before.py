"""Before a search: examples from one's own data, and what was talked of lately."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recollect.memory import ConversationRow, Memory

_EXAMPLES, _LATELY = 3, 8


@dataclass(frozen=True)
class BeforeSearch:
    """Read when it is shown."""

    memory: Memory

    def to_json(self) -> dict[str, Any]:
        """What there is to begin with."""
        return {
            "examples": self.examples,
            "lately": [{"id": row.conversation.id, "title": row.conversation.title} for row in self.lately],
        }

    @cached_property
    def lately(self) -> list[ConversationRow]:
        """The newest conversations."""
        return self.memory.conversations(limit=_LATELY)

    @cached_property
    def examples(self) -> list[str]:
        """What could be searched for: what many conversations are about, else titles."""
        labels = [topic.label.replace(",", "") for topic in self.memory.topics(limit=_EXAMPLES)]
        titles = [row.conversation.title for row in self.lately if row.conversation.title]
        return (labels + titles)[:_EXAMPLES]
