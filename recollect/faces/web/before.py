"""Before a search: examples from one's own data, and what was talked of lately."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

from recollect.faces.web.asked import SearchParameters
from recollect.memory import ConversationRow, Memory
from recollect.record import Kind, Role

_EXAMPLES, _LATELY = 3, 8
_LISTED = 50  # conversations of a page
_READ = 12  # messages at the end of a conversation, for a question of one's own

#: A question that stands alone: no code, no address, and not the end of a thought begun before.
_QUESTION = re.compile(r"(?:^|(?<=[.!?]\s))[^\W\d_][^.!?:;\n`<>{}=/\\()|*\[\]]{14,70}\?(?=\s|$)", re.MULTILINE)
_LEANS = re.compile(r"(?:and|but|so|ok|okay|or|also|then|it|that|this|e|mas|und|aber|och|men)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """The conversations that a search without words is about, newest first; `further` is the address of the next."""

    rows: list[ConversationRow]
    further: str
    next: int | None

    @classmethod
    def read(cls, memory: Memory, asked: SearchParameters, shown: str) -> Listed:
        """Those of a page whose address is `shown`. Raises InvalidInput."""
        rows = memory.conversations(
            source=asked.source,
            since=asked.since or None,
            until=asked.until or None,
            limit=_LISTED + 1,
            offset=asked.offset,
        )
        next_ = asked.offset + _LISTED if len(rows) > _LISTED else None
        path, _, query = shown.partition("?")
        kept = [(name, value) for name, value in parse_qsl(query) if name != "from"]
        further = f"{path}?{urlencode([*kept, ('from', str(next_))])}" if next_ else ""
        return cls(rows[:_LISTED], further, next_)

    def to_json(self) -> dict[str, Any]:
        """What is listed."""
        return {
            "conversations": self.rows,
            "next": self.next,
        }


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
        """What could be searched for: questions once asked, one of a conversation, else what many are about."""
        found = list(dict.fromkeys(self._questions()))[:_EXAMPLES]
        if len(found) < _EXAMPLES:
            found += [topic.label.replace(",", "") for topic in self.memory.topics(limit=_EXAMPLES - len(found))]
        return found

    def _questions(self) -> Iterator[str]:
        for row in self.lately:
            said = self.memory.latest(row.conversation.id, limit=_READ)
            asked = (m.content for m in said if m.role is Role.USER and m.kind is Kind.SAID)
            whole = (one for text in asked for one in _QUESTION.findall(text) if one.count(" ") > 1)
            if question := next((one for one in whole if not _LEANS.match(one)), ""):
                yield question
