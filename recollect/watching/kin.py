"""Which session files belong together, learnt from what is appended to them: a session that goes on is read with the
one that it resumes and with its subagents, and not with all others of its folder.

More is given than the importer then joins: files are kin where they name the same line or session at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recollect.importers.formats.claude_code.files import place_of
from recollect.watching.looking import Stamp

#: What lines name each other by. Within a string the quotes would be escaped, so that talk about these keys is none.
_NAMES = re.compile(rb'"(?:uuid|parentUuid|logicalParentUuid|sessionId|leafUuid)"\s*:\s*"([^"\\]{1,200})"')
_BLOCK = 1 << 20
_OVERLAP = 4096  # a name that two blocks share is seen again
_KIN_LINES = ".jsonl"


@dataclass(slots=True)
class _ReadPosition:
    """Which file it is by its inode, and how far it was read."""

    number: int
    until: int = 0


@dataclass(slots=True)
class Kin:
    """The files of one project folder of Claude Code."""

    folder: Path
    _read: dict[Path, _ReadPosition] = field(default_factory=dict)
    _first: dict[int, Path] = field(default_factory=dict)  # by a name (its hash), a file that has it
    _above: dict[Path, Path] = field(default_factory=dict)

    def of(self, changed: Iterable[Path], files: Mapping[Path, Stamp]) -> set[Path]:
        """The changed files of the folder and all that belong to them, among the `files` that are there."""
        for file, stamp in files.items():
            self._join_owner(file)
            if file.name.endswith(_KIN_LINES):
                self._learn(file, stamp)
        wanted = {self._root(file) for file in changed}
        return {file for file in files if self._root(file) in wanted}

    def _join_owner(self, file: Path) -> None:
        """A subagent's file, a note or a long output lies in the folder of its session."""
        place = place_of(file.relative_to(self.folder).as_posix())
        if place.session is not None:
            self._join(file, self.folder / f"{place.session}{_KIN_LINES}")

    def _learn(self, file: Path, stamp: Stamp) -> None:
        """Reads what is new. A file that was replaced or cut is read again; what it named before counts still."""
        read = self._read.setdefault(file, _ReadPosition(stamp.number))
        if read.number != stamp.number or stamp.size < read.until:
            read.number, read.until = stamp.number, 0
        if stamp.size == read.until:
            return
        try:
            with file.open("rb") as stream:
                stream.seek(max(0, read.until - _OVERLAP))
                before = b""
                while block := stream.read(_BLOCK):
                    self._names_in(file, before + block)
                    before = block[-_OVERLAP:]
                read.until = stream.tell()
        except OSError:
            return

    def _names_in(self, file: Path, block: bytes) -> None:
        for name in _NAMES.findall(block):
            other = self._first.setdefault(hash(name), file)
            if other != file:
                self._join(other, file)

    def _join(self, one: Path, other: Path) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._above[second] = first

    def _root(self, file: Path) -> Path:
        while (above := self._above.setdefault(file, file)) != file:
            self._above[file] = self._above[above]
            file = above
        return file
