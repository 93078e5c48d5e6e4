"""The file of a store: which one a path means, whether it can be written to, and how SQLite is told to open it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from recollect.errors import StoreError

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
