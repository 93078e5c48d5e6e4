"""Copies of a store, made while it is in use and verified; and putting one in its place."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from recollect.engines.sqlite import file as problems
from recollect.engines.sqlite.connection import Database
from recollect.engines.sqlite.file import has_log, index_folder, log_file, read_only_uri, store_file
from recollect.engines.sqlite.schema import NEWEST, is_foreign, require, version
from recollect.errors import InvalidInput, NotFound, StoreBusy, StoreError
from recollect.runtime.files import unfinished

WHOLE = "PRAGMA integrity_check(1)"
ONE_FILE = "PRAGMA journal_mode = DELETE"
ANOTHER_STORE = "UPDATE about SET identity = ?"
READ = "SELECT count(*) FROM sqlite_schema"

_PAGES = 2048  # a step
_OF_READING = frozenset({apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_SHORT_READ})


def backup(database: Database, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Writes a verified copy of a store to a new file, as it is now. Raises InvalidInput for a target that is there,
    StoreError where the copy fails; nothing is then left of it.
    """
    target = target.absolute()
    if target.exists() or target.is_symlink():
        what = "a folder: name a file in it" if target.is_dir() else "there already: choose another name"
        raise InvalidInput(f"{target} is {what}.")
    with beside(target) as made:
        with database.told(), database.reading() as connection:
            _copy(connection, made, target, progress)
        _verify(made, target)
        put(made, target)


def restore_backup(file: Path, target: Path, *, replace: bool = False) -> None:
    """Verifies a backup and makes it the store at `target`, all or nothing.

    Raises NotFound, StoreError for a file that is no whole store or was written by a newer Recollect, StoreBusy where
    the store that it replaces is in use, InvalidInput where there is one and `replace` does not say so.
    """
    file, target = file.absolute(), store_file(target)
    if not file.exists():
        raise NotFound(f"No such file: {file}.")
    if not file.is_file():
        raise InvalidInput(f"{file} is not a file.")
    if target.exists() and target.samefile(file):
        raise InvalidInput(f"{file} is the store itself.")
    if target.exists() and target.stat().st_size and not replace:
        raise InvalidInput(f"{target} already exists.", hint="To replace it, add --replace.")
    with beside(target, folder=True) as made:
        _copy_file(file, made, target)
        _verify(made, file)
        _rename(made)
        if target.exists():
            _close_for_good(target)
        put(made, target)
        shutil.rmtree(index_folder(target), ignore_errors=True)


def _copy(
    source: apsw.Connection, made: Path, target: Path, progress: Callable[[int, int], None] | None = None
) -> None:
    """As the transaction of `source` sees it: what is written meanwhile does not disturb. Raises StoreError in the name
    of the target for what cannot be written.
    """
    source.execute(READ).fetchall()
    try:
        with contextlib.closing(apsw.Connection(str(made))) as copy:
            with copy.backup("main", source, "main") as going:
                while not going.done:
                    going.step(_PAGES)
                    if progress is not None:
                        progress(going.page_count - going.remaining, going.page_count)
            copy.execute(ONE_FILE)
    except (apsw.FullError, apsw.IOError) as problem:
        if problems.extended(problem) in _OF_READING:  # the source
            raise
        raise problems.of_disk(problem, target) from problem


def _copy_file(file: Path, made: Path, target: Path) -> None:
    """A backup as a file; through SQLite where something stands in a log beside it."""
    try:
        connection = (
            apsw.Connection(read_only_uri(file), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            if has_log(file)
            else None
        )
        if connection is None:
            shutil.copyfile(file, made)
            return
        with contextlib.closing(connection):
            _copy(connection, made, target)
    except OSError as problem:
        if problem.errno == errno.ENOSPC:
            raise problems.full(target) from problem
        raise StoreError(f"{file} could not be copied: {problem.strerror}.") from problem
    except apsw.Error as problem:
        raise problems.told(problem, file, 0) or StoreError(f"{file} could not be copied: {problem}.") from problem


def _verify(made: Path, named: Path) -> None:
    """Raises StoreError for a file that is no whole store that this program can read, in the name of another."""
    try:
        with contextlib.closing(apsw.Connection(str(made))) as connection:
            connection.execute(ONE_FILE)
            if version(connection) == 0 or is_foreign(connection):
                raise StoreError(f"{named} is not a Recollect store.")
            require(connection, version(connection))
            said = connection.execute(WHOLE).get
    except apsw.NotADBError as problem:
        raise StoreError(f"{named} is not a Recollect store.") from problem
    except (apsw.FullError, apsw.IOError):  # of the disk that it lies on now
        raise
    except apsw.Error as problem:
        raise StoreError(f"{named} is damaged: {problem}.", hint="Try another backup.") from problem
    if said != "ok":
        raise StoreError(f"{named} is damaged: {said}.", hint="Try another backup.")


def _rename(made: Path) -> None:
    """What lies beside the old store, or in the memory of a process, does not belong to the new one."""
    with contextlib.closing(apsw.Connection(str(made))) as connection:
        if version(connection) == NEWEST:
            connection.execute(ANOTHER_STORE, (secrets.token_hex(16),))


def _close_for_good(target: Path) -> None:
    """Writes the log of the old store into it, so that nothing is left beside. Raises StoreBusy where it is in use."""
    try:
        with contextlib.closing(apsw.Connection(str(target))) as connection:
            connection.execute(ONE_FILE)
    except (apsw.BusyError, apsw.LockedError) as problem:
        raise StoreBusy(f"{target} is in use.", hint="Close the programs that use it, and try again.") from problem
    except apsw.Error:  # it is damaged: that is why it is replaced
        for beside in (
            log_file(target),
            target.with_name(target.name + "-shm"),
            target.with_name(target.name + "-journal"),
        ):
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def beside(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """A new file in the folder of the target, which is made too with `folder`, for its owner alone, that does not
    outlast a failure. Raises StoreError in the name of the target.
    """
    made = unfinished(target)
    try:
        if folder:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as problem:
        raise StoreError(f"{target} cannot be written: {problem.strerror}.") from problem
    try:
        yield made
    except (apsw.FullError, apsw.IOError) as problem:
        raise problems.of_disk(problem, target) from problem
    finally:
        for left in (made, *(made.with_name(made.name + ending) for ending in ("-wal", "-shm", "-journal"))):
            left.unlink(missing_ok=True)


def put(made: Path, target: Path) -> None:
    """Makes a file durable under its name."""
    try:
        _sync(made)
        made.replace(target)
        _sync(target.parent)
    except OSError as problem:
        raise StoreError(f"{target} could not be written: {problem.strerror}.") from problem


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
