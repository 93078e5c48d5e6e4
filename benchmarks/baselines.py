"""What a stranger would build in an afternoon: FTS5, a vector per message, windows of ten messages.

Each gets the same messages (a person's after the name) and the question as it was asked, and ranks messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import apsw
import numpy as np

from benchmarks.datasets import History
from recollect.models.embedding.base import Embedder, Vectors
from recollect.models.embedding.tokenizer import packaged_tokenizer
from recollect.text.terms import STOP_WORDS

#: From a question to the ids of all messages that it finds, best first.
Ranking = Callable[[str], list[str]]

#: What MiniLM sees of a text in such systems: 256 tokens with the two special ones, the rest is dropped.
_SEEN = 254
_SEEN_CHARACTERS = 4_000
_WINDOW, _SHARED = 10, 2
_MATCHES = 500  # messages of BM25: enough for ten sessions

_CREATE = "CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')"
_ADD = "INSERT INTO said (rowid, text) VALUES (?, ?)"
_FIND = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank, rowid LIMIT ?"
_WORD = re.compile(r"\w+")


def fts5(history: History) -> Ranking:
    """SQLite's FTS5 with the Porter stemmer; any word of the question may match that is no stop word."""
    messages = history.messages
    connection = apsw.Connection(":memory:")
    connection.execute(_CREATE)
    connection.executemany(_ADD, ((number, message.line) for number, message in enumerate(messages)))

    def rank(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question) if word.lower() not in STOP_WORDS)
        rows = connection.execute(_FIND, (words, _MATCHES)) if words else ()
        return [messages[number].id for (number,) in rows]

    return rank


def vectors(history: History, model: Embedder) -> Ranking:
    """A MiniLM vector a message and the cosine, as a Chroma collection with its defaults."""
    messages = history.messages
    known = model.embed([seen_by_model(message.line) for message in messages])

    def rank(question: str) -> list[str]:
        return [messages[i].id for i in _by_cosine(known, model, question)]

    return rank


def windows(history: History, model: Embedder) -> Ranking:
    """Windows of ten messages, two shared, each with a vector; the messages of a window, too, by their likeness."""
    runs = [range(first + run.start, first + run.stop) for first, run in _all_runs(history)]
    messages = history.messages
    known = model.embed([seen_by_model("\n".join(messages[i].line for i in run)) for run in runs])
    single = model.embed([seen_by_model(message.line) for message in messages])

    def rank(question: str) -> list[str]:
        likeness = single @ model.embed([question])[0]
        best = (sorted(runs[w], key=lambda i: -likeness[i]) for w in _by_cosine(known, model, question))
        return [messages[i].id for run in best for i in run]

    return rank


def seen_by_model(text: str) -> str:
    """The beginning of a text that a model of 256 tokens sees."""
    encoded = packaged_tokenizer().encode(text[:_SEEN_CHARACTERS], add_special_tokens=False)
    return text if len(encoded.ids) <= _SEEN else text[: encoded.offsets[_SEEN - 1][1]]


def _all_runs(history: History) -> Iterator[tuple[int, range]]:
    """Each session's place among all messages, with each of its windows."""
    first = 0
    for session in history.sessions:
        count = len(session.messages)
        for at in range(0, max(1, count - _SHARED), _WINDOW - _SHARED):
            yield first, range(at, min(at + _WINDOW, count))
        first += count


def _by_cosine(known: Vectors, model: Embedder, question: str) -> list[int]:
    likeness = known @ model.embed([question])[0]
    return [int(i) for i in np.argsort(-likeness, kind="stable")]
