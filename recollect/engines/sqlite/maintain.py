"""Upkeep in short transactions: seal, write anew, sweep; and overwriting what erased words have left in the file."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from recollect.engines.sqlite import generations, segments
from recollect.engines.sqlite.connection import IN_MEMORY, ON_DISK, Database
from recollect.engines.sqlite.place import log_file
from recollect.engines.sqlite.source import PartitionSource
from recollect.engines.sqlite.sweep import garbage, left_over, sweep, sweep_data
from recollect.engines.sqlite.write import namespace_number
from recollect.errors import StoreError
from recollect.record import Namespace
from recollect.store.change import IndexDamaged

if TYPE_CHECKING:
    from recollect.index.corpus import IndexCache

PARTITIONS = "SELECT partition FROM index_state WHERE gen = ? ORDER BY partition"
SCRUB = "SELECT scrub FROM about"
SCRUBBED = "UPDATE about SET scrub = 0"
# The full-text index is merged into one, in pieces: what is deleted in it is gone then.
MERGE_ALL = "INSERT INTO words (words, rank) VALUES ('merge', -64)"
MERGE = "INSERT INTO words (words, rank) VALUES ('merge', 64)"
# Rows that move between pages leave copies behind in their free space, whatever secure_delete says.
REWRITE = "VACUUM"
CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
TRUNCATE = "PRAGMA wal_checkpoint(TRUNCATE)"

_LOG_TRUNCATED = 64 << 20  # bytes of the log from which it is given back to the disk
_LOG_WORTH_IT = 1 << 20
_READERS = 2.0  # seconds that cleaning waits for them

_Work = Callable[[apsw.Connection], None]

_log = logging.getLogger("recollect.store")


def maintain(database: Database, namespace: Namespace, budget: timedelta, index: IndexCache) -> bool:
    """Works as long as the budget lasts, one step at least; True while there is more that can be done now."""
    until = time.monotonic() + budget.total_seconds()
    damaged: set[tuple[int, int]] = set()
    while work := _next(database, namespace, damaged):
        with database.writing() as connection:
            work(connection)
        if time.monotonic() >= until:
            return True
    while _prepare(database, namespace, index):
        if time.monotonic() >= until:
            return True
    _checkpoint(database)
    clean(database)
    return False


def clean(database: Database) -> bool:
    """Overwrites what erased words may have left in the file and its log. Returns whether all is clean: while somebody
    reads, or the disk is full, it is not, and is tried again by the next `maintain`.
    """
    with database.reading() as connection:
        if not connection.execute(SCRUB).get:
            return True
    try:
        _merge_words(database)
        with database.told(), database.alone() as connection:
            connection.execute(ON_DISK)
            try:
                connection.execute(REWRITE)
            finally:
                connection.execute(IN_MEMORY)
            if not _truncated(database, connection):
                return False
        with database.writing() as connection:
            connection.execute(SCRUBBED)
    except StoreError as problem:
        later = "To overwrite them later: recollect worker --once"
        _log.warning("Erased words are not overwritten yet: %s %s", problem.message, later)
        return False
    return True


def _next(database: Database, namespace: Namespace, damaged: set[tuple[int, int]]) -> _Work | None:
    """What is to be written next. What it takes to make it is done here, where nobody has to wait for it."""
    with database.reading() as connection:
        ns = namespace_number(connection, namespace)
        if ns is None:
            return None
        return _sealing(connection, ns, damaged) or _compacting(connection, ns, damaged) or _sweeping(connection, ns)


def _sealing(connection: apsw.Connection, ns: int, damaged: set[tuple[int, int]]) -> _Work | None:
    """What cannot be read is left alone: `check` tells, and a new generation mends it."""
    for tail in segments.long_tails(connection, ns):
        if tail[:2] not in damaged:
            try:
                mark, data = segments.sealed(connection, tail)
            except IndexDamaged:
                damaged.add(tail[:2])
            else:
                return partial(segments.use_sealed, tail=tail, mark=mark, data=data)
    return None


def _compacting(connection: apsw.Connection, ns: int, damaged: set[tuple[int, int]]) -> _Work | None:
    work = segments.compaction(connection, ns)
    if work is None or work[:2] in damaged:
        return None
    try:
        rewritten = segments.rewrite_next(connection, work)
    except IndexDamaged:
        damaged.add(work[:2])
        return None
    if rewritten is None:
        return partial(segments.use_prepared, work=work)
    return partial(segments.prepare, work=work, rewritten=rewritten)


def _sweeping(connection: apsw.Connection, ns: int) -> _Work | None:
    gen = garbage(connection, ns)
    if gen is not None:
        return partial(sweep, gen=gen)
    num = left_over(connection)
    return None if num is None else partial(sweep_data, num=num)


def _prepare(database: Database, namespace: Namespace, index: IndexCache) -> bool:
    """Makes a file that searches map into memory; False: none is missing."""
    with database.reading() as connection:
        ns = namespace_number(connection, namespace)
        live = generations.live(connection, ns) if ns is not None else None
        if ns is None or live is None:
            return False
        partitions: list[Any] = connection.execute(PARTITIONS, (live.num,)).fetchall()
        for (partition,) in partitions:
            with contextlib.suppress(IndexDamaged):
                if index.prepare(ns, partition, PartitionSource(connection, ns, live, partition)):
                    return True
    return False


def _merge_words(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(MERGE_ALL)
    while True:
        with database.writing() as connection:
            before = connection.total_changes()
            connection.execute(MERGE)
            if connection.total_changes() - before < 2:  # as SQLite's documentation says that it ends
                return


def _checkpoint(database: Database) -> None:
    log = log_file(database.path)
    size = log.stat().st_size if log.exists() else 0
    if size > _LOG_WORTH_IT and not database.read_only:
        with database.told(), database.alone() as connection, database.impatient(connection):
            connection.execute(TRUNCATE if size > _LOG_TRUNCATED else CHECKPOINT).fetchall()


def _truncated(database: Database, connection: apsw.Connection) -> bool:
    """Empties the log. False: somebody reads from it still."""
    until = time.monotonic() + _READERS
    with database.impatient(connection):
        while connection.execute(TRUNCATE).get[0]:
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
    return True
