"""Making things findable: an owner's passages replace what it had, in the tail of their partition."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import apsw
import numpy as np
import orjson

from recollect.engines.codec import ids_json
from recollect.errors import StoreError
from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, column_values
from recollect.record import NodeId
from recollect.store.change import IndexChange, Stale, WrongEmbedder
from recollect.store.passages import EmbedderId, Owner, Passage, QualityVectors
from recollect.store.results import IndexInfo

ADD_VECTOR = """
INSERT INTO quality_vector (num, gen, partition, vector) SELECT num, gen, partition, ?2 FROM passage
WHERE num = ?1 AND gen = ?3 ON CONFLICT (num) DO NOTHING RETURNING seq, partition
"""
EMBEDDED = "UPDATE passage SET embedded = 1 WHERE num = ?"
ADD_TOKENS = "INSERT INTO quality_token (seq, pieces, vectors) VALUES (?, ?, ?)"
NOTE_QUALITY = """
INSERT INTO index_state (gen, partition, quality) VALUES (?1, ?2, ?3)
ON CONFLICT (gen, partition) DO UPDATE SET quality = max(quality, excluded.quality)
"""
REMOVE_VECTOR = "DELETE FROM quality_vector WHERE num = ? RETURNING seq"
REMOVE_TOKENS = "DELETE FROM quality_token WHERE seq = ? RETURNING pieces"
PIECES = "SELECT passages, counts FROM piece_count WHERE gen = ?"
PUT_PIECES = """
INSERT INTO piece_count (gen, passages, counts) VALUES (?, ?, ?)
ON CONFLICT (gen) DO UPDATE SET passages = excluded.passages, counts = excluded.counts
"""

_PIECES = 1 << 16


def add_quality(connection: apsw.Connection, gen: int, rows: Sequence[QualityVectors]) -> None:
    """Adds the vectors of passages of a generation; what is there stays, what is dead gets none."""
    added, last = [], {}
    for row in rows:
        vector, _ = to_int8(row.vector[None])
        found = connection.execute(ADD_VECTOR, (int(row.passage), vector.tobytes(), gen)).fetchone()
        if found is not None:
            connection.execute(EMBEDDED, (int(row.passage),))
            pieces = np.asarray(row.pieces, np.uint16).tobytes()
            connection.execute(ADD_TOKENS, (found[0], pieces, np.asarray(row.tokens, np.int8).tobytes()))
            added.append(pieces)
            last[found[1]] = found[0]
    connection.executemany(NOTE_QUALITY, [(gen, partition, seq) for partition, seq in last.items()])
    count_pieces(connection, gen, added, 1)


def remove_quality(connection: apsw.Connection, gen: int, passages: Sequence[int]) -> None:
    """Removes the vectors of passages that die."""
    gone = connection.executemany(REMOVE_VECTOR, [(num,) for num in passages]).fetchall()
    if gone:
        pieces: list[Any] = connection.executemany(REMOVE_TOKENS, gone).fetchall()
        count_pieces(connection, gen, (row[0] for row in pieces), -1)


def count_pieces(connection: apsw.Connection, gen: int, pieces: Iterable[bytes], sign: int) -> None:
    """Counts the word pieces of passages in (1) or out (-1)."""
    changed, passages = np.zeros(_PIECES, np.int64), 0
    for raw in pieces:
        changed[np.unique(np.frombuffer(raw, np.uint16))] += sign
        passages += sign
    if passages:
        known = connection.execute(PIECES, (gen,)).fetchone()
        before = np.frombuffer(known[1], np.uint32) if known else np.zeros(_PIECES, np.uint32)
        counts = np.maximum(before + changed, 0).astype(np.uint32)
        connection.execute(PUT_PIECES, (gen, max(0, passages + (known[0] if known else 0)), counts.tobytes()))


# Generations of what is derived for search: search reads the live one, another is built beside it and published.

IN_USE = "SELECT num, number, embedder, size, built, wordless FROM generation WHERE ns = ? AND state = ?"
IS_UNINDEXED = "SELECT unindexed FROM namespace WHERE num = ?"
COUNT_UP = "UPDATE namespace SET generations = generations + 1 WHERE num = ? RETURNING generations"
ADD_GENERATION = "INSERT INTO generation (ns, number, state, embedder, size) VALUES (?, ?, ?, ?, ?) RETURNING num"
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
    num = int(connection.execute(ADD_GENERATION, (ns, number, state, embedder.stored, embedder.size)).get)
    return Generation(num, number, embedder.stored, embedder.size, None)


def _take_over_quality(connection: apsw.Connection, old: int, new: int) -> None:
    same = connection.execute(SAME, (old, new)).fetchall()
    connection.executemany(TAKE_OVER, [(num, new, partition, seq) for num, partition, seq in same])
    connection.executemany(EMBEDDED, [(num,) for num, _, _ in same])
    count_pieces(connection, new, (connection.execute(PIECES_OF, (row[2],)).get for row in same), 1)
    connection.execute(LAST_QUALITY, (new,))


# Passages that die: out of everything that holds their words but the segments, and into the log that searches read.

#: What may own passages, of these ids: id, kind of owner, its number, whether it may be found.
OWNERS = """
SELECT id, 0, num, NOT deleted FROM message WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT t.id, 1, t.num, coalesce(NOT m.deleted, 1) FROM tool_call t
    LEFT JOIN message m ON m.ns = t.ns AND m.id = t.message_id
    WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 2, num, NOT erased FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 3, num, NOT deleted FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 4, num, NOT erased AND state IN ('live', 'superseded') FROM node
    WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
CALLS_OF = """
SELECT num FROM tool_call WHERE ns = ?1 AND message_id IN (SELECT value FROM json_each(?2))
"""
OF_OWNER = "SELECT num, partition, owner, owner_num FROM passage WHERE gen = ? AND owner = ? AND owner_num = ?"
REMOVE_PASSAGE = "DELETE FROM passage WHERE num = ?"
REMOVE_TAIL = "DELETE FROM tail WHERE num = ?"
REMOVE_WORDS = "DELETE FROM words WHERE rowid = ?"
REMOVE_RUNS = "DELETE FROM run_vector WHERE num = ?"
SEALED_UNTIL = "SELECT partition, sealed FROM index_state WHERE gen = ?"
LOG_DEATH = "INSERT INTO death (gen, partition, num, sealed, owner, owner_num) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq"
NOTE_DEATHS = "UPDATE index_state SET deaths = ? WHERE gen = ? AND partition = ?"

#: An owner as the tables of the index know it: what kind, and its number.
OwnerKey = tuple[int, int]


def owners(connection: apsw.Connection, ns: int, ids: Iterable[NodeId]) -> list[tuple[NodeId, int, int, bool]]:
    """What has these ids: id, kind, number, whether it may be found."""
    found: Any = connection.execute(OWNERS, (ns, ids_json(ids)))
    return [(owner_id, kind, num, bool(living)) for owner_id, kind, num, living in found]


def with_calls(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> list[OwnerKey]:
    """What has these ids, and the tool calls of those that are messages: what is silenced with them."""
    found: list[OwnerKey] = [(kind, num) for _, kind, num, _ in owners(connection, ns, ids)]
    calls = connection.execute(CALLS_OF, (ns, ids_json(ids)))
    return list(dict.fromkeys([*found, *((int(Owner.TOOL_CALL), row[0]) for row in calls)]))


def kill(connection: apsw.Connection, gen: int, keys: Iterable[OwnerKey]) -> int:
    """The passages of these owners are found no longer. Returns how many there were."""
    found: list[Any] = connection.executemany(OF_OWNER, [(gen, *key) for key in keys]).fetchall()
    if not found:
        return 0
    numbers = [(num,) for num, *_ in found]
    remove_quality(connection, gen, [num for num, *_ in found])
    for statement in (REMOVE_PASSAGE, REMOVE_TAIL, REMOVE_WORDS, REMOVE_RUNS):
        connection.executemany(statement, numbers)
    states: list[Any] = connection.execute(SEALED_UNTIL, (gen,)).fetchall()
    sealed: dict[int, int] = dict(states)
    last: dict[int, int] = {}
    for num, partition, *owner in sorted(found):
        in_segment = int(num <= sealed.get(partition, 0))
        last[partition] = int(connection.execute(LOG_DEATH, (gen, partition, num, in_segment, *owner)).get)
    connection.executemany(NOTE_DEATHS, [(seq, gen, partition) for partition, seq in last.items()])
    return len(found)


LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'passage'"
ADD_PASSAGE = """
INSERT INTO passage (num, gen, partition, owner, owner_num, part, start, end, session)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
ADD_TAIL = "INSERT INTO tail (num, gen, partition, columns, vector, terms) VALUES (?, ?, ?, ?, ?, ?)"
ADD_WORDS = "INSERT INTO words (rowid, scope, text) VALUES (?, ?, ?)"
ADD_RUNS = "INSERT INTO run_vector (num, vectors) VALUES (?, ?)"
NOTE_LAST = """
INSERT INTO index_state (gen, partition, last) VALUES (?, ?, ?)
ON CONFLICT (gen, partition) DO UPDATE SET last = excluded.last
"""
MESSAGES = "SELECT id, num, conversation FROM message WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
CONVERSATIONS = "SELECT id, num FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
SESSION = """
SELECT session FROM passage WHERE gen = ? AND owner = 0 AND owner_num = ? ORDER BY num DESC LIMIT 1
"""
ADD_SPEAKER = "INSERT INTO speaker (ns, name) VALUES (?, ?) ON CONFLICT (ns, name) DO NOTHING"
SPEAKER = "SELECT num FROM speaker WHERE ns = ? AND name = ?"


def scope(gen: int, partition: int) -> str:
    """The one word that keeps full-text queries within a generation and partition."""
    return f"g{gen}p{partition}"


def write_index(
    connection: apsw.Connection, ns: int, change: IndexChange, put: Collection[tuple[NodeId, int]] = ()
) -> None:
    """Replaces the passages of owners and adds quality vectors. Raises WrongEmbedder, StoreError.

    `put` holds what the change puts, by id and kind of owner: a conversation may have the id of a message.
    """
    adds = any(change.passages.values())
    if adds and change.embedder is None:
        raise WrongEmbedder("The passages do not say which embedder made their vectors.")
    gen = target(connection, ns, change.generation, change.embedder, adds)
    known = owners(connection, ns, change.passages) if change.passages else []
    replaced = [(kind, num) for id_, kind, num, _ in known if _is_meant(id_, kind, change.passages[id_], put)]
    beside = building(connection, ns)
    if beside is not None and (gen is None or beside.num != gen.num):
        kill(connection, beside.num, replaced)
        note_todo(connection, beside.num, change.passages)
    if gen is None:
        return
    kill(connection, gen.num, replaced)
    living = {(id_, kind): num for id_, kind, num, is_living in known if is_living}
    added = [
        (p, living[owner_id, p.owner])
        for owner_id, passages in change.passages.items()
        for p in passages
        if (owner_id, p.owner) in living
    ]
    if added:
        _Adding(connection, ns, gen, [p for p, _ in added]).add([num for _, num in added])
    if change.quality:
        add_quality(connection, gen.num, change.quality)
    if beside is not None and beside.num == gen.num:
        note_built(connection, gen.num, change.built, change.refreshed)


def _is_meant(owner_id: NodeId, kind: int, passages: Sequence[Passage], put: Collection[tuple[NodeId, int]]) -> bool:
    """Whether an owner is the one whose passages are replaced, where an id means several things."""
    if passages:
        return any(p.owner == kind for p in passages)
    named = {k for k in Owner if (owner_id, int(k)) in put}
    return not named or kind in named


class _Adding:
    """Passages on their way into the tails of a generation."""

    def __init__(self, connection: apsw.Connection, ns: int, gen: Generation, passages: Sequence[Passage]) -> None:
        self._connection, self._ns, self._gen, self._passages = connection, ns, gen.num, passages
        if any(len(p.vector) != gen.size for p in passages):
            raise WrongEmbedder(f"The vectors of this memory have {gen.size} dimensions, these have another number.")
        self._sessions: dict[NodeId, int] = {}
        self._find_numbers()
        self._find_speakers()

    def add(self, owner_nums: Sequence[int]) -> None:
        """Writes them all."""
        passages, gen = self._passages, self._gen
        first = int(self._connection.execute(LAST).get) + 1
        numbers = range(first, first + len(passages))
        sessions = [self._session(p) for p in passages]
        columns = np.zeros(len(passages), COLUMNS)
        for i, p in enumerate(passages):
            columns[i] = column_values(
                p, numbers[i], self._conversation(p), self._messages, sessions[i], self._speakers
            )
        vectors, _ = to_int8(np.stack([p.vector for p in passages]))
        self._many(
            ADD_PASSAGE,
            [
                (n, gen, int(p.partition), int(p.owner), owner, p.part, p.start, p.end, session)
                for n, p, owner, session in zip(numbers, passages, owner_nums, sessions, strict=True)
            ],
        )
        self._many(
            ADD_TAIL,
            [
                (
                    n,
                    gen,
                    int(p.partition),
                    columns[i].tobytes(),
                    vectors[i].tobytes(),
                    orjson.dumps(dict(p.terms)).decode(),
                )
                for i, (n, p) in enumerate(zip(numbers, passages, strict=True))
            ],
        )
        pairs = list(zip(numbers, passages, strict=True))
        self._many(ADD_WORDS, [(n, scope(gen, p.partition), p.words) for n, p in pairs])
        self._many(ADD_RUNS, [(n, to_int8(p.windows)[0].tobytes()) for n, p in pairs if len(p.windows)])
        last = {int(p.partition): n for n, p in pairs}
        self._many(NOTE_LAST, [(gen, partition, n) for partition, n in last.items()])

    def _find_numbers(self) -> None:
        ids = {i for p in self._passages for i in (p.message_id, p.previous_id) if i is not None}
        found: Any = self._connection.execute(MESSAGES, (self._ns, ids_json(ids))).fetchall()
        self._messages: dict[NodeId, int] = {row[0]: row[1] for row in found}
        self._conversation_of: dict[NodeId, int] = {row[0]: row[2] for row in found}
        rest = {p.conversation_id for p in self._passages if p.message_id is None and p.conversation_id}
        self._conversations: dict[NodeId, int] = {}
        if rest:
            rows: Any = self._connection.execute(CONVERSATIONS, (self._ns, ids_json(rest))).fetchall()
            self._conversations = dict(rows)

    def _find_speakers(self) -> None:
        names = sorted({p.speaker for p in self._passages if p.speaker})
        self._many(ADD_SPEAKER, [(self._ns, name) for name in names])
        self._speakers = {name: self._connection.execute(SPEAKER, (self._ns, name)).get for name in names}

    def _conversation(self, p: Passage) -> int:
        if p.message_id in self._conversation_of:
            return self._conversation_of[p.message_id]
        return self._conversations.get(p.conversation_id, 0) if p.conversation_id else 0

    def _session(self, p: Passage) -> int:
        """The number of the first message of the session; of a passage without message 0."""
        if p.message_id is None:
            return 0
        if p.message_id not in self._sessions:  # else a further passage of the same message
            session = 0
            if p.continues and p.previous_id is not None:
                session = self._sessions.get(p.previous_id) or self._stored_session(p.previous_id)
            self._sessions[p.message_id] = session or self._messages.get(p.message_id, 0)
        return self._sessions[p.message_id]

    def _stored_session(self, message_id: NodeId) -> int:
        num = self._messages.get(message_id, 0)
        return self._connection.execute(SESSION, (self._gen, num)).get or 0

    def _many(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            self._connection.executemany(statement, rows)


# The full-text table: one for all namespaces and generations, derived, and made anew where it is damaged.

# A query makes FTS5 look whether what it remembers of its index is still so; the check alone does not, and would find
# what others have changed meanwhile damaged.
REFRESH_WORDS = "SELECT rowid FROM words WHERE words MATCH '\"\"' LIMIT 1"
CHECK_WORDS = "PRAGMA integrity_check(words)"
DROP_WORDS = "DROP TABLE words"
CREATE_WORDS = """
CREATE VIRTUAL TABLE words USING fts5 (
    scope, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
)
"""
# Generations whose words were in it: they say that they are damaged until they are built anew.
WITHOUT_WORDS = "UPDATE generation SET wordless = 1"


def words_damage(connection: apsw.Connection) -> list[str]:
    """What is wrong with it; it reads all of it."""
    try:
        with contextlib.suppress(apsw.CorruptError):
            connection.execute(REFRESH_WORDS).fetchall()
        return [str(row[0]) for row in connection.execute(CHECK_WORDS) if row[0] != "ok"]
    except (apsw.CorruptError, apsw.SQLError, apsw.IOError) as problem:
        return [str(problem)]


def make_words_anew(connection: apsw.Connection) -> None:
    """Throws it away; what is indexed from now on is in it."""
    connection.execute(DROP_WORDS)
    connection.execute(CREATE_WORDS)
    connection.execute(WITHOUT_WORDS)
