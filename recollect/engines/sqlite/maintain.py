"""Upkeep in short transactions: seal, write anew, sweep; erasing words, and overwriting what they left in the file.

A namespace that is dropped loses its name first: it is gone for everybody from then on. What it held is known by a name
that nobody can give, until the last of it is swept.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from recollect.engines import plans
from recollect.engines.codec import ids_json
from recollect.engines.sqlite import indexing, source
from recollect.engines.sqlite.connection import IN_MEMORY, ON_DISK, Database
from recollect.engines.sqlite.file import log_file
from recollect.engines.sqlite.indexing import kill
from recollect.engines.sqlite.schema import IDS
from recollect.engines.sqlite.source import SQLiteSource
from recollect.engines.sqlite.write import namespace_number
from recollect.errors import StoreError
from recollect.record import Namespace, NodeId
from recollect.store.change import IndexDamaged
from recollect.store.passages import Owner
from recollect.store.results import Erased

if TYPE_CHECKING:
    from recollect.index.corpus import IndexCache


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


def sweep_namespace(connection: apsw.Connection, ns: int) -> None:
    """Removes a piece of a namespace that was dropped, at last what is left of its name."""
    connection.execute(GIVE_UP, (ns,))
    gen = connection.execute(GARBAGE, (ns,)).get
    if gen is not None:
        sweep(connection, gen)
        return
    for statement in (*REMOVE_ROWS, REMOVE_EDGES):
        connection.execute(statement, (ns,))
        if connection.changes():
            return
    connection.execute(REMOVE_NAMESPACE, (ns,))


def sweep_data(connection: apsw.Connection, num: int) -> None:
    """Removes the data of a segment that is no more."""
    connection.execute(REMOVE_DATA, (num,))


PARTITIONS = "SELECT partition FROM index_state WHERE gen = ? ORDER BY partition"
SCRUB = "SELECT scrub FROM about"
SCRUBBED = "UPDATE about SET scrub = 0"
# The full-text index is merged into one, in pieces: what is deleted in it is gone then.
MERGE_ALL = "INSERT INTO words (words, rank) VALUES ('merge', -64)"
MERGE = "INSERT INTO words (words, rank) VALUES ('merge', 64)"
# Rows that move between pages leave copies behind in their free space, whatever secure_delete says.
REWRITE = "VACUUM"
CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
TRUNCATE = "PRAGMA wal_checkpoint(TRUNCATE)"

_LOG_TRUNCATED = 64 << 20  # bytes of the log from which it is given back to the disk
_LOG_WORTH_IT = 1 << 20
_READERS = 2.0  # seconds that cleaning waits for them

_Work = Callable[[apsw.Connection], None]


def maintain(database: Database, namespace: Namespace, budget: timedelta, index: IndexCache) -> bool:
    """Works as long as the budget lasts, one step at least; True while there is more that can be done now."""
    until = time.monotonic() + budget.total_seconds()
    damaged: set[tuple[int, int]] = set()

    def step() -> bool:
        work = _next(database, namespace, damaged)
        if work is not None:
            with database.writing() as connection:
                work(connection)
        return work is not None

    if plans.goes_on(until, step) or plans.goes_on(until, lambda: _prepare(database, namespace, index)):
        return True
    _checkpoint(database)
    clean(database)
    return False


def clean(database: Database) -> bool:
    """Overwrites what erased words may have left in the file and its log. Returns whether all is clean: while somebody
    reads, or the disk is full, it is not, and is tried again by the next `maintain`.
    """
    with database.reading() as connection:
        if not connection.execute(SCRUB).get:
            return True
    try:
        _merge_words(database)
        with database.told(), database.alone() as connection:
            connection.execute(ON_DISK)
            try:
                connection.execute(REWRITE)
            finally:
                connection.execute(IN_MEMORY)
            if not _truncated(database, connection):
                return False
        with database.writing() as connection:
            connection.execute(SCRUBBED)
    except StoreError as problem:
        import logging  # takes long to import, and most processes never log

        later = "To overwrite them later: recollect worker --once"
        logging.getLogger("recollect.store").warning(
            "Erased words are not overwritten yet: %s %s", problem.message, later
        )
        return False
    return True


def _next(database: Database, namespace: Namespace, damaged: set[tuple[int, int]]) -> _Work | None:
    """What is to be written next. What it takes to make it is done here, where nobody has to wait for it."""
    with database.reading() as connection:
        ns = namespace_number(connection, namespace)
        if ns is None:
            return None
        return _sealing(connection, ns, damaged) or _compacting(connection, ns, damaged) or _sweeping(connection, ns)


def _sealing(connection: apsw.Connection, ns: int, damaged: set[tuple[int, int]]) -> _Work | None:
    """What cannot be read is left alone: `check` tells, and a new generation mends it."""
    for tail in source.long_tails(connection, ns):
        if tail[:2] not in damaged:
            try:
                mark, data = source.sealed_segment(connection, tail)
            except IndexDamaged:
                damaged.add(tail[:2])
            else:
                return partial(source.use_sealed, tail=tail, mark=mark, data=data)
    return None


def _compacting(connection: apsw.Connection, ns: int, damaged: set[tuple[int, int]]) -> _Work | None:
    work = source.compaction(connection, ns)
    if work is None or work[:2] in damaged:
        return None
    try:
        rewritten = source.rewrite_next(connection, work)
    except IndexDamaged:
        damaged.add(work[:2])
        return None
    if rewritten is None:
        return partial(source.use_prepared, work=work)
    return partial(source.prepare, work=work, rewritten=rewritten)


def _sweeping(connection: apsw.Connection, ns: int) -> _Work | None:
    gen = connection.execute(GARBAGE, (ns,)).get
    if gen is not None:
        return partial(sweep, gen=gen)
    num = connection.execute(LEFT_OVER).get
    return None if num is None else partial(sweep_data, num=num)


def _prepare(database: Database, namespace: Namespace, index: IndexCache) -> bool:
    """Makes a file that searches map into memory; False: none is missing."""
    with database.reading() as connection:
        ns = namespace_number(connection, namespace)
        live = indexing.in_use(connection, ns).get("live") if ns is not None else None
        if ns is None or live is None:
            return False
        partitions: list[Any] = connection.execute(PARTITIONS, (live.key,)).fetchall()
        for (partition,) in partitions:
            with contextlib.suppress(IndexDamaged):
                if index.prepare(ns, partition, SQLiteSource(connection, ns, live, partition)):
                    return True
    return False


def _merge_words(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(MERGE_ALL)
    while True:
        with database.writing() as connection:
            before = connection.total_changes()
            connection.execute(MERGE)
            if connection.total_changes() - before < 2:  # as SQLite's documentation says that it ends
                return


def _checkpoint(database: Database) -> None:
    log = log_file(database.path)
    size = log.stat().st_size if log.exists() else 0
    if size > _LOG_WORTH_IT and not database.read_only:
        with database.told(), database.alone() as connection, database.impatient(connection):
            connection.execute(TRUNCATE if size > _LOG_TRUNCATED else CHECKPOINT).fetchall()


def _truncated(database: Database, connection: apsw.Connection) -> bool:
    """Empties the log. False: somebody reads from it still."""
    until = time.monotonic() + _READERS
    with database.impatient(connection):
        while connection.execute(TRUNCATE).get[0]:
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
    return True


# --- erasing: the words of what is named go from every table; what stays is a tombstone, which an import respects -----

FIND = f"""
SELECT id, 3, num, erased FROM conversation WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, 0, num, erased FROM message WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, 2, num, erased FROM document WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, 4, num, erased FROM node WHERE ns = ?1 AND id IN {IDS}
"""
MESSAGES_IN = "SELECT num FROM message WHERE conversation IN (SELECT value FROM json_each(?)) AND NOT erased"
NODES_OF = """
SELECT n.num FROM conversation c CROSS JOIN node n ON n.ns = c.ns AND n.conversation_id = c.id
WHERE c.num IN (SELECT value FROM json_each(?)) AND NOT n.erased
"""
CALLS_OF = """
SELECT t.num FROM message m CROSS JOIN tool_call t ON t.ns = m.ns AND t.message_id = m.id
WHERE m.num IN (SELECT value FROM json_each(?))
"""
CALLS_IN = "SELECT num FROM tool_call WHERE conversation IN (SELECT value FROM json_each(?))"
IDS_OF = """
SELECT id FROM conversation WHERE num IN (SELECT value FROM json_each(?1))
UNION ALL SELECT id FROM message WHERE num IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id FROM document WHERE num IN (SELECT value FROM json_each(?3))
UNION ALL SELECT id FROM node WHERE num IN (SELECT value FROM json_each(?4))
UNION ALL SELECT id FROM tool_call WHERE num IN (SELECT value FROM json_each(?5))
"""
TURNS_IN = "SELECT id FROM turn WHERE conversation IN (SELECT value FROM json_each(?))"
CHUNKS_OF = "SELECT k.id FROM json_each(?2) w CROSS JOIN chunk k ON k.ns = ?1 AND k.parent_id = w.value"
SPEAKERS = """
SELECT DISTINCT speaker FROM message WHERE num IN (SELECT value FROM json_each(?)) AND speaker IS NOT NULL
"""
STRIP_MESSAGES = """
UPDATE message SET content = '', parts = NULL, metadata = NULL, versions = NULL, speaker = NULL, model = NULL,
    timestamp = NULL, tokens = 0, deleted = 1, erased = 1 WHERE num IN (SELECT value FROM json_each(?))
"""
STRIP_CONVERSATIONS = """
UPDATE conversation SET title = '', metadata = NULL, created = NULL, updated = NULL, deleted = 1, erased = 1
WHERE num IN (SELECT value FROM json_each(?))
"""
STRIP_DOCUMENTS = """
UPDATE document SET title = '', content = '', versions = NULL, metadata = NULL, created = NULL, erased = 1,
    revision = revision + 1
WHERE num IN (SELECT value FROM json_each(?))
"""
STRIP_NODES = """
UPDATE node SET key = '', text = '', body = NULL, valid_from = NULL, valid_to = NULL, score = 0, erased = 1,
    revision = revision + 1
WHERE num IN (SELECT value FROM json_each(?))
"""
RAISE_REVISIONS = """
UPDATE conversation SET revision = revision + 1, digest = NULL WHERE num IN (SELECT value FROM json_each(?1)
    UNION SELECT conversation FROM message WHERE num IN (SELECT value FROM json_each(?2)))
"""
# What a turn says in words of its own, where a message of it is gone.
STRIP_TURNS = f"""
UPDATE turn SET resolved_query = NULL, entities = NULL, source_chunk_ids = NULL
WHERE (resolved_query IS NOT NULL OR entities IS NOT NULL OR source_chunk_ids IS NOT NULL)
  AND conversation IN (SELECT conversation FROM message WHERE num IN (SELECT value FROM json_each(?1)))
  AND (query_id IN {IDS}
    OR EXISTS (SELECT 1 FROM json_each(response_ids) r WHERE r.value IN (SELECT value FROM json_each(?2))))
"""
REMOVE_TURNS = "DELETE FROM turn WHERE conversation IN (SELECT value FROM json_each(?))"
REMOVE_CALLS = "DELETE FROM tool_call WHERE num IN (SELECT value FROM json_each(?))"
REMOVE_CHUNKS = f"DELETE FROM chunk WHERE ns = ?1 AND parent_id IN {IDS}"
REMOVE_EDGES_FROM = f"DELETE FROM edge WHERE ns = ?1 AND source_id IN {IDS}"
REMOVE_EDGES_TO = f"""
DELETE FROM edge INDEXED BY edge_inward WHERE ns = ?1 AND target_id IN {IDS}
"""
REMOVE_TASKS = f"DELETE FROM task WHERE ns = ?1 AND subject IN {IDS}"
# They may repeat what is erased; which of them do, nobody knows.
DROP_ANSWERS = "UPDATE task SET answer = NULL WHERE ns = ? AND answer IS NOT NULL"
REMOVE_SPEAKER = """
DELETE FROM speaker WHERE ns = ?1 AND name = ?2
  AND NOT EXISTS (SELECT 1 FROM message WHERE ns = ?1 AND speaker = ?2 AND NOT deleted)
"""
REMOVE_SPEAKERS = """
DELETE FROM speaker WHERE ns = ?1
  AND NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = ?1 AND m.speaker = speaker.name AND NOT m.deleted)
"""
GENERATIONS = "SELECT num, state FROM generation WHERE ns = ?"
# Passages of an owner whose words lie in segments: those that live, and those that died there before.
IN_SEGMENTS = """
SELECT p.partition, p.num FROM passage p CROSS JOIN index_state s ON s.gen = p.gen AND s.partition = p.partition
WHERE p.gen = ?1 AND p.owner = ?2 AND p.owner_num = ?3 AND p.num <= s.sealed
UNION ALL SELECT partition, num FROM death WHERE gen = ?1 AND owner = ?2 AND owner_num = ?3 AND sealed
"""
DEAD_IN_SEGMENTS = "SELECT partition, num FROM death WHERE gen = ? AND sealed"
TO_SCRUB = "UPDATE about SET scrub = 1"


def erase(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> Erased:
    """Strips messages, conversations with all in them, documents, nodes. Raises NotFound for an id of nothing."""
    named = _find(connection, ns, ids)
    keys = [(int(kind), num) for kind, nums in named.items() for num in nums]

    def killed(gen: int) -> tuple[int, list[Any]]:
        inside: list[Any] = connection.executemany(IN_SEGMENTS, [(gen, *key) for key in keys]).fetchall()
        return kill(connection, gen, keys), inside

    passages = plans.take_out(_generations(connection, ns), killed, partial(source.take_out, connection))
    _strip(connection, ns, named)
    connection.execute(TO_SCRUB)
    return Erased(
        conversations=len(named[Owner.CONVERSATION]),
        messages=len(named[Owner.MESSAGE]),
        documents=len(named[Owner.DOCUMENT]),
        nodes=len(named[Owner.NODE]),
        passages=passages,
    )


def purge(connection: apsw.Connection, ns: int) -> None:
    """Takes what died out of the segments, whose words are nowhere else, and drops the answers of tasks and the names
    of who speaks no longer.
    """

    def dead(gen: int) -> tuple[int, list[Any]]:
        found: list[Any] = connection.execute(DEAD_IN_SEGMENTS, (gen,)).fetchall()
        return 0, found

    plans.take_out(_generations(connection, ns), dead, partial(source.take_out, connection))
    connection.execute(DROP_ANSWERS, (ns,))
    connection.execute(REMOVE_SPEAKERS, (ns,))
    connection.execute(TO_SCRUB)


def _generations(connection: apsw.Connection, ns: int) -> list[tuple[int, bool]]:
    """All of them, each with whether search reads it."""
    found: list[Any] = connection.execute(GENERATIONS, (ns,)).fetchall()
    return [(gen, state == "live") for gen, state in found]


def _find(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> dict[Owner, list[int]]:
    """The numbers of what is erased, as owners of passages."""
    found: list[Any] = connection.execute(FIND, (ns, ids_json(dict.fromkeys(ids)))).fetchall()
    plans.require_all(sorted(set(ids)), {row[0] for row in found})
    named: dict[Owner, dict[int, None]] = {kind: {} for kind in Owner}
    for _, kind, num, erased in found:
        if not erased:
            named[Owner(kind)][num] = None
    within = ids_json(named[Owner.CONVERSATION])
    named[Owner.MESSAGE] |= {row[0]: None for row in connection.execute(MESSAGES_IN, (within,))}
    named[Owner.NODE] |= {row[0]: None for row in connection.execute(NODES_OF, (within,))}
    for statement, of in ((CALLS_OF, ids_json(named[Owner.MESSAGE])), (CALLS_IN, within)):
        named[Owner.TOOL_CALL] |= {row[0]: None for row in connection.execute(statement, (of,))}
    return {kind: list(nums) for kind, nums in named.items()}


def _strip(connection: apsw.Connection, ns: int, named: Mapping[Owner, Sequence[int]]) -> None:
    messages, calls, documents, conversations, nodes = (ids_json(named[kind]) for kind in Owner)
    ids = [row[0] for row in connection.execute(IDS_OF, (conversations, messages, documents, nodes, calls))]
    of_messages = ids_json(ids)
    speakers = connection.execute(SPEAKERS, (messages,)).fetchall()
    ids += [row[0] for row in connection.execute(TURNS_IN, (conversations,))]
    ids += [row[0] for row in connection.execute(CHUNKS_OF, (ns, of_messages))]
    gone = ids_json(ids)
    connection.execute(RAISE_REVISIONS, (conversations, messages))
    connection.execute(STRIP_TURNS, (messages, of_messages))
    connection.execute(REMOVE_TURNS, (conversations,))
    connection.execute(REMOVE_CALLS, (calls,))
    connection.execute(STRIP_MESSAGES, (messages,))
    connection.execute(STRIP_CONVERSATIONS, (conversations,))
    connection.execute(STRIP_DOCUMENTS, (documents,))
    connection.execute(STRIP_NODES, (nodes,))
    for statement in (REMOVE_CHUNKS, REMOVE_EDGES_FROM, REMOVE_EDGES_TO, REMOVE_TASKS):
        connection.execute(statement, (ns, gone))
    if ids:
        connection.execute(DROP_ANSWERS, (ns,))
    connection.executemany(REMOVE_SPEAKER, [(ns, name) for (name,) in speakers])
