"""What can still be read of a damaged store, as a store of its own.

The rows come from the pages (pages.py); which table one belongs to is told by its values, so that no schema is needed.
What is derived is left behind: it is made anew from the record, as after an upgrade.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from recollect.engines.codec import ZEROED, decode, names
from recollect.engines.sqlite import schema
from recollect.engines.sqlite.backup import beside, put
from recollect.engines.sqlite.connection import add_functions
from recollect.engines.sqlite.file import FILE_NAME, has_log, immutable_uri, log_file, read_only_uri
from recollect.engines.sqlite.maintain import sweep_namespace
from recollect.engines.sqlite.read import SQLiteRecords
from recollect.engines.sqlite.schema import RECORDS
from recollect.engines.sqlite.write import put_records
from recollect.errors import StoreError
from recollect.record import DEFAULT_NAMESPACE, Namespace
from recollect.runtime.files import unfinished
from recollect.store.change import Change
from recollect.store.results import Lost
from recollect.store.transfer import mended

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


COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid'
NAMESPACE = "INSERT OR IGNORE INTO namespace (num, name, unindexed) VALUES (?, ?, 1)"
NAMELESS = """
SELECT ns FROM (SELECT ns FROM conversation UNION SELECT ns FROM message UNION SELECT ns FROM document)
WHERE ns NOT IN (SELECT num FROM namespace) ORDER BY ns
"""
#: What a message is left of whose conversation is lost.
ORPHANS = (
    "SELECT DISTINCT m.ns, m.conversation FROM message m WHERE m.conversation NOT IN (SELECT num FROM conversation)"
)
STAND_IN = """
INSERT INTO conversation (num, ns, id, source, title, created, updated, revision)
SELECT ?1, ?2, 'recovered-' || ?1 || '-' || min(id), 'recollect', '', min(timestamp), max(timestamp), 1
FROM message WHERE conversation = ?1
"""
UNINDEXED = "UPDATE namespace SET unindexed = 1"
IS_LEFT = "SELECT count(*) FROM namespace WHERE num = ?"
GONE = "SELECT num FROM namespace WHERE name LIKE ' %'"
OF_CONVERSATION = """
DELETE FROM chunk WHERE ns = :ns AND parent_id IN (SELECT id FROM message WHERE conversation = :num
    UNION ALL SELECT id FROM tool_call WHERE conversation = :num);
DELETE FROM turn WHERE conversation = :num;
DELETE FROM tool_call WHERE conversation = :num;
DELETE FROM message WHERE conversation = :num;
"""
CONVERSATIONS = "SELECT num, ns, id FROM conversation ORDER BY num"
LOOSE = """
DELETE FROM node WHERE origin = 'derived' AND NOT erased;
DELETE FROM tool_call WHERE conversation NOT IN (SELECT num FROM conversation);
DELETE FROM turn WHERE conversation NOT IN (SELECT num FROM conversation);
DELETE FROM chunk WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = chunk.ns AND m.id = parent_id)
    AND NOT EXISTS (SELECT 1 FROM tool_call t WHERE t.ns = chunk.ns AND t.id = parent_id)
    AND NOT EXISTS (SELECT 1 FROM document d WHERE d.ns = chunk.ns AND d.id = parent_id);
DELETE FROM edge WHERE 2 != (SELECT count(*) FROM (SELECT source_id AS end UNION ALL SELECT target_id) e
    WHERE EXISTS (SELECT 1 FROM message x WHERE x.ns = edge.ns AND x.id = e.end)
    OR EXISTS (SELECT 1 FROM conversation x WHERE x.ns = edge.ns AND x.id = e.end)
    OR EXISTS (SELECT 1 FROM document x WHERE x.ns = edge.ns AND x.id = e.end)
    OR EXISTS (SELECT 1 FROM node x WHERE x.ns = edge.ns AND x.id = e.end));
"""
#: The indexes that hold every row: a table with broken pages can be counted by them.
WHOLE_INDEXES = "SELECT name FROM pragma_index_list(?) WHERE NOT partial"
BY_INDEX = "SELECT ns, count(*) FROM {table} INDEXED BY {index} GROUP BY ns"
COUNT = "SELECT ns, count(*) FROM {table} GROUP BY ns"
#: How many messages the conversations must have had, by the positions of those that are left.
POSITIONS = """
SELECT ns, sum(many) FROM (SELECT ns, max(position) + 1 AS many FROM message GROUP BY conversation) GROUP BY ns
"""
NAMES = "SELECT num, name FROM namespace"

#: The tables of the record, and what a row of them becomes.
_RECORDS: Mapping[str, type[Any] | None] = {"namespace": None, **RECORDS, "edge": None}
#: Fields whose columns have other names. A conversation is told by its number: the id of the record stands for its id.
_FIELDS = {"conversation_id": "id", "index": "idx"}
_FITS = {"INTEGER": int, "TEXT": str, "REAL": int | float, "BLOB": bytes}
_COUNTED = ("conversation", "message", "document")
_Counts = dict[str, dict[int, int]]  # of a table, by namespace


class Table:
    """A table of the schema: which rows are its own, and how they are added."""

    def __init__(self, connection: apsw.Connection, name: str, kind: type[Any] | None) -> None:
        columns: list[Any] = connection.execute(COLUMNS, (name,)).fetchall()
        self.name, self._kind = name, kind
        self._numbered = columns[0][0] == "num"
        if not self._numbered:  # in such a table the key comes first
            columns.sort(key=lambda column: column[3] or len(columns))
        self._types = [(_FITS[type_], bool(required)) for _, type_, required, _ in columns]
        own = [column[0] for column in columns]
        self._places = [_place(own, name) for name in names(kind)] if kind is not None else []
        marks = ", ".join("?" * len(own))
        self._add = f"INSERT OR IGNORE INTO {name} ({', '.join(own)}) VALUES ({marks})"

    def fits(self, row: Row) -> bool:
        """Whether the values are those of a row of this table."""
        number, values = row
        if len(values) != len(self._types) or (number is not None) != self._numbered:
            return False
        rest = (
            zip(values[1:], self._types[1:], strict=True) if self._numbered else zip(values, self._types, strict=True)
        )
        if self._numbered and values[0] is not None:
            return False
        return all(isinstance(v, kind) if v is not None else not required for v, (kind, required) in rest)

    def add(self, connection: apsw.Connection, row: Row) -> bool:
        """Adds a row; False for one that is no such record, or is there already."""
        number, values = row
        stored = (number, *values[1:]) if self._numbered else values
        try:
            if self._kind is not None:
                decode(self._kind, [stored[place] for place in self._places])
            connection.execute(self._add, stored)
        except (StoreError, apsw.ConstraintError):
            return False
        return connection.changes() > 0


def salvage(damaged: Path, into: Path) -> dict[Namespace, Lost]:
    """Writes a store with what can be read of a damaged one; returns by namespace what could not, at least. Raises
    StoreError for a file that holds nothing of a store.
    """
    with contextlib.closing(apsw.Connection(str(into))) as connection:
        add_functions(connection)
        schema.migrate(connection)
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        unreadable = _fill(connection, damaged)
        if not any(_count(connection, COUNT, table) for table in _RECORDS if table != "namespace"):
            raise StoreError(f"Nothing of a store can be read in {damaged}.")
        expected = _expected(connection, damaged)
        _name(connection)
        _mend(connection)
        lost = _lost(connection, expected, unreadable)
        connection.execute("COMMIT")
    return lost


def recover(damaged: Path, target: Path) -> dict[Namespace, Lost]:
    """Makes such a store of a damaged one, whole and durable or not at all. Raises StoreError."""
    with beside(target, folder=True) as made:
        lost = salvage(damaged, made)
        put(made, target)
    return lost


@contextlib.contextmanager
def salvaged(damaged: Path) -> Iterator[tuple[Path, dict[Namespace, Lost]]]:
    """Such a store, for as long as the block lasts: beside the damaged one, or in a temporary folder."""
    try:
        made = unfinished(damaged)
        made.mkdir(mode=0o700)
    except OSError:
        made = Path(tempfile.mkdtemp())
    try:
        yield made / FILE_NAME, salvage(damaged, made / FILE_NAME)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _fill(connection: apsw.Connection, damaged: Path) -> int:
    """Adds all rows that can be read. Returns how many could not, or are no records."""
    tables = [Table(connection, name, kind) for name, kind in _RECORDS.items()]
    refused = 0
    with PageFile(damaged) as pages:
        for row in pages.rows():
            table = next((table for table in tables if table.fits(row)), None)
            if table is not None and not table.add(connection, row):
                refused += 1
        return refused + pages.broken


def _name(connection: apsw.Connection) -> None:
    """Names for the namespaces whose own is lost; what was being dropped goes."""
    taken = {row[0] for row in connection.execute("SELECT name FROM namespace")}
    nameless: list[Any] = connection.execute(NAMELESS).fetchall()
    for (ns,) in nameless:
        name = f"recovered-{ns}" if DEFAULT_NAMESPACE in taken else DEFAULT_NAMESPACE
        taken.add(name)
        connection.execute(NAMESPACE, (ns, name))
    gone: list[Any] = connection.execute(GONE).fetchall()
    for (ns,) in gone:
        while connection.execute(IS_LEFT, (ns,)).get:
            sweep_namespace(connection, ns)
    connection.execute(UNINDEXED)


def _mend(connection: apsw.Connection) -> None:
    """Makes the invariants of the record hold."""
    orphans: list[Any] = connection.execute(ORPHANS).fetchall()
    for ns, num in orphans:
        connection.execute(STAND_IN, (num, ns))
    connection.execute(LOOSE)
    conversations: list[Any] = connection.execute(CONVERSATIONS).fetchall()
    for num, ns, own in conversations:
        thread = SQLiteRecords(connection, ns).thread(own)
        if thread is None or (whole := mended(thread)) == thread:
            continue
        connection.execute(OF_CONVERSATION, {"ns": ns, "num": num})
        put_records(
            connection,
            ns,
            Change(put=[whole.conversation, *whole.messages, *whole.tool_calls, *whole.turns, *whole.chunks]),
        )


def _expected(connection: apsw.Connection, damaged: Path) -> _Counts:
    """How many records there must have been, as far as it can be told: by what is found, by indexes that are whole, and
    by the positions of messages.
    """
    found = {table: _count(connection, COUNT, table) for table in _COUNTED}
    found["message"] = _most(found["message"], _count(connection, POSITIONS))
    orphans = Counter(row[0] for row in connection.execute(ORPHANS))
    found["conversation"] = {
        ns: n + orphans[ns] for ns, n in ({**dict.fromkeys(orphans, 0), **found["conversation"]}).items()
    }
    uri = read_only_uri(damaged) if has_log(damaged) else immutable_uri(damaged)
    try:
        with contextlib.closing(apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as broken:
            for table in _COUNTED:
                for index in [row[0] for row in broken.execute(WHOLE_INDEXES, (table,))]:
                    with contextlib.suppress(apsw.CorruptError, UnicodeDecodeError):
                        found[table] = _most(found[table], _count(broken, BY_INDEX, table, index))
    except (apsw.Error, UnicodeDecodeError):  # it cannot be opened at all
        pass
    return found


def _lost(connection: apsw.Connection, expected: _Counts, unreadable: int) -> dict[Namespace, Lost]:
    found = {table: _count(connection, COUNT, table) for table in _COUNTED}
    names: list[Any] = connection.execute(NAMES).fetchall()

    def missing(table: str, ns: int) -> int:
        return max(expected[table].get(ns, 0) - found[table].get(ns, 0), 0)

    return {
        Namespace(name): Lost(missing("conversation", ns), missing("message", ns), missing("document", ns), unreadable)
        for ns, name in names
    }


def _count(connection: apsw.Connection, statement: str, table: str = "", index: str = "") -> dict[int, int]:
    rows: list[Any] = connection.execute(statement.format(table=table, index=index)).fetchall()
    return dict(rows)


def _most(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    return {ns: max(one.get(ns, 0), other.get(ns, 0)) for ns in one.keys() | other.keys()}


def _place(own: list[str], name: str) -> int:
    """The column of a field."""
    return own.index(name if name in own else _FIELDS[name])
