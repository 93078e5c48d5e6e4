"""Progress on stderr, interrupts, and files that a command writes to."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from recollect.faces.cli.output import STANDARD_OUTPUT, Output

#: Tells how much is done, of how much, and in words.
Report = Callable[[int, int, str], None]


@contextmanager
def on_interrupt(words: str) -> Iterator[None]:
    """Says after "Interrupted." what became of the work of this block, and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(words) from None


@contextmanager
def progress(out: Output, label: str) -> Iterator[Report]:
    """A bar for as long as the block runs."""
    if not out.shows_progress:
        yield lambda done, total, words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"), TimeRemainingColumn())
    console = Console(stderr=True, no_color=not out.styled)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None, words="")

        def report(done: int, total: int, words: str) -> None:
            bar.update(task, completed=done, total=total or None, words=words)

        yield report


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Set by the first Ctrl-C or SIGTERM: what is under way comes to its end. A second one ends everything at once."""
    told = threading.Event()

    def tell(number: int, frame: object) -> None:
        if told.is_set():
            raise KeyboardInterrupt
        told.set()

    before: dict[int, Any] = {}
    with suppress(ValueError):  # not in the main thread
        before = {number: signal.signal(number, tell) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
