"""The rows of a damaged SQLite file, read without SQLite: page by page, whatever leads to a page or not.

A row is where it stands: a leaf holds whole rows, so that a broken page costs its own rows alone, a broken index costs
none, and neither the header nor the schema is needed. What the write-ahead log holds replaces the pages of the file.
Pages that SQLite calls free are left out. The format: https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from recollect.engines.codec import ZEROED
from recollect.engines.sqlite.place import log_file

#: A row: its number (None in a table without) and its values.
Row = tuple[int | None, tuple[Any, ...]]

_MAGIC = b"SQLite format 3\x00"
_USUAL = 4096  # bytes of a page, where the header does not say
_LOCKED = 1 << 30  # the byte of the page that SQLite locks and never writes
_HEADER = 100  # bytes before the first page's own
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_WITHOUT_ROWS = (b"", b"\x00", b"\x05")  # what other pages begin with: a page's number below 2**24, or their kind
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGIC = (0x377F0682, 0x377F0683)
_ZEROED = ZEROED.encode()
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of a value, by the serial types below 10


class Broken(Exception):
    """A row, or a page, that holds no such thing."""


class _Pieces:
    """A file as bytes that are read when they are asked for. Somebody may shorten it meanwhile: then fewer come."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._size = file, os.fstat(file.fileno()).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: slice) -> bytes:
        start, stop, _ = place.indices(self._size)
        self._file.seek(start)
        return self._file.read(max(stop - start, 0))


_Bytes = bytes | _Pieces


class PageFile:
    """A file and its log. `broken`: pages and rows so far that could not be read. Close it, or use `with`."""

    def __init__(self, path: Path) -> None:
        self._open = ExitStack()
        self.broken = 0
        self._file = self._opened(path)
        self._size, self._reserved = _sizes(self._file)
        self._log = self._opened(log_file(path)) if log_file(path).exists() else b""
        self._in_log = _frames(self._log, self._size)
        told = int.from_bytes(self._page(1)[28:32], "big") if self._page(1)[:16] == _MAGIC else 0
        there = max(-(-len(self._file) // self._size), max(self._in_log, default=0))
        self.count = told if there < told < 16 * there + 1000 else there  # of a file that was cut off, some are missing

    def __enter__(self) -> PageFile:
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def rows(self) -> Iterator[Row]:
        """All rows of tables that can be read, in the order of the pages."""
        free = self._free()
        nothing = bytes(self._size)
        for number in range(1, self.count + 1):
            if number in free or number == _LOCKED // self._size + 1:
                continue
            if free and self._page(number) == nothing:
                self.broken += 1
            yield from self._rows(number)

    def _rows(self, number: int) -> Iterator[Row]:
        page = self._page(number)
        at = _HEADER if number == 1 else 0
        if len(page) < self._size:
            self.broken += 1
        if len(page) < at + 12 or page[at] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
            self.broken += page[at : at + 1] not in _WITHOUT_ROWS
            return
        kind = page[at]
        first = at + (12 if kind == _INDEX_INNER else 8)
        cells = int.from_bytes(page[at + 3 : at + 5], "big")
        for place in range(first, min(first + 2 * cells, len(page) - 1), 2):
            try:
                yield self._row(page, int.from_bytes(page[place : place + 2], "big"), kind)
            except (Broken, IndexError, struct.error, UnicodeDecodeError):
                self.broken += 1

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        if kind == _INDEX_INNER:
            at += 4
        length, at = _varint(page, at)
        number = None
        if kind == _TABLE_LEAF:
            number, at = _varint(page, at)
            number -= (number >> 63) << 64
        return number, _record(self._payload(page, at, length, kind))

    def _payload(self, page: bytes, at: int, length: int, kind: int) -> bytes:
        """What a cell holds: what does not fit in the page stands in a chain of others."""
        usable = self._size - self._reserved
        most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return _exactly(page[at : at + length], length)
        if length > self.count * self._size:
            raise Broken
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        found = [_exactly(page[at : at + local], local)]
        left, following = length - local, int.from_bytes(page[at + local : at + local + 4], "big")
        while left > 0:
            if not 0 < following <= self.count:
                raise Broken
            more = self._page(following)
            piece = more[4 : min(4 + left, usable)]
            following = int.from_bytes(more[:4], "big")
            found.append(piece)
            if not piece:
                raise Broken
            left -= len(piece)
        return b"".join(found)

    def _page(self, number: int) -> bytes:
        at = self._in_log.get(number)
        if at is not None:
            return self._log[at : at + self._size]
        return self._file[(number - 1) * self._size : number * self._size]

    def _free(self) -> set[int]:
        """The pages that hold nothing any more, as the first page tells; 0 is among them where it tells anything."""
        first = self._page(1)
        free: set[int] = set()
        if first[:16] != _MAGIC:
            return free
        free.add(0)
        trunk = int.from_bytes(first[32:36], "big")
        while 0 < trunk <= self.count and trunk not in free:
            page = self._page(trunk)
            free.add(trunk)
            count = min(int.from_bytes(page[4:8], "big"), self._size // 4 - 2)
            free.update(struct.unpack_from(f">{count}I", page, 8) if len(page) >= 8 + 4 * count else ())
            trunk = int.from_bytes(page[:4], "big")
        return free

    def _opened(self, path: Path) -> _Bytes:
        return _Pieces(self._open.enter_context(path.open("rb")))


def _sizes(file: _Bytes) -> tuple[int, int]:
    """The bytes of a page, and how many of them SQLite does not use."""
    size = int.from_bytes(file[16:18], "big")
    if file[:16] != _MAGIC or size & (size - 1) or not (size == 1 or size >= 512):
        return _USUAL, 0
    return (65536 if size == 1 else size), file[20:21][0]


def _frames(log: _Bytes, size: int) -> dict[int, int]:
    """Where the newest wording of each page stands in the log, up to its last commit. SQLite stops at the first frame
    that is damaged; what was committed behind it is read here too.
    """
    found: dict[int, int] = {}
    waiting: dict[int, int] = {}
    salt = log[16:24] if int.from_bytes(log[:4], "big") in _LOG_MAGIC else log[40:48]
    for at in range(_LOG_HEADER, len(log) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        head = log[at : at + _FRAME_HEADER]
        if head[8:16] != salt or not any(head[:4]):
            continue
        page, committed = struct.unpack_from(">II", head)
        waiting[page] = at + _FRAME_HEADER
        if committed:
            found |= waiting
            waiting.clear()
    return found


def _record(payload: bytes) -> tuple[Any, ...]:
    """The values of a row."""
    end, at = _varint(payload, 0)
    types: list[int] = []
    while at < end:
        serial, at = _varint(payload, at)
        types.append(serial)
    if at != end:
        raise Broken
    values: list[Any] = []
    for serial in types:
        if serial in (10, 11):
            raise Broken
        size = _SIZES[serial] if serial < 10 else (serial - 12) // 2
        values.append(_value(serial, _exactly(payload[at : at + size], size)))
        at += size
    if at != len(payload):
        raise Broken
    return tuple(values)


def _value(serial: int, stored: bytes) -> Any:
    if serial == 0:
        return None
    if serial == 7:
        return struct.unpack(">d", stored)[0]
    if serial in (8, 9):
        return serial - 8
    if serial < 7:
        return int.from_bytes(stored, "big", signed=True)
    if serial % 2 and _ZEROED in stored:
        raise Broken
    return stored.decode() if serial % 2 else stored


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next begins."""
    value = 0
    for place in range(at, at + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _exactly(found: bytes, length: int) -> bytes:
    if len(found) != length:
        raise Broken
    return found
