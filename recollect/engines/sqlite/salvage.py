"""What can still be read of a damaged store, as a store of its own.

The rows come from the pages (pages.py); which table one belongs to is told by its values, so that no schema is needed.
What is derived is left behind: it is made anew from the record, as after an upgrade.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw

from recollect.engines.codec import decode, names
from recollect.engines.sqlite import migrations, read
from recollect.engines.sqlite.backup import beside, put
from recollect.engines.sqlite.functions import add_functions
from recollect.engines.sqlite.pages import PageFile, Row
from recollect.engines.sqlite.place import FILE_NAME, has_log, immutable_uri, read_only_uri
from recollect.engines.sqlite.put import put_records
from recollect.engines.sqlite.read import RECORDS
from recollect.engines.sqlite.sweep import sweep_namespace
from recollect.errors import StoreError
from recollect.record import DEFAULT_NAMESPACE, Namespace
from recollect.runtime.files import unfinished
from recollect.store.results import Lost
from recollect.store.transfer import mended

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
        migrations.migrate(connection)
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
        thread = read.thread(connection, ns, own)
        if thread is None or (whole := mended(thread)) == thread:
            continue
        connection.execute(OF_CONVERSATION, {"ns": ns, "num": num})
        put_records(
            connection,
            ns,
            [whole.conversation, *whole.messages, *whole.tool_calls, *whole.turns, *whole.chunks],
            revive=False,
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
