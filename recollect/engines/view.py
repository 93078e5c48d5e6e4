"""The half of a view that is the same for every engine: what `recollect.index` makes of the rows of its partitions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from recollect.index.candidates import candidates, sharing
from recollect.index.corpus import IndexCache
from recollect.index.snapshot import Snapshot
from recollect.index.source import Source
from recollect.index.vocabulary import IndexVocabulary
from recollect.index.words import known
from recollect.store.change import IndexDamaged
from recollect.store.passages import CandidateQuery, Features, Partition, PassageText, QueryTerms


class IndexedView:
    """An engine gives the rows, the texts, and whether there is an index at all. `number` is that of the namespace."""

    def __init__(self, cache: IndexCache, number: int) -> None:
        self._cache, self._number = cache, number
        self._snapshots: dict[int, Snapshot] = {}
        self._compounds: dict[tuple[str, int], list[str]] = {}

    def known(self, partition: Partition, terms: QueryTerms) -> Sequence[bool] | None:
        """Which words passages hold."""
        with self._readable():
            return known(self._snapshot(partition), terms)

    def candidates(self, query: CandidateQuery) -> Features:
        """The passages that may answer."""
        with self._readable():
            said = partial(self._snapshot, Partition.SAID)
            return candidates(self._snapshot(query.partition), self._source(query.partition), query, said)

    def sharing(
        self, partition: Partition, terms: Sequence[str], most: int, *, kinds: Sequence[str] = (), inside: bool = False
    ) -> list[int]:
        """Numbers of the passages that share the rarest and most of these terms."""
        with self._readable():
            return sharing(self._snapshot(partition), terms, kinds, most, inside=inside)

    def flagged(self, flag: int) -> list[int]:
        """Numbers of the passages with a flag."""
        with self._readable():
            return [number for partition in Partition for number in self._snapshot(partition).flagged(flag)]

    def vocabulary(self) -> IndexVocabulary:
        """The words that the index holds."""
        said, titles = partial(self._snapshot, Partition.SAID), partial(self._snapshot, Partition.TITLE)
        return IndexVocabulary(said, titles, self.passages, self._compounds)

    def _snapshot(self, partition: int) -> Snapshot:
        """Of a partition, kept for the life of the view, so that it stays still."""
        if partition not in self._snapshots:
            if self._is_unindexed():
                raise IndexDamaged("The search index is not built yet.", hint="Build it: recollect reindex")
            with self._readable():
                snapshot = self._cache.snapshot(self._number, int(partition), self._source(partition))
                self._snapshots[partition] = snapshot
        return self._snapshots[partition]

    # --- what an engine gives ----------------------------------------------------------------------------------------
    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """Texts by number."""
        raise NotImplementedError

    def _source(self, partition: int) -> Source:
        raise NotImplementedError

    def _is_unindexed(self) -> bool:
        """Whether there is something to be found, and no index of it."""
        raise NotImplementedError

    def _readable(self) -> AbstractContextManager[None]:
        """Within it, what the engine finds damaged in tables of the index is told as IndexDamaged."""
        return nullcontext()
