"""Files that are still being written: each is read up to its last whole line, and only as far as it was looked at."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from recollect.errors import InvalidInput
from recollect.importers.base import Entry, Problems
from recollect.importers.reading.json_value import decode

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
