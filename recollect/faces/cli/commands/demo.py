"""`recollect demo`: the sample archive in a throwaway store, and three searches in it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.memory import Memory

#: The searches shown, with their filters.
_SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nginx reverse proxy", {}),
    ("two high tides but one moon", {}),
    ("how long does the train take", {"source": "chatgpt", "role": "assistant"}),
)
_RESULTS = 2
#: What is known of the people in it: a summary, a fact with what held before, a way from one entity to another.
_SUMMARY, _FACTS, _WAY = "Mum's knee operation: what to ask", "Inês", ("Merle", "you")


def demo(session: Session, keep: str | None = None) -> int:
    """Try it out on a sample archive.

    Imports a made-up archive into a temporary memory, runs three searches, and shows what is derived from it. Your own
    memory is not touched. To keep the sample and search it yourself: recollect demo --keep FOLDER
    """
    import recollect
    from recollect.sample import write_archive

    with _folder(keep) as folder:
        archive = write_archive(folder / "archive")
        store = folder / "memory.db"
        with recollect.open(store, durable=False, background=False) as memory:
            if session.json:
                session.out.document(_as_json(memory, archive))
            else:
                _print(session, memory, archive, store, store if keep else None)
    return 0


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """The folder that is kept, made where there is none; or one for as long as the demo runs. Raises InvalidInput."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as temporary:
            yield Path(temporary)
        return
    folder = Path(keep).expanduser().absolute()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):  # it is told to be deleted later
        raise InvalidInput(f"{folder} is there already.", hint="Name a folder that does not exist yet.")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def _print(session: Session, memory: Memory, archive: list[Path], store: Path, kept: Path | None) -> None:
    from recollect.faces.cli.terminal.typed import typed
    from recollect.faces.cli.views.hits import print_hits
    from recollect.faces.cli.views.report import print_report

    out = session.out
    out.line(out.bold(f"$ recollect import {' '.join(path.name for path in archive)}"))
    print_report(memory.import_file(*archive), memory.upkeep.stats(), memory.upkeep.index(), out, all_problems=False)
    for query, filters in _SEARCHES:
        options = "".join(f" --{name} {value}" for name, value in filters.items()) + f" -n {_RESULTS}"
        out.line()
        out.line(out.bold(f'$ recollect search "{query}"{options}'))
        print_hits(memory.search(query, limit=_RESULTS, **filters), out, next_steps=False)
    _print_derived(session.within(memory, store), memory)
    out.line()
    if kept is not None:
        out.line(out.bold("The sample is yours to search:"))
        out.line(f'  recollect --store {typed(str(kept))} search "the trick for adding water late"')
        out.line(f"To remove it, delete the folder {kept.parent}.")
        out.line()
    out.line(out.bold("Now with your own history:"))
    out.line("  recollect import ~/Downloads/your-export.zip")
    out.line('  recollect search "what you remember of it"')


def _print_derived(session: Session, memory: Memory) -> None:
    """What the worker makes of the messages, by rules alone."""
    from recollect.faces.cli.commands.facts import facts
    from recollect.faces.cli.commands.graph import graph
    from recollect.faces.cli.commands.summaries import summaries
    from recollect.faces.present.times import number

    out = session.out
    out.line()
    done = memory.upkeep.consolidate()
    out.line(f"In the background {number(done.messages, 'message')} are consolidated, here without a language model.")
    out.line()
    out.line(out.bold(f'$ recollect summaries "{_SUMMARY}"'))
    summaries(session, [_SUMMARY])
    out.line()
    out.line(out.bold(f"$ recollect facts {_FACTS} --history"))
    facts(session, [_FACTS], history=True)
    out.line()
    out.line(out.bold(f"$ recollect graph {' '.join(_WAY)}"))
    graph(session, list(_WAY))


def _as_json(memory: Memory, archive: list[Path]) -> dict[str, Any]:
    from recollect.faces.present.imports import report_as_json

    report = memory.import_file(*archive)
    searches = [memory.search(query, limit=_RESULTS, **filters).to_json() for query, filters in _SEARCHES]
    return {"import": report_as_json(report, memory.upkeep.stats()), "searches": searches}


COMMAND = Command(
    demo,
    ("recollect demo", "recollect demo --keep ~/recollect-sample"),
    (Option(("--keep",), "Keep the sample, with a memory of its own, in this folder.", "FOLDER"),),
)
