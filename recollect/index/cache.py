"""What a store keeps in memory for search: the namespaces that were searched last."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from recollect.index.block import BLOCK_ROWS
from recollect.index.blockfiles import BlockFiles
from recollect.index.corpus import Corpus
from recollect.index.snapshot import Snapshot
from recollect.index.source import Source

#: Rows in memory over all partitions, some 0.6 KB each; those in mapped files do not count.
MOST_ROWS = 1_000_000
#: Namespaces with anything in memory: each partition takes half a megabyte for the sums of its vectors, however few.
MOST_NAMESPACES = 48


@dataclass(slots=True)
class _Loaded:
    """What is loaded of a namespace, by partition; `rows` of it were in memory when they were last counted."""

    corpora: dict[int, Corpus] = field(default_factory=dict)
    rows: int = 0


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

    def __init__(
        self,
        directory: Path | None,
        store: str,
        *,
        most: int = MOST_ROWS,
        namespaces: int = MOST_NAMESPACES,
        rows: int = BLOCK_ROWS,
    ) -> None:
        self._directory, self._store, self._block_rows = directory, store, rows
        self._most, self._most_namespaces = most, namespaces
        self._loaded: OrderedDict[int, _Loaded] = OrderedDict()
        self._rows = 0  # of all that is loaded
        self._lock = Lock()

    def snapshot(self, namespace: int, partition: int, source: Source) -> Snapshot:
        """A partition as the source sees it. Namespaces go by a number that no other one ever gets.

        Raises IndexDamaged, StoreBusy.
        """
        loaded, corpus = self._corpus(namespace, partition)
        found = corpus.snapshot(source)
        with self._lock:
            if self._loaded.get(namespace) is loaded:
                self._count(loaded, sum(own.memory_rows for own in loaded.corpora.values()))
            self._evict(namespace)
        return found

    def prepare(self, namespace: int, partition: int, source: Source) -> bool:
        """Makes one index file that is missing, and removes those that are of no use; whether there is more to do."""
        return self._directory is not None and self._corpus(namespace, partition)[1].prepare(source)

    def forget(self, namespace: int) -> None:
        """Gives up what is loaded of a namespace and removes its files. Snapshots that are lent out stay."""
        with self._lock:
            self._give_up(namespace)
        BlockFiles.remove(self._directory, namespace)

    def clear(self) -> None:
        """Gives up all that is loaded."""
        with self._lock:
            self._loaded.clear()
            self._rows = 0

    def _corpus(self, namespace: int, partition: int) -> tuple[_Loaded, Corpus]:
        with self._lock:
            loaded = self._loaded.setdefault(namespace, _Loaded())
            self._loaded.move_to_end(namespace)
            if partition not in loaded.corpora:
                files = BlockFiles(self._directory, self._store, namespace, partition)
                loaded.corpora[partition] = Corpus(files, self._block_rows)
            self._evict(namespace)
            return loaded, loaded.corpora[partition]

    # --- with the lock held --------------------------------------------------------------------------------------
    def _evict(self, searched: int) -> None:
        """Gives up what was searched least recently, but nothing of the namespace that is being searched."""
        while len(self._loaded) > self._most_namespaces or self._rows > self._most:
            oldest = next((namespace for namespace in self._loaded if namespace != searched), None)
            if oldest is None:
                break
            self._give_up(oldest)

    def _give_up(self, namespace: int) -> None:
        loaded = self._loaded.pop(namespace, None)
        if loaded is not None:
            self._count(loaded, 0)

    def _count(self, loaded: _Loaded, rows: int) -> None:
        self._rows += rows - loaded.rows
        loaded.rows = rows
