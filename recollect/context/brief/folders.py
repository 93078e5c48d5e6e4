"""Which sessions belong to a folder: those that ran in it, in its repository, or below."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_DRIVE = re.compile(r"[A-Za-z]:")
_WORKTREE = re.compile(r"gitdir:\s*(.+?)[/\\]\.git[/\\]worktrees[/\\]")


@dataclass(frozen=True, slots=True)
class Project:
    """A project by the folders that are it: the repository of a folder, with links followed and without."""

    name: str
    roots: frozenset[tuple[str, ...]]
    exactly: frozenset[tuple[str, ...]]  # of a home, what lies below is something else

    def holds(self, folder: object) -> bool:
        """Whether a session that ran in this folder belongs to the project."""
        if not isinstance(folder, str) or not folder:
            return False
        parts = _parts(folder)
        return parts in self.exactly or any(parts[: len(root)] == root for root in self.roots)


def project_of(folder: Path, home: Path) -> Project:
    """The project of a folder. Looks at names on the disk alone; the folder need not be there."""
    given = folder.expanduser().absolute()
    places = {given, given.resolve()}
    whole = {home, home.resolve(), Path(home.anchor)}
    tops = {top for place in places for top in _repositories(place) if top not in whole}
    roots = tops or places - whole
    named = min(tops, default=given, key=lambda top: (len(top.parts), str(top)))
    return Project(
        name=named.name or str(named),
        roots=frozenset(_parts(str(root)) for root in roots),
        exactly=frozenset(_parts(str(place)) for place in places),
    )


def _repositories(folder: Path) -> list[Path]:
    """The repository that a folder lies in and, where that is a worktree of another, the other."""
    top = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if top is None:
        return []
    try:
        found = _WORKTREE.match((top / ".git").read_text(encoding="utf-8")) if (top / ".git").is_file() else None
    except (OSError, UnicodeDecodeError):
        found = None
    return [top, (top / found[1]).resolve()] if found else [top]


def _parts(folder: str) -> tuple[str, ...]:
    """A path's parts, of this machine or another; Windows knows no case."""
    plain = folder.replace("\\", "/") if _DRIVE.match(folder) or "\\" in folder else folder
    parts = tuple(part for part in plain.split("/") if part)
    return tuple(part.casefold() for part in parts) if _DRIVE.match(folder) else parts
