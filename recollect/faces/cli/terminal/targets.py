"""Files that a command writes to: what is wrong with one names it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.faces.cli.terminal.output import STANDARD_OUTPUT


@contextmanager
def naming(path: Path | None) -> Iterator[None]:
    """Makes errors of the operating system that name no file, as that of a full disk, name this one.

    None is standard output.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            error.filename = str(path) if path is not None else STANDARD_OUTPUT
        raise


def is_standard_output(path: Path) -> bool:
    """Whether writing to this path writes to standard output, as /dev/stdout does."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False
