"""The full-text table: one for all namespaces and generations, derived, and made anew where it is damaged."""

from __future__ import annotations

import contextlib

import apsw

# A query makes FTS5 look whether what it remembers of its index is still so; the check alone does not, and would find
# what others have changed meanwhile damaged.
REFRESH = "SELECT rowid FROM words WHERE words MATCH '\"\"' LIMIT 1"
CHECK = "PRAGMA integrity_check(words)"
DROP = "DROP TABLE words"
CREATE = """
CREATE VIRTUAL TABLE words USING fts5 (
    scope, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
)
"""
# Generations whose words were in it: they say that they are damaged until they are built anew.
WITHOUT_WORDS = "UPDATE generation SET wordless = 1"


def damage(connection: apsw.Connection) -> list[str]:
    """What is wrong with it; it reads all of it."""
    try:
        with contextlib.suppress(apsw.CorruptError):
            connection.execute(REFRESH).fetchall()
        return [str(row[0]) for row in connection.execute(CHECK) if row[0] != "ok"]
    except (apsw.CorruptError, apsw.SQLError, apsw.IOError) as problem:
        return [str(problem)]


def make_anew(connection: apsw.Connection) -> None:
    """Throws it away; what is indexed from now on is in it."""
    connection.execute(DROP)
    connection.execute(CREATE)
    connection.execute(WITHOUT_WORDS)
