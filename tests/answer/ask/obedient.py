"""A model that does whatever it is told by a line that is not marked as data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.models.language.base import Completion, Request, RequestRejected, Usage
from recollect.models.language.talk import Call, Said, Spoken, Talk
from tests.answer.ask.injections import DEMANDS

#: What ends a line for some reader.
_LINES = re.compile(r"\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class Obedient:
    """Reads its request line by line. Lines behind a bar are what was said; all others are orders.

    `obeyed` are the demands that it found among the orders, `read` is all that it was given, `tools` how many it had.
    """

    name = "obedient"

    def __init__(self, before_question: str = "QUESTION") -> None:
        self._before_question = before_question
        self.obeyed: list[str] = []
        self.read = ""
        self.tools = 0

    def complete(self, request: Request) -> Completion:
        """Knows no schema."""
        raise RequestRejected("This model knows no schema.")

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """Answers, or does what it was told."""
        self.read += talk.text
        self.tools = max(self.tools, len(talk.tools))
        orders = "\n".join(line for line in _LINES.split(self._told(talk)) if not line.startswith("| "))
        found = [demand for demand in DEMANDS if demand in orders]
        self.obeyed += found
        words = found[0] if found else "As it was said [1]."
        calls = tuple(Call("1", tool.name, "{}") for tool in talk.tools if f"CALL {tool.name}" in orders)
        yield words
        said = Said(role="assistant", text=words, calls=calls)
        yield Spoken(said=said, stop="calls" if calls else "end", model=self.name, usage=Usage(1, 10, 5))

    def _told(self, talk: Talk) -> str:
        """All but what the person asks, which is an order, stands last, and is no part of what is tested."""
        last = talk.said[-1].text.rpartition(f"\n\n{self._before_question}:\n")[0]
        return "\n".join([talk.system, *(turn.text for turn in talk.said[:-1]), last])
