"""Making things findable: an owner's passages replace what it had, in the tail of their partition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import apsw
import numpy as np
import orjson

from recollect.engines.sqlite import generations
from recollect.engines.sqlite.deaths import kill, owners
from recollect.engines.sqlite.generations import Generation
from recollect.engines.sqlite.put import ids_json
from recollect.engines.sqlite.quality import add_quality
from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, column_values
from recollect.record import NodeId
from recollect.store.change import IndexChange, WrongEmbedder
from recollect.store.passages import Owner, Passage

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
    gen = generations.target(connection, ns, change.generation, change.embedder, adds)
    known = owners(connection, ns, change.passages) if change.passages else []
    replaced = [(kind, num) for id_, kind, num, _ in known if _is_meant(id_, kind, change.passages[id_], put)]
    beside = generations.building(connection, ns)
    if beside is not None and (gen is None or beside.num != gen.num):
        kill(connection, beside.num, replaced)
        generations.note_todo(connection, beside.num, change.passages)
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
        generations.note_built(connection, gen.num, change.built, change.refreshed)


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
