"""Retrieval quality: the product in both modes beside the baselines, on the same messages and questions in one run."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import baselines
from benchmarks.datasets import DataSet, History, Question
from benchmarks.engines import NEO4J, SQLITE, Engine
from benchmarks.hybrid import Hybrid, OwnBM25
from benchmarks.intervals import Interval, mean_with_bounds
from benchmarks.metrics import Figures, figures, first_seen, found
from benchmarks.prepared import cache_folder
from benchmarks.systems import Product
from benchmarks.vectors import RememberingModel
from recollect.models.embedding.base import TokenEmbedder

INSTANT, QUALITY = "recollect, instant", "recollect, quality"
INSTANT_NEO4J, QUALITY_NEO4J = "recollect on Neo4j, instant", "recollect on Neo4j, quality"
_MODES = {SQLITE: (INSTANT, QUALITY), NEO4J: (INSTANT_NEO4J, QUALITY_NEO4J)}
FTS5, BM25 = "BM25 (FTS5)", "BM25 (our terms)"
HYBRID, TITLED = "z(BM25) + z(static)", "the same with titles"
VECTORS, WINDOWS = "MiniLM int8 per message", "MiniLM int8, windows of 10"
BASELINES = (FTS5, BM25, HYBRID, TITLED, VECTORS, WINDOWS)
SYSTEMS = (INSTANT, QUALITY, INSTANT_NEO4J, QUALITY_NEO4J, *BASELINES)

#: How the histories of a set are kept: each in a namespace of its own, or all in one.
APART, TOGETHER = "each history by itself", "the whole set as one archive"

#: Told what is being done.
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system found for a question: ids of messages and of sessions, best first; how long the messages took."""

    history: str
    question: Question
    messages: list[str]
    sessions: list[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Result:
    """A system's figures on a set."""

    data: str
    arrangement: str
    system: str
    messages: Figures
    sessions: Figures
    at_five: Interval  # recall@5 of messages
    p50_ms: float
    p95_ms: float

    def to_json(self) -> dict[str, object]:
        """As in the results file."""
        return {
            "set": self.data,
            "arrangement": self.arrangement,
            "system": self.system,
            "message": self.messages.to_json(),
            "session": self.sessions.to_json(),
            "recall@5 from, to": [round(self.at_five.low, 1), round(self.at_five.high, 1)],
            "p50_ms": round(self.p50_ms, 1),
            "p95_ms": round(self.p95_ms, 1),
        }


def measure(
    sets: list[DataSet], engines: Sequence[Engine], say: Say, *, together: bool = False, quality: bool = True
) -> list[Result]:
    """Every system on every set, where it is asked for also as one archive; without quality no system with MiniLM."""
    model = RememberingModel.packaged(cache_folder()) if quality else None
    results = []
    for data in sets:
        arrangements = [(APART, data)]
        if together and len(data.histories) > 1:
            arrangements.append((TOGETHER, data.joined()))
        for arrangement, arranged in arrangements:
            say(f"{data.name}: {arrangement}")
            for system, answers in answers_of(arranged, engines, model).items():
                results.append(summarised(data.name, arrangement, system, answers, arranged))
    return results


def answers_of(data: DataSet, engines: Sequence[Engine], model: TokenEmbedder | None) -> dict[str, list[Answer]]:
    """All systems' answers to all questions of a set, each history by itself."""
    answers: dict[str, list[Answer]] = defaultdict(list)
    for history in data.histories:
        for system, answer in _history_answers(history, engines, model):
            answers[system].append(answer)
    return dict(answers)


def summarised(data: str, arrangement: str, system: str, answers: list[Answer], arranged: DataSet) -> Result:
    """The figures of one system's answers."""
    session_of = {history.id: history.session_of() for history in arranged.histories}
    of_messages = figures((answer.messages, answer.question.evidence) for answer in answers)
    of_sessions = figures(
        (answer.sessions, {session_of[answer.history][message] for message in answer.question.evidence})
        for answer in answers
    )
    at_five = mean_with_bounds([100.0 * found(answer.messages, answer.question.evidence, 5) for answer in answers])
    p50, p95 = np.percentile([1000 * answer.seconds for answer in answers], (50, 95))
    return Result(data, arrangement, system, of_messages, of_sessions, at_five, float(p50), float(p95))


def _history_answers(
    history: History, engines: Sequence[Engine], model: TokenEmbedder | None
) -> Iterator[tuple[str, Answer]]:
    for engine in engines:
        instant, quality = _MODES[engine.name]
        with TemporaryDirectory(prefix="recollect-bench-") as folder:
            product = Product(history, engine.place(Path(folder)), Path(folder), model)
            try:
                yield from _product_answers(instant, "instant", product, history)
                if model is None:
                    continue
                product.make_quality()
                yield from _product_answers(quality, "quality", product, history)
            finally:
                product.close()
    yield from _ranking_answers(FTS5, baselines.fts5(history), history)
    yield from _ranking_answers(BM25, OwnBM25(history), history)
    yield from _ranking_answers(HYBRID, Hybrid(history, titles=False), history)
    yield from _ranking_answers(TITLED, Hybrid(history, titles=True), history)
    if model is None:
        return
    yield from _ranking_answers(VECTORS, baselines.vectors(history, model), history)
    yield from _ranking_answers(WINDOWS, baselines.windows(history, model), history)


def _product_answers(system: str, mode: str, product: Product, history: History) -> Iterator[tuple[str, Answer]]:
    for question in history.questions:
        began = time.perf_counter()
        messages = product.messages(question.text, mode)
        taken = time.perf_counter() - began
        yield system, Answer(history.id, question, messages, product.sessions(question.text, mode), taken)


def _ranking_answers(system: str, rank: Callable[[str], list[str]], history: History) -> Iterator[tuple[str, Answer]]:
    session_of = history.session_of()
    for question in history.questions:
        began = time.perf_counter()
        messages = first_seen(rank(question.text))
        taken = time.perf_counter() - began
        sessions = first_seen(session_of[message] for message in messages)
        yield system, Answer(history.id, question, messages, sessions, taken)
