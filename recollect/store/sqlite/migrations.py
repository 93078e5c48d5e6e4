"""The schema's versions: a list of small functions, each bringing a store one version further.

`PRAGMA user_version` holds how many have been applied. A released migration is never changed; a new one is added.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata, resources

import apsw

from recollect.errors import StoreError


def create(connection: apsw.Connection) -> None:
    """Version 1: the schema as first released."""
    connection.execute(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))


VERSION = "PRAGMA user_version"
WRITTEN_BY = "SELECT written_by FROM about"
IS_FOREIGN = "SELECT count(*) > 0 AND sum(name = 'namespace') = 0 FROM sqlite_schema"
NOTE_WRITER = "INSERT INTO about (written_by) VALUES (?)"
FORGET_WRITER = "DELETE FROM about"

MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (create,)


def migrate(connection: apsw.Connection) -> None:
    """Brings the store to the newest version, in one transaction. Several processes may try at once.

    Raises StoreError for a store written by a newer Recollect.
    """
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version > len(MIGRATIONS):
            raise StoreError(
                f"This store was written by Recollect {_writer(connection)}, this is {_own_version()}.",
                hint="Update this one: pip install -U recollect. Or export the store there: recollect export.",
            )
        for step in MIGRATIONS[version:]:
            step(connection)
        connection.execute(FORGET_WRITER)
        connection.execute(NOTE_WRITER, (_own_version(),))
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def is_foreign(connection: apsw.Connection) -> bool:
    """Whether the file is a database, but somebody else's."""
    return bool(connection.execute(IS_FOREIGN).get)


def _version(connection: apsw.Connection) -> int:
    return int(connection.execute(VERSION).get)


def _writer(connection: apsw.Connection) -> str:
    try:
        return str(connection.execute(WRITTEN_BY).get)
    except apsw.SQLError:  # it is told otherwise there
        return "of a newer version"


def _own_version() -> str:
    try:
        return metadata.version("recollect")
    except metadata.PackageNotFoundError:
        return "(not installed)"
