"""Generations of what is derived for search: search reads the live one, another is built beside it and published."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import apsw

from recollect.engines.sqlite.put import ids_json
from recollect.engines.sqlite.quality import EMBEDDED, count_pieces
from recollect.errors import StoreError
from recollect.record import NodeId
from recollect.store.change import Stale, WrongEmbedder
from recollect.store.passages import EmbedderId
from recollect.store.results import IndexInfo

IN_USE = "SELECT num, number, embedder, size, built, wordless FROM generation WHERE ns = ? AND state = ?"
IS_UNINDEXED = "SELECT unindexed FROM namespace WHERE num = ?"
COUNT_UP = "UPDATE namespace SET generations = generations + 1 WHERE num = ? RETURNING generations"
ADD = "INSERT INTO generation (ns, number, state, embedder, size) VALUES (?, ?, ?, ?, ?) RETURNING num"
SET_STATE = "UPDATE generation SET state = ? WHERE num = ?"
SET_BUILT = "UPDATE generation SET built = ? WHERE num = ?"
IS_INDEXED = "UPDATE namespace SET unindexed = 0 WHERE num = ?"
ADD_TODO = "INSERT INTO todo (gen, owner_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
DONE = "DELETE FROM todo WHERE gen = ?1 AND owner_id IN (SELECT value FROM json_each(?2))"
CLEAR_TODO = "DELETE FROM todo WHERE gen = ?"
TODO = "SELECT owner_id FROM todo WHERE gen = ? ORDER BY owner_id LIMIT 1000"
HAS_QUALITY = "SELECT EXISTS (SELECT 1 FROM quality_vector WHERE gen = ?)"
# The quality vectors of the old generation whose passages are the same in the new one.
SAME = """
SELECT n.num, n.partition, q.seq FROM quality_vector q JOIN passage o ON o.num = q.num
JOIN passage n ON n.gen = ?2 AND n.owner = o.owner AND n.owner_num = o.owner_num AND n.partition = o.partition
    AND n.part = o.part AND n.start = o.start AND n.end = o.end
WHERE q.gen = ?1 AND NOT EXISTS (SELECT 1 FROM quality_vector h WHERE h.num = n.num) ORDER BY q.seq
"""
TAKE_OVER = "UPDATE quality_vector SET num = ?, gen = ?, partition = ? WHERE seq = ?"
PIECES_OF = "SELECT pieces FROM quality_token WHERE seq = ?"
LAST_QUALITY = """
UPDATE index_state SET quality = coalesce(
    (SELECT max(seq) FROM quality_vector q WHERE q.gen = ?1 AND q.partition = index_state.partition), quality)
WHERE gen = ?1
"""


class Generation(NamedTuple):
    """One of them. `num` is the store's number of it, `number` the namespace's; `embedder` is as it is stored."""

    num: int
    number: int
    embedder: str
    size: int
    built: NodeId | None
    wordless: int = 0

    @property
    def embedder_id(self) -> EmbedderId:
        """Who makes its vectors."""
        return EmbedderId.read(self.embedder, self.size)


def live(connection: apsw.Connection, ns: int) -> Generation | None:
    """The one that search reads."""
    found = connection.execute(IN_USE, (ns, "live")).fetchone()
    return Generation(*found) if found else None


def building(connection: apsw.Connection, ns: int) -> Generation | None:
    """The one that is being built."""
    found = connection.execute(IN_USE, (ns, "building")).fetchone()
    return Generation(*found) if found else None


def in_use(connection: apsw.Connection, ns: int) -> list[Generation]:
    """Both."""
    return [g for g in (live(connection, ns), building(connection, ns)) if g is not None]


def info(connection: apsw.Connection, ns: int) -> IndexInfo:
    """What search reads, and what is being built. A namespace that holds messages of an older version and no passages
    has neither generation nor embedder until one is published.
    """
    now, then = live(connection, ns), building(connection, ns)
    return IndexInfo(
        generation=now.number if now else 0,
        embedder=now.embedder_id if now else None,
        quality=bool(now and connection.execute(HAS_QUALITY, (now.num,)).get),
        building=then.number if then else None,
        building_embedder=then.embedder_id if then else None,
        built=then.built if then else None,
        todo=tuple(row[0] for row in connection.execute(TODO, (then.num,))) if then else (),
    )


def is_unindexed(connection: apsw.Connection, ns: int) -> bool:
    """Whether there are records of an older version, and no generation was published since."""
    return bool(connection.execute(IS_UNINDEXED, (ns,)).get)


def target(
    connection: apsw.Connection, ns: int, number: int | None, embedder: EmbedderId | None, adds: bool
) -> Generation | None:
    """The generation that a change is for: the live one, made at the first vectors, or the one of this number.

    None where there is nothing to write to: no live one, and nothing to add or all to be indexed first. Raises
    WrongEmbedder, and StoreError for one that is not being built.
    """
    found = live(connection, ns) if number is None else building(connection, ns)
    if number is not None and (found is None or found.number != number):
        raise StoreError(f"Generation {number} of the search index is no longer being built.", hint="Start again.")
    if found is None:
        if not adds or embedder is None or is_unindexed(connection, ns):
            return None
        return _add(connection, ns, "live", embedder)
    if embedder is not None and embedder != found.embedder_id:
        raise WrongEmbedder(
            f"The vectors of this memory were made by {found.embedder_id}, not by {embedder}.",
            hint=f"Open it with {found.embedder_id.name}, or make them again: recollect reindex",
        )
    return found


def begin(connection: apsw.Connection, ns: int, embedder: EmbedderId) -> int:
    """Begins a generation, or goes on with an unfinished one of this embedder and recipe; another one is dropped."""
    found = building(connection, ns)
    if found is not None and (found.embedder_id != embedder or found.embedder_id.is_outdated):
        drop(connection, ns)
        found = None
    return (found or _add(connection, ns, "building", embedder)).number


def drop(connection: apsw.Connection, ns: int) -> int:
    """Gives up the one that is being built; 0: there is none."""
    found = building(connection, ns)
    if found is None:
        return 0
    connection.execute(CLEAR_TODO, (found.num,))
    connection.execute(SET_STATE, ("garbage", found.num))
    return found.number


def publish(connection: apsw.Connection, ns: int, embedder: EmbedderId | None = None, number: int | None = None) -> int:
    """Makes search read the one that is being built (by this embedder, of this number). Raises Stale while its todo is
    not empty.
    """
    new, old = building(connection, ns), live(connection, ns)
    if new is None or embedder not in (None, new.embedder_id) or number not in (None, new.number):
        raise StoreError("No generation of the search index is being built.", hint="Begin one first.")
    todo = [row[0] for row in connection.execute(TODO, (new.num,))]
    if todo:
        raise Stale(todo)
    if old is not None:
        _take_over_quality(connection, old.num, new.num)
        connection.execute(SET_STATE, ("garbage", old.num))
    connection.execute(SET_STATE, ("live", new.num))
    connection.execute(SET_BUILT, (None, new.num))
    connection.execute(IS_INDEXED, (ns,))
    return new.number


def note_todo(connection: apsw.Connection, gen: int, owners: Iterable[NodeId]) -> None:
    """Notes what was written while a generation is being built."""
    connection.executemany(ADD_TODO, [(gen, owner) for owner in owners])


def note_built(connection: apsw.Connection, gen: int, built: NodeId | None, refreshed: Iterable[NodeId]) -> None:
    """Notes how far the builder has come, and what it has done of its todo."""
    if built is not None:
        connection.execute(SET_BUILT, (built, gen))
    connection.execute(DONE, (gen, ids_json(refreshed)))


def _add(connection: apsw.Connection, ns: int, state: str, embedder: EmbedderId) -> Generation:
    number = int(connection.execute(COUNT_UP, (ns,)).get)
    num = int(connection.execute(ADD, (ns, number, state, embedder.stored, embedder.size)).get)
    return Generation(num, number, embedder.stored, embedder.size, None)


def _take_over_quality(connection: apsw.Connection, old: int, new: int) -> None:
    same = connection.execute(SAME, (old, new)).fetchall()
    connection.executemany(TAKE_OVER, [(num, new, partition, seq) for num, partition, seq in same])
    connection.executemany(EMBEDDED, [(num,) for num, _, _ in same])
    count_pieces(connection, new, (connection.execute(PIECES_OF, (row[2],)).get for row in same), 1)
    connection.execute(LAST_QUALITY, (new,))
