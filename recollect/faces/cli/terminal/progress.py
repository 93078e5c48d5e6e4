"""Progress on stderr, where somebody watches; silence elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recollect.faces.cli.terminal.output import Output

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
