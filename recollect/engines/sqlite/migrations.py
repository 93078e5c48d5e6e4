"""The schema's versions: a list of small functions, each bringing a store one version further.

`PRAGMA user_version` holds how many have been applied. A released migration is never changed; a new one is added. Each
is one transaction with the version, so that a kill at any moment leaves one version or the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import apsw

from recollect.engines.sqlite import problems
from recollect.record import Namespace
from recollect.version import VERSION as PROGRAM

VERSION = "PRAGMA user_version"
SET_VERSION = "PRAGMA user_version = 3"
# Within a transaction the first would do nothing, and tables are rebuilt; the file is written anew afterwards, so that
# nothing has to be overwritten here.
BEFORE = "PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF"
AFTER = "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON"
WRITTEN_BY = "SELECT written_by FROM about"
NOTE_WRITER = "UPDATE about SET written_by = ?"
ABOUT = "INSERT INTO about (one, written_by, identity) VALUES (1, ?, ?)"
IS_FOREIGN = "SELECT count(*) > 0 AND sum(name = 'namespace') = 0 FROM sqlite_schema"

# Calls that were stored live belonged to their results. Each belongs to the message that called: the nearest above that
# is no result of another call.
OF_THEIR_CALLERS = """
UPDATE tool_call SET message_id = coalesce((
    WITH RECURSIVE up (depth, id, parent_id, role) AS (
        SELECT 0, id, parent_id, role FROM message WHERE ns = tool_call.ns AND id = tool_call.result_message_id
        UNION ALL SELECT up.depth + 1, m.id, m.parent_id, m.role
        FROM up CROSS JOIN message m ON m.ns = tool_call.ns AND m.id = up.parent_id WHERE up.role = 'tool')
    SELECT id FROM up WHERE role != 'tool' ORDER BY depth LIMIT 1), message_id)
WHERE message_id = result_message_id
"""
# As in schema.sql, which a store of version 1 has taken them from already.
OF_NODES = """
DROP INDEX IF EXISTS node_by_time;
CREATE INDEX IF NOT EXISTS node_by_kind ON node (ns, kind, coalesce(valid_from, -9223372036854775808), id);
CREATE INDEX IF NOT EXISTS fact_by_attribute
ON node (ns, substr(body ->> 'attribute', 1, instr((body ->> 'attribute') || ' of ', ' of ') - 1)) WHERE kind = 'fact';
CREATE INDEX IF NOT EXISTS fact_pinned ON node (ns, kind) WHERE kind = 'fact' AND body ->> 'pinned';
"""
NAMES = "SELECT name FROM namespace"
RENAME = "UPDATE namespace SET name = ? WHERE name = ?"

#: The version that this program reads and writes.
NEWEST = 3


def create(connection: apsw.Connection) -> None:
    """An empty store, as of today."""
    from importlib import resources

    connection.execute(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
    connection.execute(ABOUT, (PROGRAM, os.urandom(16).hex()))


def from_version_1(connection: apsw.Connection) -> None:
    """A store of 0.1.0."""
    from recollect.engines.sqlite import from_version_1 as migration

    migration.from_version_1(connection)


def from_version_2(connection: apsw.Connection) -> None:
    """The tables are the same; tool calls are mended, users have other namespaces, facts are found by attribute."""
    from recollect.engines.renamed import renamed  # no search needs it

    connection.execute(OF_THEIR_CALLERS)
    connection.execute(OF_NODES)
    for before, today in renamed([Namespace(name) for (name,) in connection.execute(NAMES)]):
        connection.execute(RENAME, (today, before))


#: By the version that they start from.
MIGRATIONS: dict[int, Callable[[apsw.Connection], None]] = {0: create, 1: from_version_1, 2: from_version_2}
_LEADS_TO = {0: NEWEST, 1: 2, 2: 3}


def migrate(connection: apsw.Connection) -> bool:
    """Brings the store to the newest version, from whichever. Returns whether an older one was there.

    Several processes may try at once. Raises StoreError for a store written by a newer Recollect.
    """
    if version(connection) == NEWEST:
        return False
    connection.execute(BEFORE)
    connection.execute("BEGIN IMMEDIATE")
    try:
        began = at = version(connection)
        require(connection, at)
        while at < NEWEST:
            MIGRATIONS[at](connection)
            at = _LEADS_TO[at]
        connection.execute(NOTE_WRITER, (PROGRAM,))
        connection.execute(SET_VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute(AFTER)
    return 0 < began < NEWEST


def version(connection: apsw.Connection) -> int:
    """Of the schema, as the transaction sees it."""
    found: int = connection.execute(VERSION).get
    return found


def require(connection: apsw.Connection, found: int) -> None:
    """Raises StoreError where a newer program has brought the schema further, be it while this one runs."""
    if found > NEWEST:
        raise problems.newer(_writer(connection), PROGRAM, found, NEWEST)


def is_foreign(connection: apsw.Connection) -> bool:
    """Whether the file is a database, but somebody else's."""
    return bool(connection.execute(IS_FOREIGN).get)


def _writer(connection: apsw.Connection) -> str:
    try:
        return str(connection.execute(WRITTEN_BY).get)
    except apsw.SQLError:  # it is told otherwise there
        return "of a newer version"
