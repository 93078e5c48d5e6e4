"""Writing a file that appears whole or not at all, for its owner alone."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from recollect.errors import InvalidInput, StoreError
from recollect.runtime.processes import has_ended


def unfinished(target: Path) -> Path:
    """A hidden name beside a file for what is to become it, or is made of it, by this process. What killed processes
    left behind under such names is removed.
    """
    name = re.compile(rf"\.{re.escape(target.name)}\.(\d+)-[0-9a-f]{{8}}\.part.*")
    with suppress(OSError):
        for left in target.parent.iterdir():
            if (found := name.fullmatch(left.name)) and has_ended(int(found[1])):
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    left.unlink(missing_ok=True)
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")


@contextmanager
def whole_file(path: Path, *, overwrite: bool = False, head: bytes = b'{"recollect_dump"') -> Iterator[BinaryIO]:
    """A stream to a file that takes its place when the block ends well, durable by then, readable by its owner alone.

    What is no regular file (a device, a pipe) is written to directly; a symbolic link is followed. A file that does not
    begin with `head` is somebody else's and is replaced only with `overwrite`. Raises InvalidInput, StoreError.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode  # of what a link leads to, also of /dev/fd/63, which has no real path
    except FileNotFoundError:
        mode = None
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror}.") from problem
    if mode is not None and stat.S_ISDIR(mode):
        raise InvalidInput(f"{path} is a folder.", hint="Name a file in it.")
    if mode is not None and not stat.S_ISREG(mode):
        with _named(path), path.open("wb") as stream:
            yield stream
        return
    if mode is not None and not overwrite and not _begins(target, head):
        raise InvalidInput(
            f"{path} exists and is not a Recollect export.", hint="Choose another name, or add --overwrite."
        )
    partial = unfinished(target)
    with _named(path):
        try:
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(target)
            _sync_folder(target.parent)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _begins(path: Path, head: bytes) -> bool:
    try:
        with path.open("rb") as stream:
            found = stream.read(len(head))
    except OSError:
        return False
    return not found or found == head


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be opened
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the disk that name the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise StoreError(f"{path} could not be written: {problem.strerror or problem}.") from problem
