"""Exports and sessions that lie on this machine: which of them are not in the memory yet, and what they are called."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.importers.found import FoundSource, found_on_this_machine
from recollect.watching.imported_files import ImportedFiles, not_in

if TYPE_CHECKING:
    from recollect.runtime.files import Place
    from recollect.store import Counts


def newer_than(last: datetime | None, counts: Counts | None, kept: ImportedFiles | None = None) -> list[FoundSource]:
    """What lies on this machine, of sources that have nothing in the memory or have changed since they were imported:
    by the last import or, as far as it is `kept`, by `recollect watch` or a hook.
    """
    from recollect.faces.present.names import source_of_label

    known = counts.by_source if counts else {}
    return [
        found
        for found in found_on_this_machine(Path.home(), os.environ)
        if not known.get(source_of_label(found.label)) or _is_newer(found, last, kept)
    ]


def _is_newer(found: FoundSource, last: datetime | None, kept: ImportedFiles | None) -> bool:
    if last is not None and (found.newest is None or found.newest <= last):
        return False
    if not kept or not found.path.is_dir():
        return last is not None
    return bool(not_in(found.path, kept, last))


def found_labels(found: Sequence[FoundSource]) -> str:
    """As in "Codex sessions (31), ChatGPT export"."""
    files: dict[str, int] = {}
    for one in found:
        files[_named(one)] = files.get(_named(one), 0) + one.files
    return ", ".join(f"{name} ({count:,})" if count > 1 else name for name, count in files.items())


def _named(found: FoundSource) -> str:
    return f"{found.label} sessions" if found.path.is_dir() else f"{found.label} export"


def tilde(place: Place) -> str:
    """A place as one types it: ~ for the home."""
    home = Path.home()
    if isinstance(place, Path) and place.is_relative_to(home):
        return f"~/{place.relative_to(home).as_posix()}"
    return str(place)
