"""A set's questions put to the product, and where the first answering message and conversation came for each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.datasets import DataSet, Question
from benchmarks.metrics import DEPTH
from benchmarks.prepared import Prepared
from recollect.memory import Memory


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question. A rank counts from 1; 0 says that no evidence is among the first ten."""

    question: str
    origin: str
    category: str
    message: int
    session: int
    milliseconds: float

    def hit(self, k: int) -> float:
        """1 where an answering message is among the first k."""
        return float(0 < self.message <= k)

    def session_hit(self, k: int) -> float:
        """1 where a conversation with an answer is among the first k."""
        return float(0 < self.session <= k)

    @property
    def reciprocal(self) -> float:
        """1 / rank of the first answering message."""
        return 1 / self.message if self.message else 0.0


def ask(
    data: DataSet, prepared: Prepared, mode: str, wording: Callable[[str], str], *, sessions: bool = True
) -> Iterator[Outcome]:
    """Every question, each history in its own namespace. Raises what the product raises."""
    for history in data.histories:
        session_of = history.session_of()
        with prepared.memory(history) as memory:
            for question in history.questions:
                text = wording(question.text)
                began = time.perf_counter()
                found = message_ids(memory, text, mode)
                taken = time.perf_counter() - began
                conversations = conversation_ids(memory, text, mode) if sessions else []
                evidence = {session_of[message] for message in question.evidence}
                yield _outcome(question, first_of(found, question.evidence), first_of(conversations, evidence), taken)


def message_ids(memory: Memory, text: str, mode: str) -> list[str]:
    """The source's ids of the messages found, best first."""
    results = memory.search(text, group_by="message", limit=DEPTH, mode=mode)
    return [hit.messages[0].message.source_id or "" for hit in results]


def conversation_ids(memory: Memory, text: str, mode: str) -> list[str]:
    """The source's ids of the conversations found, best first."""
    results = memory.search(text, group_by="conversation", limit=DEPTH, mode=mode)
    return [hit.conversation.source_id or "" for hit in results]


def first_of(ranking: Sequence[str], evidence: frozenset[str] | set[str]) -> int:
    """The rank, from 1, of the first that is evidence; 0 for none."""
    return next((rank for rank, item in enumerate(ranking, 1) if item in evidence), 0)


def save(path: Path, asked: Mapping[str, Sequence[Outcome]]) -> None:
    """Writes outcomes to compare later ones with."""
    rows = {name: [_row(outcome) for outcome in outcomes] for name, outcomes in asked.items()}
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def load(path: Path) -> dict[str, list[Outcome]]:
    """What `save` wrote."""
    given: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: [Outcome(**row) for row in rows] for name, rows in given.items()}


def _outcome(question: Question, message: int, session: int, seconds: float) -> Outcome:
    return Outcome(question.text, question.origin, question.category, message, session, round(seconds * 1000, 2))


def _row(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__dataclass_fields__}
