"""The file of a store: which one a path means, whether it can be written to, and how SQLite is told to open it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import apsw

from recollect.errors import StoreBusy, StoreDamaged, StoreError, StoreUnusable

#: The memory in a folder.
FILE_NAME = "memory.db"


def store_file(path: Path) -> Path:
    """The file that a path means: a folder means the memory in it. Raises StoreError for what can be no store."""
    path = path.absolute()
    try:
        if path.is_dir():
            path = path / FILE_NAME
        if path.exists() and not path.is_file():
            raise StoreError(f"{path} is not a file.", hint="Choose another place with RECOLLECT_HOME or --store.")
    except OSError as problem:
        raise StoreError(f"{path} cannot be read: {problem.strerror}.") from problem
    return path


def prepare(path: Path, *, create: bool = True) -> bool:
    """Makes the file where there is none, for its owner alone, and its folder. Returns whether it can be written to."""
    if not path.exists():
        if not create:
            raise StoreError(f"{path} is not there.")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)  # conversations are nobody else's; the files that SQLite lays beside it follow
        except OSError as problem:
            raise StoreError(f"{path} cannot be created: {problem.strerror}.") from problem
    if not _may(path, os.R_OK):
        raise StoreError(f"{path} cannot be read: Permission denied.")
    return _may(path, os.W_OK) and _may(path.parent, os.W_OK)


def log_file(path: Path) -> Path:
    """The write-ahead log beside the file."""
    return path.with_name(path.name + "-wal")


def index_folder(path: Path) -> Path:
    """Where the arrays of the index are kept that a search maps into memory. All of it can be made again."""
    return path.with_name(path.name + "-index")


def has_log(path: Path) -> bool:
    """Whether something stands in the write-ahead log alone."""
    log = log_file(path)
    return log.exists() and log.stat().st_size > 0


def size_on_disk(path: Path) -> int:
    """Bytes of the file and of what lies beside it."""
    beside = [log_file(path), *index_folder(path).glob("*")]
    return sum(file.stat().st_size for file in (path, *beside) if file.exists())


def read_only_uri(path: Path) -> str:
    """For a file that others may write to."""
    return f"file:{quote(str(path))}?mode=ro"


def without_index_uri(path: Path) -> str:
    """For a file whose log gets no index beside it, as on a full disk: SQLite reads the log into memory then."""
    return f"{read_only_uri(path)}&readonly_shm=1"


def immutable_uri(path: Path) -> str:
    """For a file on a disk that nobody writes to: SQLite then needs no files beside it."""
    return f"file:{quote(str(path))}?immutable=1"


def _may(path: Path, how: int) -> bool:
    return os.access(path, how, effective_ids=os.access in os.supports_effective_ids)


# What SQLite complains of, in our words. Each names the file and what to do.

#: What helps.
WHEN_DAMAGED = (
    "To go back to a backup: recollect restore FILE --replace. "
    "Without one, save what can be read: recollect export FILE"
)

#: What values raise that are not of the kind that their column is for: rows of a page that stands in another's place.
MISREAD = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


def told(problem: apsw.Error, path: Path, wait: float) -> StoreError | None:
    """The error to raise instead; None for one that is our own mistake."""
    if isinstance(problem, apsw.BusyError | apsw.LockedError):
        return busy(path, wait)
    if isinstance(problem, apsw.NotADBError):
        return headless(path)
    if isinstance(problem, apsw.CorruptError):
        return damaged(path)
    if isinstance(problem, apsw.FullError | apsw.IOError):
        return of_disk(problem, path)
    if isinstance(problem, apsw.ReadOnlyError | apsw.PermissionsError | apsw.AuthError):
        return read_only(path)
    if isinstance(problem, apsw.CantOpenError):
        return StoreError(f"{path} cannot be opened: {problem}.")
    return None


def of_disk(problem: apsw.FullError | apsw.IOError, path: Path) -> StoreError:
    """The disk refuses."""
    if isinstance(problem, apsw.FullError) or has_no_room(problem):
        return full(path)
    return StoreError(
        f"{path} could not be read or written: {problem}.", hint="Check the disk. Everything saved so far is safe."
    )


def has_no_room(problem: apsw.Error) -> bool:
    """Whether the index of the log, which SQLite makes beside the file, does not fit on the disk."""
    return extended(problem) == apsw.SQLITE_IOERR_SHMSIZE


def extended(problem: apsw.Error) -> int:
    """SQLite's extended code of it, which says what was being done."""
    return getattr(problem, "extendedresult", 0)


def full(path: Path) -> StoreError:
    """There is no room on the disk."""
    return StoreError(
        f"The disk is full: {path} could not be written.",
        hint="Free some space and try again. Everything saved so far is safe.",
    )


def damaged(path: Path) -> StoreError:
    """The file holds what SQLite, or Python, cannot read."""
    return StoreDamaged(f"{path} is damaged.", hint=WHEN_DAMAGED)


def headless(path: Path) -> StoreError:
    """The file does not begin as one of SQLite does: it is somebody else's, or its beginning is lost."""
    return StoreDamaged(
        f"{path} is not a Recollect store.",
        hint="Choose another place with RECOLLECT_HOME or --store. If it was one, save what can be read: "
        "recollect export FILE",
    )


def busy(path: Path, wait: float) -> StoreBusy:
    """Somebody else writes."""
    return StoreBusy(f"Another process has been writing to {path} for {wait:.0f} s.", hint="Try again later.")


def no_store(path: Path) -> StoreError:
    """The file is somebody else's."""
    return StoreUnusable(
        f"{path} is not a Recollect store.", hint="Choose another place with RECOLLECT_HOME or --store."
    )


def read_only(path: Path) -> StoreError:
    """Reading works, writing does not."""
    return StoreUnusable(
        f"{path} is read-only: nothing can be written to it.",
        hint="You can search, show and export. To change it, copy it to a writable place.",
    )


def closed() -> StoreError:
    """The handle was closed."""
    return StoreUnusable("This memory is closed.", hint="Open it again with recollect.open().")


def newer(written_by: str, own: str, schema: int, known: int) -> StoreError:
    """An older program stands before a newer store, be it while it runs. Before a release both may have one version."""
    if written_by == own:
        return StoreUnusable(
            f"This store was written by a later build of Recollect {own} (schema {schema}, this one knows {known}).",
            hint="Use that build, or export the memory with it: recollect export",
        )
    return StoreUnusable(
        f"This store was written by Recollect {written_by}, this is {own}.",
        hint="Update: pip install -U recollect. Or export the memory with that version: recollect export",
    )
