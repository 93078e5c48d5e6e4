"""What a store keeps in memory for search: the partitions that were searched last."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from recollect.index.block import BLOCK_ROWS
from recollect.index.blockfiles import BlockFiles
from recollect.index.corpus import Corpus
from recollect.index.snapshot import Snapshot
from recollect.index.source import Source

#: Rows in memory over all partitions, some 0.6 KB each; those in mapped files do not count.
MOST_ROWS = 1_000_000


class IndexCache:
    """The partitions that a store has loaded. Thread-safe; namespaces do not wait for each other.

    An engine has one for each open store. `directory` is where full blocks are kept in files (it is made when it is
    needed; None: all is in memory), `store` tells this store from any other that may have stood at the same place.
    A view asks for the snapshot of a partition once and keeps it as long as it lives, so that it stays still:

        snapshot = cache.snapshot(namespace_number, partition, source)
        features = candidates(snapshot, source, query)      # recollect.index.candidates
        vocabulary = IndexVocabulary(said, titles, passages, {})  # recollect.index.vocabulary

    `maintain` calls `prepare` when it has sealed or compacted, in a view of its own, until that says that nothing is
    left to make. Erasing calls `forget` after its commit: what was erased is then in no file and no snapshot to come.
    """

    def __init__(self, directory: Path | None, store: str, *, most: int = MOST_ROWS, rows: int = BLOCK_ROWS) -> None:
        self._directory, self._store, self._most, self._rows = directory, store, most, rows
        self._corpora: OrderedDict[tuple[int, int], Corpus] = OrderedDict()
        self._lock = Lock()

    def snapshot(self, namespace: int, partition: int, source: Source) -> Snapshot:
        """A partition as the source sees it. Namespaces go by a number that no other one ever gets.

        Raises IndexDamaged, StoreBusy.
        """
        found = self._corpus(namespace, partition).snapshot(source)
        self._evict(namespace)
        return found

    def prepare(self, namespace: int, partition: int, source: Source) -> bool:
        """Makes one index file that is missing, and removes those that are of no use; whether there is more to do."""
        return self._directory is not None and self._corpus(namespace, partition).prepare(source)

    def forget(self, namespace: int) -> None:
        """Gives up what is loaded of a namespace and removes its files. Snapshots that are lent out stay."""
        with self._lock:
            for key in [key for key in self._corpora if key[0] == namespace]:
                del self._corpora[key]
        BlockFiles.remove(self._directory, namespace)

    def clear(self) -> None:
        """Gives up all that is loaded."""
        with self._lock:
            self._corpora.clear()

    def _corpus(self, namespace: int, partition: int) -> Corpus:
        key = (namespace, partition)
        with self._lock:
            if key not in self._corpora:
                files = BlockFiles(self._directory, self._store, namespace, partition)
                self._corpora[key] = Corpus(files, self._rows)
            self._corpora.move_to_end(key)
            return self._corpora[key]

    def _evict(self, searched: int) -> None:
        """Gives up what was searched least recently, but nothing of the namespace that is being searched."""
        with self._lock:
            others = [key for key in self._corpora if key[0] != searched]
            while others and sum(corpus.memory_rows for corpus in self._corpora.values()) > self._most:
                self._corpora.pop(others.pop(0))
