"""The settings of another program as files: read as they are, written whole or not at all, with a copy beside them."""

from __future__ import annotations

import errno
import os
import tempfile
from datetime import datetime
from pathlib import Path

from recollect.errors import InvalidInput, StoreError


def write_keeping(path: Path, before: str | None, after: str, now: datetime, *, hint: str = "") -> Path | None:
    """Writes the file whole, or not at all; returns where what was there before is kept. Raises StoreError."""
    target = path.resolve()  # settings are often links into a repository
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = None
        mode = 0o600
        if before is not None:
            mode = target.stat().st_mode & 0o777
            if not mode & 0o222:  # a new file would take its place all the same
                raise PermissionError(errno.EACCES, "it is read-only")
            kept = _free(target.with_name(f"{target.name}.{now:%Y%m%d-%H%M%S}.bak"))
            _write(kept, before, mode)
        _write(target, after, mode)
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror or problem}.", hint=hint) from problem
    return kept


def text_of(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None where there is none. Raises InvalidInput."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput("It cannot be read as text.") from problem


def _free(path: Path) -> Path:
    """The path, or the first beside it that nothing stands at."""
    names = (path.with_name(f"{path.stem}-{number}.bak") for number in range(1, 1000))
    return path if not path.exists() else next(name for name in names if not name.exists())


def _write(path: Path, text: str, mode: int) -> None:
    made, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(made, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.chmod(mode)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
