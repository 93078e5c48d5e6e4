"""What a search asks SQLite for beside the arrays in memory: words, people, conversations, vectors of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import apsw
import numpy as np
import orjson

from recollect.record import NodeId
from recollect.store.passages import Bool, Float, Int
from recollect.store.resident import Postings
from recollect.store.sqlite.corpus import Corpus
from recollect.store.sqlite.index import scope

SOURCES = """
SELECT num FROM conversation WHERE ns = ?1 AND (?2 IS NULL OR source IN (SELECT value FROM json_each(?2)))
  AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3)))
"""
SPEAKER = "SELECT num FROM speaker WHERE ns = ? AND name = ?"
WORDS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
WINDOWS = "SELECT num, vectors FROM window_vector WHERE num IN (SELECT value FROM json_each(?))"
PIECES = "SELECT passages, counts FROM piece_count WHERE ns = ?"


@dataclass(frozen=True, slots=True)
class CorpusReader:
    """Implements `recollect.store.pool.Reader` within one transaction."""

    connection: apsw.Connection
    corpus: Corpus

    def postings(self, term: str) -> Postings:
        """The living rows that hold a term."""
        return self.corpus.postings(self.connection, term)

    def frequency(self, term: str) -> int:
        """How many they are."""
        return len(self.postings(term)[0])

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        """Numbers of conversations by source and id."""
        values = (
            self.corpus.ns,
            orjson.dumps(sources).decode() if sources else None,
            orjson.dumps(ids).decode() if ids is not None else None,
        )
        return [row[0] for row in self.connection.execute(SOURCES, values)]

    def holding(self, phrase: tuple[str, ...]) -> Int:
        """Numbers of the passages that hold a phrase, word by word."""
        quoted = " ".join(word.replace('"', '""') for word in phrase)
        query = f'scope : {scope(self.corpus.ns, self.corpus.lane)} AND text : "{quoted}"'
        found: list[Any] = self.connection.execute(WORDS, (query,)).fetchall()
        return np.fromiter(chain.from_iterable(found), np.int64, len(found))

    def speaker(self, name: str) -> int:
        """The number of a person."""
        return self.connection.execute(SPEAKER, (self.corpus.ns, name)).get or -1

    def windows(self, numbers: Int) -> Sequence[tuple[int, bytes]]:
        """Vectors of runs of sentences."""
        wanted = orjson.dumps(numbers.tolist()).decode()
        found: list[Any] = self.connection.execute(WINDOWS, (wanted,)).fetchall()
        return found

    def quality(self) -> tuple[Float, Bool] | None:
        """Quality vectors."""
        return self.corpus.quality(self.connection)

    def pieces(self) -> tuple[int, bytes] | None:
        """Counts of word pieces."""
        found: tuple[int, bytes] | None = self.connection.execute(PIECES, (self.corpus.ns,)).fetchone()
        return found
