"""The schema's versions: a list of small functions, each bringing a store one version further.

`PRAGMA user_version` holds how many have been applied. A released migration is never changed; a new one is added. Each
is one transaction with the version, so that a kill at any moment leaves one version or the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import apsw

from recollect.engines.sqlite import problems
from recollect.version import VERSION as PROGRAM

VERSION = "PRAGMA user_version"
SET_VERSION = "PRAGMA user_version = 2"
# Within a transaction the first would do nothing, and tables are rebuilt; the file is written anew afterwards, so that
# nothing has to be overwritten here.
BEFORE = "PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF"
AFTER = "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON"
WRITTEN_BY = "SELECT written_by FROM about"
NOTE_WRITER = "UPDATE about SET written_by = ?"
ABOUT = "INSERT INTO about (one, written_by, identity) VALUES (1, ?, ?)"
IS_FOREIGN = "SELECT count(*) > 0 AND sum(name = 'namespace') = 0 FROM sqlite_schema"

#: The version that this program reads and writes.
NEWEST = 2


def create(connection: apsw.Connection) -> None:
    """An empty store, as of today."""
    from importlib import resources

    connection.execute(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
    connection.execute(ABOUT, (PROGRAM, os.urandom(16).hex()))


def from_version_1(connection: apsw.Connection) -> None:
    """A store of 0.1.0."""
    from recollect.engines.sqlite import from_version_1 as migration

    migration.from_version_1(connection)


#: By the version that they start from.
MIGRATIONS: dict[int, Callable[[apsw.Connection], None]] = {0: create, 1: from_version_1}
_LEADS_TO = {0: NEWEST, 1: 2}


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
        raise problems.newer(_writer(connection), PROGRAM)


def is_foreign(connection: apsw.Connection) -> bool:
    """Whether the file is a database, but somebody else's."""
    return bool(connection.execute(IS_FOREIGN).get)


def _writer(connection: apsw.Connection) -> str:
    try:
        return str(connection.execute(WRITTEN_BY).get)
    except apsw.SQLError:  # it is told otherwise there
        return "of a newer version"
