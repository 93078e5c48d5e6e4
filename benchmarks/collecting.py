"""The features of each question's best candidates, by the product's table of terms: what weights are fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import numpy as np

from benchmarks.datasets import DataSet, Question
from benchmarks.listwise import Asked
from benchmarks.prepared import Prepared
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Message
from recollect.search.query.asking import ask
from recollect.search.query.request import Search, parse_query
from recollect.search.ranking import rank
from recollect.search.scoring import TERMS
from recollect.search.weights import LATE_POOL
from recollect.store import View
from recollect.store.passages import Filter, Partition

#: Candidates of a question that are looked at; in the quality mode those that late interaction has seen.
DEPTH = {"instant": 120, "quality": LATE_POOL}

_TODAY = date(2026, 11, 1)  # "last week" shall mean the same tomorrow


def collect(data: DataSet, prepared: Prepared, mode: str) -> Iterator[Asked]:
    """Every question of a set with the candidates that the product ranks best. Needs `prepared` for the mode."""
    embedder = StaticEmbedder()
    for history in data.histories:
        with prepared.view(history) as view:
            sources: dict[int, str] = {}
            for question in history.questions:
                search = Search(parse_query(question.text), Filter(), group_by="message", mode=mode)
                asked = ask(view, search, embedder, prepared.model, _TODAY)
                ranking = rank(view, asked, Partition.SAID, prepared.model)
                best = ranking.passages[: DEPTH[mode]]
                _learn_sources(view, sources, {entry.message: entry.passage for entry in best})
                rows = [entry.scores.matrix[entry.row] for entry in best]
                yield _asked(data, question, rows, [entry.message for entry in best], sources)


def _asked(
    data: DataSet, question: Question, rows: list[np.ndarray], messages: list[int], sources: dict[int, str]
) -> Asked:
    return Asked(
        data=data.name,
        origin=question.origin,
        features=np.stack(rows) if rows else np.zeros((0, len(TERMS)), np.float32),
        evidence=np.array([sources.get(message) in question.evidence for message in messages], bool),
        messages=np.array(messages, np.int64),
    )


def _learn_sources(view: View, known: dict[int, str], passages: dict[int, int]) -> None:
    """The source's ids of messages by number, looked up once each, through a passage of theirs."""
    fresh = [message for message in passages if message not in known]
    texts = view.passages([passages[message] for message in fresh])
    ids = [text.message_id for text in texts if text.message_id]
    by_id = {message.id: message.source_id or "" for message in view.get(Message, ids)}
    known |= {m: by_id.get(t.message_id, "") if t.message_id else "" for m, t in zip(fresh, texts, strict=True)}
