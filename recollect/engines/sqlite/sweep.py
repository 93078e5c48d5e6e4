"""Sweeping what is left of generations that nobody reads, and of namespaces that were dropped, piece by piece.

A namespace that is dropped loses its name first: it is gone for everybody from then on. What it held is known by a name
that nobody can give, until the last of it is swept.
"""

from __future__ import annotations

import apsw

GARBAGE = "SELECT num FROM generation WHERE ns = ? AND state = 'garbage' LIMIT 1"
PASSAGES = "SELECT num FROM passage WHERE gen = ? LIMIT 500"
REMOVE_WORDS = "DELETE FROM words WHERE rowid = ?"
REMOVE_RUNS = "DELETE FROM run_vector WHERE num = ?"
REMOVE_PASSAGE = "DELETE FROM passage WHERE num = ?"
VECTORS = "SELECT seq FROM quality_vector WHERE gen = ? LIMIT 200"
REMOVE_TOKENS = "DELETE FROM quality_token WHERE seq = ?"
REMOVE_VECTOR = "DELETE FROM quality_vector WHERE seq = ?"
TAIL = "SELECT num FROM tail WHERE gen = ? LIMIT 500"
REMOVE_TAIL = "DELETE FROM tail WHERE num = ?"
SEGMENT = "SELECT num FROM segment WHERE gen = ? LIMIT 1"
REMOVE_SEGMENT = "DELETE FROM segment WHERE num = ?"
REMOVE_DATA = "DELETE FROM segment_data WHERE num = ?"
DEATHS = "SELECT seq FROM death WHERE gen = ? LIMIT 5000"
REMOVE_DEATH = "DELETE FROM death WHERE seq = ?"
LEFT_OVER = """
SELECT num FROM segment_data d WHERE NOT EXISTS (SELECT 1 FROM segment s WHERE s.num = d.num) LIMIT 1
"""
END = (
    "DELETE FROM todo WHERE gen = ?",
    "DELETE FROM piece_count WHERE gen = ?",
    "DELETE FROM index_state WHERE gen = ?",
    "DELETE FROM generation WHERE num = ?",
)

DROP = "UPDATE namespace SET name = ' ' || num WHERE name = ?"  # no name has a blank
DROPPED = "SELECT num FROM namespace WHERE name LIKE ' %' ORDER BY num LIMIT 1"
GIVE_UP = "UPDATE generation SET state = 'garbage' WHERE ns = ? AND state != 'garbage'"
REMOVE_NAMESPACE = "DELETE FROM namespace WHERE num = ?"
REMOVE_ROWS = tuple(
    f"DELETE FROM {table} WHERE num IN (SELECT num FROM {table} WHERE ns = ? LIMIT 2000)"
    for table in ("task", "tool_call", "turn", "chunk", "message", "conversation", "document", "node", "speaker")
)
REMOVE_EDGES = """
DELETE FROM edge WHERE ns = ?1 AND source_id IN (SELECT DISTINCT source_id FROM edge WHERE ns = ?1 LIMIT 500)
"""

#: What is removed together, by what finds some of it.
_PIECES = (
    (PASSAGES, (REMOVE_WORDS, REMOVE_RUNS, REMOVE_PASSAGE)),
    (VECTORS, (REMOVE_TOKENS, REMOVE_VECTOR)),
    (TAIL, (REMOVE_TAIL,)),
    (SEGMENT, (REMOVE_DATA, REMOVE_SEGMENT)),
    (DEATHS, (REMOVE_DEATH,)),
)


def garbage(connection: apsw.Connection, ns: int) -> int | None:
    """A generation of a namespace that nobody reads."""
    found: int | None = connection.execute(GARBAGE, (ns,)).get
    return found


def sweep(connection: apsw.Connection, gen: int) -> None:
    """Removes a piece of a generation, at last the generation."""
    for find, removals in _PIECES:
        found = connection.execute(find, (gen,)).fetchall()
        if found:
            for removal in removals:
                connection.executemany(removal, found)
            return
    for statement in END:
        connection.execute(statement, (gen,))


def dropped(connection: apsw.Connection) -> int | None:
    """A namespace that was dropped and is not swept yet."""
    found: int | None = connection.execute(DROPPED).get
    return found


def sweep_namespace(connection: apsw.Connection, ns: int) -> None:
    """Removes a piece of a namespace that was dropped, at last what is left of its name."""
    connection.execute(GIVE_UP, (ns,))
    gen = garbage(connection, ns)
    if gen is not None:
        sweep(connection, gen)
        return
    for statement in (*REMOVE_ROWS, REMOVE_EDGES):
        connection.execute(statement, (ns,))
        if connection.changes():
            return
    connection.execute(REMOVE_NAMESPACE, (ns,))


def left_over(connection: apsw.Connection) -> int | None:
    """The data of a segment that is no more."""
    found: int | None = connection.execute(LEFT_OVER).get
    return found


def sweep_data(connection: apsw.Connection, num: int) -> None:
    """Removes the data of a segment."""
    connection.execute(REMOVE_DATA, (num,))
