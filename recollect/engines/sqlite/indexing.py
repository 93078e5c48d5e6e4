"""Making things findable: an owner's passages replace what it had, in the tail of their partition, in a generation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal

import apsw
import numpy as np
import orjson

from recollect.engines.codec import ids_json
from recollect.engines.plans import Generation, counted_pieces, sessions_of
from recollect.engines.sqlite.schema import IDS
from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, column_values
from recollect.record import Conversation, Document, Message, Node, NodeId, ToolCall
from recollect.store.change import Record
from recollect.store.passages import EmbedderId, Owner, Passage, QualityVectors
from recollect.store.results import IndexInfo

IN_USE = """
SELECT state, number, num, embedder, size, built, wordless FROM generation
WHERE ns = ? AND state IN ('live', 'building')
"""
IS_UNINDEXED = "SELECT unindexed FROM namespace WHERE num = ?"
COUNT_UP = "UPDATE namespace SET generations = generations + 1 WHERE num = ? RETURNING generations"
ADD_GENERATION = "INSERT INTO generation (ns, number, state, embedder, size) VALUES (?, ?, ?, ?, ?) RETURNING num"
SET_STATE = "UPDATE generation SET state = ? WHERE num = ?"
SET_BUILT = "UPDATE generation SET built = ? WHERE num = ?"
IS_INDEXED = "UPDATE namespace SET unindexed = 0 WHERE num = ?"
ADD_TODO = "INSERT INTO todo (gen, owner_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
DONE = f"DELETE FROM todo WHERE gen = ?1 AND owner_id IN {IDS}"
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
# What may own passages, of these ids: id, kind of owner, its number, whether it may be found.
OWNERS = f"""
SELECT id, 0, num, NOT deleted FROM message WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT t.id, 1, t.num, coalesce(NOT m.deleted, 1) FROM tool_call t
    LEFT JOIN message m ON m.ns = t.ns AND m.id = t.message_id WHERE t.ns = ?1 AND t.id IN {IDS}
UNION ALL SELECT id, 2, num, NOT erased FROM document WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, 3, num, NOT deleted FROM conversation WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, 4, num, NOT erased AND state IN ('live', 'superseded') FROM node WHERE ns = ?1 AND id IN {IDS}
"""
CALLS_OF = f"SELECT num FROM tool_call WHERE ns = ?1 AND message_id IN {IDS}"

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
MESSAGES = f"SELECT id, num, conversation FROM message WHERE ns = ?1 AND id IN {IDS}"
CONVERSATIONS = f"SELECT id, num FROM conversation WHERE ns = ?1 AND id IN {IDS}"
SESSION = """
SELECT session FROM passage WHERE gen = ? AND owner = 0 AND owner_num = ? ORDER BY num DESC LIMIT 1
"""
ADD_SPEAKER = "INSERT INTO speaker (ns, name) VALUES (?, ?) ON CONFLICT (ns, name) DO NOTHING"
SPEAKER = "SELECT num FROM speaker WHERE ns = ? AND name = ?"

OF_OWNER = "SELECT num, partition, owner, owner_num FROM passage WHERE gen = ? AND owner = ? AND owner_num = ?"
REMOVE_PASSAGE = "DELETE FROM passage WHERE num = ?"
REMOVE_TAIL = "DELETE FROM tail WHERE num = ?"
REMOVE_WORDS = "DELETE FROM words WHERE rowid = ?"
REMOVE_RUNS = "DELETE FROM run_vector WHERE num = ?"
SEALED_UNTIL = "SELECT partition, sealed FROM index_state WHERE gen = ?"
LOG_DEATH = "INSERT INTO death (gen, partition, num, sealed, owner, owner_num) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq"
NOTE_DEATHS = "UPDATE index_state SET deaths = ? WHERE gen = ? AND partition = ?"

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

#: An owner as the tables of the index know it: what kind, and its number.
OwnerKey = tuple[int, int]

_KINDS: dict[Owner, type[Record]] = {
    Owner.MESSAGE: Message,
    Owner.TOOL_CALL: ToolCall,
    Owner.DOCUMENT: Document,
    Owner.CONVERSATION: Conversation,
    Owner.NODE: Node,
}


def scope(gen: int, partition: int) -> str:
    """The one word that keeps full-text queries within a generation and partition."""
    return f"g{gen}p{partition}"


def in_use(connection: apsw.Connection, ns: int) -> dict[str, Generation]:
    """The generation that is "live", and the one that is "building"."""
    rows: Any = connection.execute(IN_USE, (ns,))
    return {
        state: Generation(number, num, EmbedderId.read(embedder, size), built, bool(wordless))
        for state, number, num, embedder, size, built, wordless in rows
    }


def info(connection: apsw.Connection, ns: int) -> IndexInfo:
    """What search reads, and what is being built. A namespace that holds messages of an older version and no passages
    has neither generation nor embedder until one is published.
    """
    found = in_use(connection, ns)
    now, then = found.get("live"), found.get("building")
    return IndexInfo(
        generation=now.number if now else 0,
        embedder=now.embedder if now else None,
        quality=bool(now and connection.execute(HAS_QUALITY, (now.key,)).get),
        building=then.number if then else None,
        building_embedder=then.embedder if then else None,
        built=then.built if then else None,
        todo=tuple(row[0] for row in connection.execute(TODO, (then.key,))) if then else (),
    )


def is_unindexed(connection: apsw.Connection, ns: int) -> bool:
    """Whether there are records of an older version, and no generation was published since."""
    return bool(connection.execute(IS_UNINDEXED, (ns,)).get)


class SQLiteIndexWriter:
    """Implements `recollect.engines.plans.IndexWriter`."""

    def __init__(
        self, connection: apsw.Connection, ns: int, put: Set[tuple[NodeId, type[Record]]] = frozenset()
    ) -> None:
        """`put` holds what the change puts: a conversation may have the id of a message."""
        self._connection, self._ns, self._put = connection, ns, put
        found = in_use(connection, ns)
        self.live, self.building = found.get("live"), found.get("building")
        self._owners: dict[tuple[NodeId, ...], list[tuple[NodeId, int, int, bool]]] = {}

    def is_unindexed(self) -> bool:
        """Whether there are records of an older version, and no generation was published since."""
        return is_unindexed(self._connection, self._ns)

    def add(self, state: Literal["live", "building"], embedder: EmbedderId) -> Generation:
        """A new generation."""
        number = int(self._connection.execute(COUNT_UP, (self._ns,)).get)
        values = (self._ns, number, state, embedder.stored, embedder.size)
        return Generation(number, int(self._connection.execute(ADD_GENERATION, values).get), embedder)

    def give_up(self, generation: Generation) -> None:
        """Makes one garbage that is being built."""
        self._connection.execute(CLEAR_TODO, (generation.key,))
        self._connection.execute(SET_STATE, ("garbage", generation.key))

    def publish(self, new: Generation, old: Generation | None) -> None:
        """Makes search read a new one; quality vectors whose passages are the same change hands."""
        if old is not None:
            same = self._connection.execute(SAME, (old.key, new.key)).fetchall()
            self._many(TAKE_OVER, [(num, new.key, partition, seq) for num, partition, seq in same])
            self._many(EMBEDDED, [(num,) for num, _, _ in same])
            pieces = [self._connection.execute(PIECES_OF, (seq,)).get for _, _, seq in same]
            _count_pieces(self._connection, new.key, pieces, 1)
            self._connection.execute(LAST_QUALITY, (new.key,))
            self._connection.execute(SET_STATE, ("garbage", old.key))
        self._connection.execute(SET_STATE, ("live", new.key))
        self._connection.execute(SET_BUILT, (None, new.key))
        self._connection.execute(IS_INDEXED, (self._ns,))

    def todo(self, generation: Generation) -> list[NodeId]:
        """What was written while it was being built, some of it at least."""
        return [NodeId(row[0]) for row in self._connection.execute(TODO, (generation.key,))]

    def note_todo(self, generation: Generation, owners: Iterable[NodeId]) -> None:
        """Notes what was written while it was being built."""
        self._many(ADD_TODO, [(generation.key, owner) for owner in owners])

    def note_built(self, generation: Generation, built: NodeId | None, refreshed: Sequence[NodeId]) -> None:
        """Notes how far the builder has come, and what it has done of its todo."""
        if built is not None:
            self._connection.execute(SET_BUILT, (built, generation.key))
        self._connection.execute(DONE, (generation.key, ids_json(refreshed)))

    def silence(self, generation: Generation, owners: Sequence[NodeId]) -> None:
        """The passages of these owners, and of the calls of those that are messages, are found no longer."""
        keys = [(kind, num) for _, kind, num, _ in self._found(owners)]
        calls = self._connection.execute(CALLS_OF, (self._ns, ids_json(owners)))
        keys += [(int(Owner.TOOL_CALL), row[0]) for row in calls]
        kill(self._connection, generation.key, dict.fromkeys(keys))

    def remove(self, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
        """The passages that these owners had are found no longer."""
        keys = [(kind, num) for id_, kind, num, _ in self._found(passages) if self._is_meant(id_, kind, passages[id_])]
        kill(self._connection, generation.key, keys)

    def add_passages(self, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
        """Adds passages of owners that may be found to the tails of their partitions."""
        living = {(id_, kind): num for id_, kind, num, is_living in self._found(passages) if is_living}
        own = [(p, num) for id_, of in passages.items() for p in of if (num := living.get((id_, p.owner))) is not None]
        if not own:
            return
        added, gen = [p for p, _ in own], generation.key
        first = int(self._connection.execute(LAST).get) + 1
        pairs = list(enumerate(added, first))
        messages, of_message, conversations = self._numbers(added)

        def stored_session(message_id: NodeId) -> int:
            found = self._connection.execute(SESSION, (gen, messages.get(message_id, 0))).get
            return found or 0

        sessions = sessions_of(added, lambda id_: messages.get(id_, 0), stored_session)
        names = sorted({p.speaker for p in added if p.speaker})
        self._many(ADD_SPEAKER, [(self._ns, name) for name in names])
        speakers = {name: self._connection.execute(SPEAKER, (self._ns, name)).get for name in names}
        columns = np.zeros(len(added), COLUMNS)
        for i, (number, p) in enumerate(pairs):
            conversation = of_message.get(p.message_id) or conversations.get(p.conversation_id, 0)
            columns[i] = column_values(p, number, conversation, messages, sessions.get(p.message_id, 0), speakers)
        vectors, _ = to_int8(np.stack([p.vector for p in added]))
        self._many(
            ADD_PASSAGE,
            [
                (n, gen, int(p.partition), int(p.owner), num, p.part, p.start, p.end, sessions.get(p.message_id, 0))
                for (n, p), (_, num) in zip(pairs, own, strict=True)
            ],
        )
        terms = [orjson.dumps(dict(p.terms)).decode() for p in added]
        tail = zip(pairs, columns, vectors, terms, strict=True)
        self._many(ADD_TAIL, [(n, gen, int(p.partition), c.tobytes(), v.tobytes(), t) for (n, p), c, v, t in tail])
        self._many(ADD_WORDS, [(n, scope(gen, p.partition), p.words) for n, p in pairs])
        self._many(ADD_RUNS, [(n, to_int8(p.windows)[0].tobytes()) for n, p in pairs if len(p.windows)])
        last = {int(p.partition): n for n, p in pairs}
        self._many(NOTE_LAST, [(gen, partition, n) for partition, n in last.items()])

    def add_quality(self, generation: Generation, rows: Sequence[QualityVectors]) -> None:
        """Adds the vectors of passages of a generation; what is there stays, what is dead gets none."""
        added, last, gen = [], {}, generation.key
        for row in rows:
            vector, _ = to_int8(row.vector[None])
            found = self._connection.execute(ADD_VECTOR, (int(row.passage), vector.tobytes(), gen)).fetchone()
            if found is not None:
                self._connection.execute(EMBEDDED, (int(row.passage),))
                pieces = np.asarray(row.pieces, np.uint16).tobytes()
                self._connection.execute(ADD_TOKENS, (found[0], pieces, np.asarray(row.tokens, np.int8).tobytes()))
                added.append(pieces)
                last[found[1]] = found[0]
        self._many(NOTE_QUALITY, [(gen, partition, seq) for partition, seq in last.items()])
        _count_pieces(self._connection, gen, added, 1)

    def _found(self, ids: Iterable[NodeId]) -> list[tuple[NodeId, int, int, bool]]:
        """What has these ids: id, kind, number, whether it may be found."""
        key = tuple(ids)
        if key not in self._owners:
            rows: Any = self._connection.execute(OWNERS, (self._ns, ids_json(key)))
            self._owners[key] = [(owner_id, kind, num, bool(living)) for owner_id, kind, num, living in rows]
        return self._owners[key]

    def _is_meant(self, owner_id: NodeId, kind: int, passages: Sequence[Passage]) -> bool:
        """Whether an owner is the one whose passages are replaced, where an id means several things."""
        if passages:
            return any(p.owner == kind for p in passages)
        named = {int(owner) for owner, record in _KINDS.items() if (owner_id, record) in self._put}
        return not named or kind in named

    def _numbers(
        self, passages: Sequence[Passage]
    ) -> tuple[dict[NodeId, int], dict[NodeId | None, int], dict[NodeId | None, int]]:
        """The numbers of messages, of their conversations by message, and of conversations of other passages."""
        ids = {i for p in passages for i in (p.message_id, p.previous_id) if i is not None}
        found: list[Any] = self._connection.execute(MESSAGES, (self._ns, ids_json(ids))).fetchall()
        rest = {p.conversation_id for p in passages if p.message_id is None and p.conversation_id}
        others: Any = self._connection.execute(CONVERSATIONS, (self._ns, ids_json(rest))) if rest else ()
        return {row[0]: row[1] for row in found}, {row[0]: row[2] for row in found}, dict(others)

    def _many(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            self._connection.executemany(statement, rows)


def kill(connection: apsw.Connection, gen: int, keys: Iterable[OwnerKey]) -> int:
    """The passages of these owners are found no longer: out of everything that holds their words but the segments, and
    into the log that searches read. Returns how many there were.
    """
    found: list[Any] = connection.executemany(OF_OWNER, [(gen, *key) for key in keys]).fetchall()
    if not found:
        return 0
    numbers = [(num,) for num, *_ in found]
    gone = connection.executemany(REMOVE_VECTOR, numbers).fetchall()
    if gone:
        pieces: list[Any] = connection.executemany(REMOVE_TOKENS, gone).fetchall()
        _count_pieces(connection, gen, [row[0] for row in pieces], -1)
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


def _count_pieces(connection: apsw.Connection, gen: int, pieces: Sequence[bytes], sign: int) -> None:
    """Counts the word pieces of passages in (1) or out (-1)."""
    if pieces and (counted := counted_pieces(connection.execute(PIECES, (gen,)).fetchone(), pieces, sign)):
        connection.execute(PUT_PIECES, (gen, *counted))


# --- the full-text table ---------------------------------------------------------------------------------------------
# One for all namespaces and generations, derived, and made anew where it is damaged.

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
