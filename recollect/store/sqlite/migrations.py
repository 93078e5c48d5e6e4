"""The schema's versions: a list of small functions, each bringing a store one version further.

`PRAGMA user_version` holds how many have been applied. A released migration is never changed; a new one is added.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

import apsw

from recollect.errors import StoreError


def create(connection: apsw.Connection) -> None:
    """Version 1: the schema as first released."""
    connection.execute(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))


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
                f"This store has schema version {version}; this Recollect knows versions up to {len(MIGRATIONS)}.",
                hint="Update Recollect, or export the store with the Recollect that wrote it: recollect export.",
            )
        for step in MIGRATIONS[version:]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: apsw.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").get)
