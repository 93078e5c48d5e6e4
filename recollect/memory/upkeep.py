"""Upkeep: the index, exports, backups, checks, and what is in the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from recollect.errors import Incomplete
from recollect.memory.handle import Handle
from recollect.record import Namespace
from recollect.record import namespace as checked
from recollect.store import Counts, IndexInfo, StoreInfo, Violation

_MAINTENANCE = timedelta(seconds=1)


class Upkeep(Handle):
    """The store in good shape, and out of harm's way."""

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Makes anew what search derives from the messages, beside what is in use; returns how many messages.

        Search answers meanwhile; interrupted, it goes on where it was. `progress` gets the messages done and all.
        """
        from recollect.ingest.reindex import reindex

        done = reindex(self._space, self._ingest, progress)
        self.maintain()
        return done

    def maintain(self, budget: timedelta | None = None) -> bool:
        """Does what is due of the store's own upkeep, for so long at most; True while there is more."""
        if budget is not None:
            return self._space.maintain(budget)
        while self._space.maintain(_MAINTENANCE):
            pass
        return False

    def export(
        self,
        target: str | Path | BinaryIO,
        *,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Writes the whole namespace as a dump that `import_file` reads back without loss; returns the records.

        A file appears whole or not at all, and is yours alone to read. Something else than a dump is replaced only
        where `overwrite` says so. Raises InvalidInput, StoreError, and Incomplete for a damaged memory, once everything
        that can be read is written: the last line counts what is lost.
        """
        from recollect.runtime.files import whole_file
        from recollect.store.transfer import dump

        if isinstance(target, str | Path):
            with whole_file(Path(target).expanduser(), overwrite=overwrite) as stream:
                dumped = dump(self._space, stream, progress)
        else:
            dumped = dump(self._space, target, progress)
        if dumped.lost is not None:
            raise Incomplete(
                f"{self.location} is damaged. Everything that can be read was exported.",
                records=dumped.records,
                lost=asdict(dumped.lost),
                hint="Import it into a new memory, then import the original exports again for what is lost.",
            )
        return dumped.records

    def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Writes a verified copy of the whole store, all namespaces, while it is in use; returns its bytes.

        `recollect.restore` puts it back. Raises InvalidInput, StoreError.
        """
        path = Path(target).expanduser()
        self._store.backup(path, progress)
        return path.stat().st_size

    def check(self) -> list[Violation]:
        """Verifies every invariant of the namespace; an empty list means that all hold."""
        return self._space.check()

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> list[Violation]:
        """Makes anew what is derived, where something is wrong with it; returns what is wrong then."""
        if any(violation.remedy == "reindex" for violation in self.check()):
            self.reindex(progress=progress)
        return self.check()

    def stats(self) -> Counts:
        """What is in the namespace."""
        with self._space.view() as view:
            return view.counts()

    def index(self) -> IndexInfo:
        """What search reads, and what is being built beside it."""
        with self._space.view() as view:
            return view.index()

    def info(self) -> StoreInfo:
        """About the whole store: engine, schema, bytes."""
        return self._store.info()

    def namespaces(self) -> list[Namespace]:
        """The namespaces of the store that hold anything."""
        return self._store.namespaces()

    def drop_namespace(self, name: str) -> bool:
        """Removes a namespace of the store for good, with its name: no record, tombstone, task, index or file of it is
        left, and what its models cost is counted under no name. Whether it was there. Interrupted, run it again. What
        is being derived in it at this moment, in whatever process, is given up.
        Backups keep it. Raises InvalidInput.
        """
        from recollect.memory.settings import own_places
        from recollect.models.language.budget import FILE, SpendingLog

        namespace = checked(name)
        (self._opened or self)._turns.wait()  # noqa: SLF001  # of its own class
        was_there = self._store.drop(namespace)
        SpendingLog(own_places().data / FILE).forget(self.location, namespace)
        return was_there

    def stored_embedder(self) -> str | None:
        """The embedder that made the vectors of this namespace."""
        embedder = self.index().embedder
        return embedder.name if embedder else None
