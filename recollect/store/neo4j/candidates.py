"""What a search asks Neo4j for beside the arrays in memory: phrases, people, conversations, vectors of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import neo4j
import numpy as np

from recollect.record import Namespace, NodeId
from recollect.store.neo4j import search_queries
from recollect.store.neo4j.index import scope
from recollect.store.neo4j.lane import LoadedLane
from recollect.store.neo4j.records import key
from recollect.store.passages import Bool, Float, Int
from recollect.store.resident import Postings


def quoted(words: Sequence[str]) -> str:
    """Words as one phrase for the full-text index: within quotes nothing is an operator but these two signs."""
    return '"' + " ".join(word.replace("\\", "\\\\").replace('"', '\\"') for word in words) + '"'


@dataclass(frozen=True, slots=True)
class LaneReader:
    """Implements `recollect.store.pool.Reader` within one transaction."""

    tx: neo4j.ManagedTransaction
    namespace: Namespace
    lane: LoadedLane

    def postings(self, term: str) -> Postings:
        """The living rows that hold a term."""
        return self.lane.postings(term)

    def frequency(self, term: str) -> int:
        """How many they are."""
        return len(self.postings(term)[0])

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        """Numbers of conversations by source and id."""
        if ids is None:
            found = self.tx.run(search_queries.SOURCES, ns=self.namespace, sources=list(sources))
        else:
            wanted = list(sources) or None
            found = self.tx.run(search_queries.BY_IDS, ns=self.namespace, ids=list(ids), sources=wanted)
        return [record["number"] for record in found]

    def holding(self, phrase: tuple[str, ...]) -> Int:
        """Numbers of the passages that hold a phrase, word by word."""
        if not any(phrase):
            return np.zeros(0, np.int64)
        query = f'+scope:"{scope(self.lane.space, self.lane.lane)}" +words:{quoted(phrase)}'
        found = self.tx.run(search_queries.HOLDING, {"query": query}).single(strict=True)
        return np.sort(np.array(found["numbers"], np.int64))

    def speaker(self, name: str) -> int:
        """The number of a person."""
        found = self.tx.run(search_queries.SPEAKER, space=self.lane.space, key=key(name)).single()
        return found["number"] if found else -1

    def windows(self, numbers: Int) -> Sequence[tuple[int, bytes]]:
        """Vectors of runs of sentences."""
        return self.lane.runs(numbers.tolist(), self._read_runs)

    def quality(self) -> tuple[Float, Bool] | None:
        """Quality vectors."""
        return self.lane.quality(self.tx)

    def pieces(self) -> tuple[int, bytes] | None:
        """Counts of word pieces."""
        found = self.tx.run(search_queries.PIECES, space=self.lane.space).single()
        return (found["passages"], found["counts"]) if found else None

    def _read_runs(self, numbers: list[int]) -> dict[int, bytes]:
        found = self.tx.run(search_queries.RUNS, numbers=numbers)
        return {record["number"]: record["windows"] for record in found}
