"""What there is to read: one file, a folder or a zip, with zips inside of either. Nothing is unpacked to disk.

Names that lead out of an archive, encrypted and damaged members and zip bombs are told as problems and left out.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast
from zipfile import ZIP_STORED

from recollect.errors import ImportProblem, InvalidInput, NotFound
from recollect.importers.base import Entry, Problems
from recollect.importers.reading.json import decode
from recollect.importers.reading.zip import (
    EMPTY,
    LOCAL,
    Member,
    Meter,
    ZipLimits,
    list_members,
    open_member,
    scan_members,
)

#: Folders that begin with a dot and are read all the same: here chat tools keep their sessions.
CHAT_FOLDERS = frozenset({".claude", ".codex", ".gemini", ".cursor"})

_IGNORED = frozenset({"node_modules", "__pycache__", "__MACOSX", "venv", "site-packages", "CVS"})
_CHUNK = 1 << 20
_LARGEST_INNER = 128 << 20
_DEEPEST = 2  # a zip, and the zips in it


def walk(path: Path, problems: Problems, limits: ZipLimits | None = None) -> Iterator[Entry]:
    """Everything under `path` that may hold conversations, in order of name, zips in their own order.

    What cannot be read goes into `problems`. Zips inside a folder or a zip belong to the container that they lie in.
    Raises NotFound where there is nothing at `path`, ImportProblem where it is neither a file nor a folder.
    """
    if not path.exists():
        raise NotFound(f"No such file: {path}.", hint="Check the name, or drag the file into the terminal.")
    if not (path.is_file() or path.is_dir()):
        raise ImportProblem(f"{path} is neither a file nor a folder.")
    limits = limits or ZipLimits()
    return _counted(_Walk(path, problems, Meter(limits)).entries(), path, problems, limits)


def _counted(entries: Iterator[Entry], path: Path, problems: Problems, limits: ZipLimits) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        if number >= limits.entries:
            problems.lost(_shown(str(path)), f"it holds more than {limits.entries:,} files; the rest was not read")
            return
        yield entry


@dataclass(frozen=True, slots=True)
class _Zip:
    """A zip to be read: how to open it, what to call it, what its members' paths begin with, how deep it lies."""

    open: Callable[[], BinaryIO]
    place: str
    prefix: str
    depth: int


class _Walk:
    def __init__(self, path: Path, problems: Problems, meter: Meter) -> None:
        self._path = path
        self._container = str(path)
        self._problems = problems
        self._meter = meter
        self._kept = ("", b"")  # the zip within a zip that was read last: its place, its bytes

    def entries(self) -> Iterator[Entry]:
        if not self._path.is_dir():
            return self._of_file(self._path, _shown(self._path.name), named=True)
        return chain.from_iterable(
            self._of_file(file, _shown(file.relative_to(self._path).as_posix()))
            for file in _files(self._path, self._problems)
        )

    def _of_file(self, file: Path, place: str, *, named: bool = False) -> Iterator[Entry]:
        """The file, or its members where it is a zip. Documents that are zips inside count only where named."""
        try:
            size = file.stat().st_size
            with file.open("rb") as stream:
                start = stream.read(4)
        except OSError as error:
            self._problems.lost(place, f"it cannot be opened ({error.strerror})")
            return
        if start in (LOCAL, EMPTY) and (named or _is_called_zip(file.name)):
            yield from self._of_zip(_Zip(lambda: file.open("rb"), place, "" if named else f"{place}/", depth=1))
        else:
            yield Entry(place, place, self._container, size, lambda: file.open("rb"))

    def _of_zip(self, archive: _Zip) -> Iterator[Entry]:
        for member in self._members(archive):
            path = member.name.replace("\\", "/")
            place = f"{archive.place}: {_shown(path)}"
            if _leads_out(path):
                self._problems.lost(place, "its name leads out of the archive; it was left out")
            elif not is_ignored(path):
                opener = self._opener(archive, member)
                entry = Entry(place, archive.prefix + _shown(path), self._container, member.size, opener)
                yield from self._of_member(archive, member, entry)

    def _members(self, archive: _Zip) -> Iterator[Member]:
        """By the directory, or one by one where that is lost."""
        try:
            stream = archive.open()
        except (ImportProblem, OSError) as problem:
            self._problems.lost(archive.place, str(problem))
            return
        with stream:
            try:
                yield from self._listed_members(stream, archive.place)
            except (ImportProblem, OSError) as problem:
                self._problems.lost(archive.place, f"nothing further can be read of it ({problem})")

    def _listed_members(self, stream: BinaryIO, place: str) -> Iterator[Member]:
        try:
            members = list_members(stream)
        except ImportProblem as problem:
            self._problems.partial(place, f"{problem}; it is read as far as it goes")
            yield from scan_members(stream, self._meter)
            return
        if not members:
            self._problems.lost(place, "there is nothing in it")
        yield from members

    def _of_member(self, archive: _Zip, member: Member, entry: Entry) -> Iterator[Entry]:
        """The member, or what is in it where it is a zip itself; nothing where it cannot be read at all."""
        try:
            with entry.open() as stream:
                start = stream.read(4)
                while self._meter.suspects(member) and stream.read(1 << 20):
                    pass
        except (ImportProblem, OSError) as problem:
            self._problems.lost(entry.place, str(problem))
            return
        if archive.depth < _DEEPEST and start in (LOCAL, EMPTY) and _is_called_zip(entry.name):
            inner = _Zip(self._in_memory(entry, member), entry.place, f"{entry.path}/", archive.depth + 1)
            yield from self._of_zip(inner)
        else:
            yield entry

    def _in_memory(self, entry: Entry, member: Member) -> Callable[[], BinaryIO]:
        """How to open a zip within a zip. Where it is packed once more, going back in it would mean to begin anew, so
        the one that was read last is kept in memory.
        """
        if member.method == ZIP_STORED:
            return entry.open

        def open_kept() -> BinaryIO:
            if self._kept[0] != entry.place:
                self._kept = ("", b"")
                self._kept = (entry.place, _read_inner_zip(entry))
            return BytesIO(self._kept[1])

        return open_kept

    def _opener(self, archive: _Zip, member: Member) -> Callable[[], BinaryIO]:
        return lambda: open_member(archive.open(), member, self._meter)


def _read_inner_zip(entry: Entry) -> bytes:
    """What there is of it: its end may be missing."""
    pieces: list[bytes] = []
    with suppress(ImportProblem), entry.open() as stream:
        while chunk := stream.read(_CHUNK):
            pieces.append(chunk)
            if len(pieces) * _CHUNK > _LARGEST_INNER:
                break
    if len(pieces) * _CHUNK > _LARGEST_INNER:
        raise ImportProblem("it is a zip of more than 128 MB, packed within a zip; unpack the outer one first")
    return b"".join(pieces)


def _files(folder: Path, problems: Problems) -> Iterator[Path]:
    """The regular files below a folder, by name; folders met before (links in a circle) are passed over, links
    that lead out of it are told.
    """
    inside_of = folder.resolve()
    met: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            if path != folder and path.is_symlink() and (why := _why_not_followed(path, inside_of)):
                problems.lost(_shown(path.relative_to(folder).as_posix()), f"it is a link that {why}; it was left out")
            elif path.is_file():
                yield path
            elif path.is_dir():
                status = path.stat()
                if (status.st_dev, status.st_ino) not in met:
                    met.add((status.st_dev, status.st_ino))
                    inside = [Path(item.path) for item in os.scandir(path) if not is_ignored(item.name)]
                    waiting.extend(sorted(inside, reverse=True))
        except OSError as error:
            problems.lost(_shown(path.relative_to(folder).as_posix()), f"it cannot be opened ({error.strerror})")


def _why_not_followed(link: Path, folder: Path) -> str:
    """What is wrong with a link; empty where it leads to something in the folder, or nowhere."""
    try:
        target = link.resolve(strict=True)
    except RuntimeError:  # how Python before 3.13 tells a circle
        return "leads to itself"
    except OSError as error:
        return "leads to itself" if error.errno == errno.ELOOP else ""
    return "" if target.is_relative_to(folder) else "leads out of the folder"


def is_ignored(path: str) -> bool:
    """Whether a part of the path is hidden, or belongs to a program rather than to a person."""
    parts = [part for part in path.split("/") if part]
    return any(part in _IGNORED or (part.startswith(".") and part not in CHAT_FOLDERS) for part in parts)


def _is_called_zip(name: str) -> bool:
    """Whether the name is that of a zip, perhaps not wholly downloaded; .docx, .jar and the like are none of ours."""
    return ".zip" in name.lower() or not PurePosixPath(name).suffix


def _leads_out(path: str) -> bool:
    return path.startswith("/") or path[1:3] == ":/" or ".." in path.split("/")


def _shown(name: str) -> str:
    """A name that can be printed on one line."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


# Files that are still being written: each is read up to its last whole line, and only as far as it was looked at.

#: Files of lines; all others are read as they are.
_LINES = (".jsonl",)
_BLOCK = 1 << 16
_LONGEST_TAIL = 32 << 20


def growing(folder: Path, files: Iterable[Path], problems: Problems) -> Iterator[Entry]:
    """These files of a folder. What has gone meanwhile is left out; what cannot be opened goes into `problems`.
    Raises InvalidInput for a file of another folder.
    """
    for file in sorted(files):
        if not file.is_relative_to(folder):
            raise InvalidInput(f"{file} is not in {folder}.", hint="Give files of the folder, with its path.")
        place = file.relative_to(folder).as_posix()
        try:
            size = file.stat().st_size
            whole = _whole_lines(file, size) if file.name.endswith(_LINES) else size
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.lost(place, f"it cannot be opened ({error.strerror})")
            continue
        yield Entry(place, place, str(folder), whole, _opener(file, whole))


def _opener(file: Path, size: int) -> Callable[[], BinaryIO]:
    return lambda: cast(BinaryIO, io.BufferedReader(_Beginning(file, size)))


def _whole_lines(file: Path, size: int) -> int:
    """Where the last whole line ends. A last line without an end counts where it is a value by itself."""
    with file.open("rb") as stream:
        end = _last_break(stream, size)
        if 0 < size - end <= _LONGEST_TAIL:
            stream.seek(end)
            try:
                decode(stream.read(size - end).strip(b" \t\r\n\0"))
            except ValueError:
                return end
            return size
    return end


def _last_break(stream: BinaryIO, size: int) -> int:
    """What follows the last line break before `size`; 0 where there is none."""
    end = size
    while end:
        start = max(0, end - _BLOCK)
        stream.seek(start)
        found = stream.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


class _Beginning(io.RawIOBase):
    """The first bytes of a file, whatever is appended meanwhile."""

    def __init__(self, file: Path, size: int) -> None:
        self._stream, self._left = file.open("rb", buffering=0), size

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fills the buffer as far as there is something left."""
        view = memoryview(buffer)[: self._left]  # type: ignore[arg-type]
        count = self._stream.readinto(view) if self._left else 0
        self._left -= count
        return count

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()
        super().close()
