"""Following folders: what is new or has grown is imported, in rounds, for as long as one likes.

Nothing is held open and nothing is waited for: each round looks at names, sizes and dates alone, and reads what differs
from what is in. So it works on every file system, and may be killed at any moment: the next round takes it from there.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from recollect.errors import ImportProblem, NotFound, RecollectError
from recollect.importers.base import Importer, Problem, Problems
from recollect.importers.formats.claude_code.claude_code import ClaudeCode, place_of
from recollect.importers.formats.codex.codex import Codex
from recollect.importers.reading.archive import growing
from recollect.importers.registry import reader_of
from recollect.ingest.importing import ImportReport, Progress
from recollect.memory import Memory
from recollect.watching.exclusions import KeepingOut, is_of_memory_tool, session_of
from recollect.watching.imported_files import ImportedFiles, Stamp, Watched, look

#: What lines name each other by. Within a string the quotes would be escaped, so that talk about these keys is none.
_NAMES = re.compile(rb'"(?:uuid|parentUuid|logicalParentUuid|sessionId|leafUuid)"\s*:\s*"([^"\\]{1,200})"')
_BLOCK = 1 << 20
_OVERLAP = 4096  # a name that two blocks share is seen again
_LINES = ".jsonl"


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
            if (session := session_of(file, self.folder)) != file:
                self._join(file, session)
            if file.name.endswith(_LINES):
                self._learn(file, stamp)
        wanted = {self._root(file) for file in changed}
        return {file for file in files if self._root(file) in wanted}

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


#: Seconds between two looks; a look that takes long is followed by a longer pause.
EVERY = 0.5
_SHARE = 20  # of the time at most this part is spent on looking
#: How much longer than an import took the next one of the same folder waits, and how long at most.
_REST, _LONGEST_REST = 2.0, 60.0
#: Seconds for which an export must not have changed: it may be on its way from somewhere.
_SETTLED = 3.0
_AGAIN = 30.0  # seconds before what has failed is tried again
_SAVED = 5.0  # seconds after which it is noted what is in, while there is more
_TOGETHER = 64  # sessions that are read by themselves are imported so many at a time
_INDEX = "session_index.jsonl"  # Codex keeps the titles of its sessions there
_UNFINISHED = (".part", ".crdownload", ".download", ".tmp", ".partial")

_log = logging.getLogger("recollect.watching")


@dataclass(frozen=True, slots=True)
class PlaceImport:
    """What a round took in from one place."""

    label: str
    report: ImportReport
    seconds: float

    @property
    def brings(self) -> bool:
        """Whether anything of it is new."""
        return bool(self.report.written.new or self.report.written.changed)


@dataclass(slots=True)
class Round:
    """What a look came to. `left_out`: sessions of memory tools that were met for the first time, `kept_out`: files
    that the user keeps out.
    """

    taken: list[PlaceImport] = field(default_factory=list)
    left_out: int = 0
    kept_out: int = 0
    problems: list[Problem] = field(default_factory=list)  # told for the first time
    failed: list[RecollectError | OSError] = field(default_factory=list)
    waiting: bool = False  # whether there is more, which is not due yet

    def add(self, other: Round) -> None:
        """Counts another in."""
        self.taken += other.taken
        self.left_out += other.left_out
        self.kept_out += other.kept_out
        self.problems += other.problems
        self.failed += other.failed
        self.waiting = self.waiting or other.waiting

    def __bool__(self) -> bool:
        told = self.left_out or self.kept_out or self.problems or self.failed
        return bool(told or any(taken.brings for taken in self.taken))


@dataclass(frozen=True, slots=True)
class _Family:
    """Files that are imported together: of a project folder of Claude Code, or one file. `place` rests afterwards."""

    place: Path
    folder: Path  # what places are told relative to
    files: Collection[Path]
    changed: Mapping[Path, Stamp]
    is_of_lines: bool = True


class Watcher:
    """Follows folders into a memory, without what is kept out. While recording is paused it reads nothing."""

    def __init__(
        self,
        memory: Memory,
        folders: Sequence[Watched],
        kept: ImportedFiles,
        keeping_out: KeepingOut,
        *,
        progress: Callable[[Progress], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], int] = time.time_ns,
    ) -> None:
        self._memory, self._folders, self._kept, self._keeping_out = memory, folders, kept, keeping_out
        self._progress, self._clock, self._wall = progress, clock, wall
        self._kin: dict[Path, Kin] = {}
        self._rests: dict[Path, float] = {}  # until when a place is let alone
        self._told: set[Problem] = set()
        self._tools: set[Path] = set()
        if not memory.upkeep.stats().conversations:
            kept.clear()

    def round(self, *, patient: bool = True) -> Round:
        """Looks once, and imports what is due. `patient`: what may still be on its way, or was just read, waits."""
        done = Round()
        for part in self._parts(patient=patient):
            done.add(part)
        return done

    def run(self, stop: threading.Event, told: Callable[[Round], None]) -> None:
        """Goes on until `stop` is set; `told` gets what came to something, place by place."""
        while not stop.is_set():
            began, took = self._clock(), False
            for part in self._parts(patient=True):
                if part:
                    told(part)
                took = took or bool(part.taken)
                if stop.is_set():
                    break
            looked = 0.0 if took else self._clock() - began
            stop.wait(max(EVERY, min(_LONGEST_REST, looked * _SHARE)))

    def _parts(self, *, patient: bool) -> Iterator[Round]:
        """A look, place by place; what is in by then is kept, wherever it ends."""
        saved = self._clock()
        if self._keeping_out.is_paused:
            yield Round(waiting=True)
            return
        try:
            for watched in self._folders:
                files = look(watched.path)
                changed = {file: stamp for file, stamp in files.items() if not self._kept.knows(file, stamp)}
                if files:
                    self._kept.drop(watched.path, files)
                for family in self._families(watched.path, files, changed):
                    if self._keeping_out.is_paused or (patient and not self._is_due(family)):
                        yield Round(waiting=True)
                        continue
                    yield self._take(watched, family)
                    if self._clock() - saved > _SAVED:
                        self._kept.save()
                        saved = self._clock()
        finally:
            self._kept.save()

    def _families(self, folder: Path, files: Mapping[Path, Stamp], changed: Mapping[Path, Stamp]) -> Iterator[_Family]:
        """What has changed, with what must be read with it."""
        projects: dict[Path, dict[Path, Stamp]] = {}
        sessions: dict[Path, dict[Path, Stamp]] = {}  # by Codex's titles, or the folder
        for file, stamp in changed.items():
            if file.name.endswith(_UNFINISHED):
                continue
            reader = _reader_of(folder, file)
            if isinstance(reader, ClaudeCode):
                projects.setdefault(_project_of(folder, file), {})[file] = stamp
            elif file.suffix == _LINES:
                index = _titles_of(folder) if isinstance(reader, Codex) else None
                sessions.setdefault(index or folder, {})[file] = stamp
            else:
                yield _Family(file, folder, [file], {file: stamp}, is_of_lines=False)
        for index, alone in sessions.items():
            titles, within = ([], folder) if index == folder else ([index], index.parent)
            for some in _portions(alone):
                yield _Family(next(iter(some)), within, [*some, *titles], some)
        inside: dict[Path, dict[Path, Stamp]] = {}
        for file, stamp in files.items() if projects else ():
            inside.setdefault(_project_of(folder, file), {})[file] = stamp
        for project, of_it in projects.items():
            kin = self._kin.setdefault(project, Kin(project)).of(of_it, inside[project])
            yield _Family(project, project, kin, of_it)

    def _is_due(self, family: _Family) -> bool:
        if self._clock() < self._rests.get(family.place, 0.0):
            return False
        newest = max(stamp.written for stamp in family.changed.values())
        return family.is_of_lines or not 0 <= self._wall() - newest < _SETTLED * 1e9

    def _take(self, watched: Watched, family: _Family) -> Round:
        done = Round()
        wanted = [file for file in family.files if not self._is_left_out(family, file, done)]
        began = self._clock()
        try:
            report = self._import(family, wanted) if wanted else None
        except (RecollectError, OSError) as problem:
            _log.warning("%s: %s", family.folder, problem)
            self._rests[family.place] = self._clock() + _AGAIN
            done.failed.append(problem)
            return done
        took = self._clock() - began
        self._rests[family.place] = self._clock() + min(_LONGEST_REST, took * _REST)
        self._kept.take(family.changed)
        if report is not None and report.sources:
            done.taken.append(PlaceImport(watched.label, report, took))
            done.problems += [problem for problem in report.problems if problem not in self._told]
            self._told.update(done.problems)
        return done

    def _import(self, family: _Family, files: Sequence[Path]) -> ImportReport | None:
        """None for a file that is no export."""
        if family.is_of_lines:
            return self._memory.integration.import_growing(
                family.folder, files, progress=self._progress, wanted=self._keeping_out
            )
        try:
            return self._memory.import_file(*files, progress=self._progress, wanted=self._keeping_out)
        except (ImportProblem, NotFound) as problem:
            _log.info("%s", problem.message)
            return None

    def _is_left_out(self, family: _Family, file: Path, done: Round) -> bool:
        """Whether the user keeps the file out, or a memory tool held the session that it belongs to."""
        if self._keeping_out.leaves_out(file, family.folder):
            done.kept_out += 1
            return True
        session = session_of(file, family.folder)
        if session in self._tools:
            return True
        if session.suffix == _LINES and is_of_memory_tool(session):
            self._tools.add(session)
            done.left_out += 1
            return True
        return False


def _reader_of(folder: Path, file: Path) -> Importer | None:
    entry = next(growing(folder, [file], Problems()), None)
    return reader_of(entry) if entry else None


def _project_of(folder: Path, file: Path) -> Path:
    """Where Claude Code keeps the sessions of the project that a file would belong to."""
    return folder / place_of(file.relative_to(folder).as_posix()).folder


def _portions(files: Mapping[Path, Stamp]) -> Iterator[dict[Path, Stamp]]:
    """Many at a time, where there are many."""
    rows = iter(files.items())
    while some := dict(islice(rows, _TOGETHER)):
        yield some


def _titles_of(folder: Path) -> Path | None:
    """Codex's titles of sessions, in the folder that is followed or beside it."""
    return next((index for index in (folder / _INDEX, folder.parent / _INDEX) if index.is_file()), None)
