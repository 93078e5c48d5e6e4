"""Which sessions on this machine are not in the memory, and which of them their agent is about to delete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from recollect.watching.kept import ImportedFiles
from recollect.watching.looking import Stamp, look

#: Days that Claude Code keeps a session from its last line on, unless its settings say otherwise.
_PERIOD = 30
_SOON = timedelta(days=7)


def not_in(folder: Path, kept: ImportedFiles, last_import: datetime | None) -> dict[Path, Stamp]:
    """The files of a folder that have changed since they were last read: by an import, by `watch` or by a hook."""
    before = last_import.timestamp() * 1e9 if last_import else 0.0
    return {
        file: stamp for file, stamp in look(folder).items() if stamp.written > before and not kept.knows(file, stamp)
    }


def expiring(projects: Path, files: Mapping[Path, Stamp], now: datetime) -> int:
    """How many of these sessions Claude Code deletes within a week."""
    limit = (now - timedelta(days=_days(projects.parent / "settings.json")) + _SOON).timestamp() * 1e9
    return sum(
        stamp.written < limit and file.suffix == ".jsonl" and not file.name.startswith("agent-")
        for file, stamp in files.items()
    )


def _days(settings: Path) -> int:
    with suppress(OSError, ValueError, AttributeError):
        days = json.loads(settings.read_text(encoding="utf-8")).get("cleanupPeriodDays")
        if isinstance(days, int) and 0 <= days < 100_000:
            return days
    return _PERIOD
