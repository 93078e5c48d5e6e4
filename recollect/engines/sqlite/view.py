"""One snapshot of a namespace: a transaction that reads, on a connection that is lent to it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Literal

import apsw

from recollect.engines.sqlite import counts, edges, find, generations, read, spoken, tasks, texts
from recollect.engines.sqlite.source import PartitionSource
from recollect.index.candidates import candidates, sharing
from recollect.index.corpus import IndexCache
from recollect.index.snapshot import Snapshot
from recollect.index.vocabulary import IndexVocabulary
from recollect.index.words import known
from recollect.record import Edge, Message, NodeId, Thread
from recollect.store.change import IndexDamaged, Record, Task
from recollect.store.passages import CandidateQuery, Features, Int, Partition, PassageText, QueryTerms
from recollect.store.results import Counts, End, IndexInfo, Page, R, Revision, Span, Where

_NOWHERE = -1  # the number of a namespace that holds nothing yet


class SQLiteView:
    """Implements `recollect.store.base.View`."""

    def __init__(
        self, connection: apsw.Connection, ns: int | None, index: IndexCache, clock: Callable[[], datetime]
    ) -> None:
        self._connection, self._index, self._clock = connection, index, clock
        self._ns = _NOWHERE if ns is None else ns
        self._live = generations.live(connection, self._ns)
        self._snapshots: dict[int, Snapshot] = {}
        self._phrases: dict[str, Int] = {}
        self._compounds: dict[tuple[str, int], list[str]] = {}

    @property
    def stamp(self) -> Hashable:
        """The connection, and SQLite's count of what others have committed since that was opened. No reader writes."""
        found: int = self._connection.execute("PRAGMA data_version").get
        return weakref.ref(self._connection), found

    # --- the record ------------------------------------------------------------------------------------------------
    def get(self, kind: type[R], ids: Sequence[NodeId]) -> list[R]:
        """Those that are there, in the order asked for."""
        return read.get(self._connection, self._ns, kind, ids)

    def find(self, kind: type[R], where: Where, *, after: str | None = None, limit: int = 100) -> Page[R]:
        """A page of records."""
        return find.find(self._connection, self._ns, kind, where, after, limit)

    def revisions(self, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
        """Of those that are there."""
        return read.revisions(self._connection, self._ns, ids)

    def kinds(self, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
        """What they stand for."""
        return read.kinds(self._connection, self._ns, ids)

    def thread(self, id: NodeId) -> Thread | None:
        """A conversation with everything in it."""
        return read.thread(self._connection, self._ns, id)

    def end(self, id: NodeId) -> End | None:
        """The growing end of a conversation."""
        return read.end(self._connection, self._ns, id)

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""
        return read.above(self._connection, self._ns, id, most)

    def around(self, spans: Sequence[Span]) -> list[Message]:
        """The messages at these positions."""
        return read.around(self._connection, self._ns, spans)

    def sizes(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
        """Numbers of messages: not deleted, and all."""
        return read.sizes(self._connection, self._ns, ids)

    def origins(self, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """The ids and the sources of conversations by number."""
        return read.origins(self._connection, self._ns, numbers)

    def named(self, text: str, limit: int = 5) -> list[NodeId]:
        """Ids and source ids that are this, or ids that end so."""
        return read.named(self._connection, self._ns, text, limit)

    def edges(
        self,
        of: Sequence[NodeId] | None,
        types: Collection[str] = (),
        way: Literal["out", "in"] = "out",
        limit: int = 10_000,
    ) -> list[Edge]:
        """The edges of a frontier, or all written ones."""
        return edges.edges(self._connection, self._ns, of, types, way, limit)

    def counts(self, of: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace."""
        return counts.counts(self._connection, self._ns, of, self._clock())

    def tasks(self, state: Literal["due", "leased", "dead"], limit: int = 100) -> list[tuple[Task, str]]:
        """Tasks with the reason of their last failure."""
        return tasks.listed(self._connection, self._ns, state, limit, self._clock())

    # --- the index -------------------------------------------------------------------------------------------------
    def index(self) -> IndexInfo:
        """Which generation search reads, and what is being built."""
        return generations.info(self._connection, self._ns)

    def known(self, partition: Partition, terms: QueryTerms) -> Sequence[bool] | None:
        """Which words passages hold."""
        with _readable():
            return known(self._snapshot(partition), terms)

    def candidates(self, query: CandidateQuery) -> Features:
        """The passages that may answer."""
        with _readable():
            said = partial(self._snapshot, Partition.SAID)
            return candidates(self._snapshot(query.partition), self._source(query.partition), query, said)

    def sharing(
        self, partition: Partition, terms: Sequence[str], most: int, *, kinds: Sequence[str] = (), inside: bool = False
    ) -> list[int]:
        """Numbers of the passages that share the rarest and most of these terms."""
        with _readable():
            return sharing(self._snapshot(partition), terms, kinds, most, inside=inside)

    def flagged(self, flag: int) -> list[int]:
        """Numbers of the passages with a flag."""
        with _readable():
            return [number for partition in Partition for number in self._snapshot(partition).flagged(flag)]

    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """Texts by number."""
        return texts.passage_texts(self._connection, self._ns, numbers, tokens)

    def documents_of(self, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """Ids and sources of documents, by their passages."""
        return texts.documents_of(self._connection, self._ns, passages)

    def unembedded(self, limit: int) -> list[PassageText]:
        """Said passages without quality vectors, newest first."""
        return self.passages(texts.unembedded(self._connection, self._ns, limit))

    def scan(self, words: Sequence[str], limit: int) -> list[Message]:
        """A slow search in the record itself."""
        return texts.scan(self._connection, self._ns, words, limit)

    def speakers(self) -> list[str]:
        """The names of people who speak."""
        return spoken.speakers(self._connection, self._ns)

    def years(self) -> list[int]:
        """The years in which something was said."""
        return spoken.years(self._connection, self._ns)

    def vocabulary(self) -> IndexVocabulary:
        """The words that the index holds."""
        return IndexVocabulary(
            lambda: self._snapshot(Partition.SAID),
            lambda: self._snapshot(Partition.TITLE),
            self.passages,
            self._compounds,
        )

    def _source(self, partition: int) -> PartitionSource:
        return PartitionSource(self._connection, self._ns, self._live, int(partition), self._phrases)

    def _snapshot(self, partition: int) -> Snapshot:
        """Of a partition, kept for the life of the view, so that it stays still."""
        if partition not in self._snapshots:
            if self._live is None and generations.is_unindexed(self._connection, self._ns):
                raise IndexDamaged("The search index is not built yet.", hint="Build it: recollect reindex")
            with _readable():
                self._snapshots[partition] = self._index.snapshot(self._ns, int(partition), self._source(partition))
        return self._snapshots[partition]


@contextmanager
def _readable() -> Iterator[None]:
    """Tables of the index that SQLite finds damaged are a damaged index: the record may be whole."""
    try:
        yield
    except apsw.CorruptError as problem:
        raise IndexDamaged(
            f"The search index is damaged ({problem}).", hint="Rebuild it: recollect reindex"
        ) from problem
