"""Questions whose answer is not in an archive, of two makes, beside the same questions where it is.

*Easy*: what was asked of another archive, put to this one. *Honest*: a question put to its own archive after every
conversation with an answering message was deleted there. What is left may still be about the same people and things,
which is what a real archive looks like when it does not hold the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.datasets import DataSet, History, Question
from benchmarks.prepared import Prepared
from recollect.store import View

HERE, EASY, HONEST = "here", "easy", "honest"
CASES = (HERE, EASY, HONEST)


@dataclass(frozen=True, slots=True)
class Put:
    """A question put to a history, and a view of this as it then is. `case` is one of CASES."""

    case: str
    question: Question
    view: View


def foreign(data: DataSet, others: Sequence[DataSet]) -> list[tuple[History, Question]]:
    """Every question with a history of the set that it was not written for, each history getting as many.

    Of a set that is one archive alone, the questions of the `others` are asked, as many as it has itself.
    """
    own = [(h, question) for h in data.histories for question in h.questions]
    if len(data.histories) > 1:
        return [
            (_another(data.histories, history, number), question)
            for history in data.histories
            for number, question in enumerate(history.questions)
        ]
    strange = [
        question for other in others if other.name != data.name for h in other.histories for question in h.questions
    ]
    step = max(1, len(strange) // max(1, len(own)))
    return [(data.histories[0], question) for question in strange[::step][: len(own)]]


def put(data: DataSet, prepared: Prepared, others: Sequence[DataSet], cases: Sequence[str] = CASES) -> Iterator[Put]:
    """Every question three times: where its answer is, and made unanswerable in both ways."""
    strange = defaultdict(list)
    for history, question in foreign(data, others):
        strange[history.id].append(question)
    for history in data.histories:
        with prepared.view(history) as view:
            if HERE in cases:
                yield from (Put(HERE, question, view) for question in history.questions)
            if EASY in cases:
                yield from (Put(EASY, question, view) for question in strange[history.id])
        if HONEST in cases:
            yield from _without_answers(history, prepared)


def _another(histories: Sequence[History], own: History, number: int) -> History:
    others = [history for history in histories if history.id != own.id]
    return others[number % len(others)]


def _without_answers(history: History, prepared: Prepared) -> Iterator[Put]:
    """Questions with the same answering conversations share a copy of the store from which these were deleted."""
    session_of = history.session_of()
    together = defaultdict(list)
    for question in history.questions:
        together[frozenset(session_of[message] for message in question.evidence)].append(question)
    for sessions, questions in together.items():
        with TemporaryDirectory(prefix="absent-") as folder:
            copied = prepared.copied(Path(folder))
            with copied.memory(history) as memory:
                listed = memory.conversations(limit=len(history.sessions) + 1)
                gone = [row.conversation.id for row in listed if row.conversation.source_id in sessions]
                if len(gone) == len(listed):  # nothing would be left to search
                    continue
                memory.delete(*gone)
            with copied.view(history) as view:
                yield from (Put(HONEST, question, view) for question in questions)
