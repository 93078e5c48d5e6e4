"""Writing what is derived for search: passages, first one by one (the tail), then sealed into segments.

A segment holds the columns and vectors of a run of passages side by side, and for each of its terms the rows that hold
it. A process that searches loads the columns and vectors of all segments and then reads only the postings of the words
that it is asked for (RANKING.md 2). Rows never change: an edited message gets new passages and the old ones die.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import apsw
import numpy as np
import orjson

from recollect.record import NodeId
from recollect.store.columns import COLUMNS, SEGMENT_ROWS, SETTLED_ROWS, column_values
from recollect.store.passages import Lane, Passage, QualityVectors
from recollect.store.quantize import to_int8
from recollect.store.sqlite.write import TOUCH_NAMESPACE

NEXT_ROW = "SELECT coalesce(max(row) + 1, 0) FROM passage WHERE ns = ? AND lane = ?"
ADD_PASSAGE = """
INSERT INTO passage (ns, lane, row, owner, owner_id, part, start, end, sitting) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING num
"""
ADD_TAIL = "INSERT INTO tail (ns, lane, row, columns, vector, terms) VALUES (?, ?, ?, ?, ?, ?)"
ADD_WORDS = "INSERT INTO words (rowid, scope, text) VALUES (?, ?, ?)"
ADD_WINDOWS = "INSERT INTO window_vector (num, vectors) VALUES (?, ?)"
FIND_MESSAGES = """
SELECT id, num, conversation FROM message WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
FIND_SITTING = "SELECT sitting FROM passage WHERE ns = ? AND owner_id = ? ORDER BY num DESC LIMIT 1"
FIND_CONVERSATION = "SELECT num FROM conversation WHERE ns = ? AND id = ?"
ADD_SPEAKER = "INSERT INTO speaker (ns, name) VALUES (?, ?) ON CONFLICT (ns, name) DO NOTHING"
SPEAKERS = "SELECT name, num FROM speaker WHERE ns = ?"
LIVING = """
SELECT num FROM passage WHERE ns = ?1 AND owner_id IN (SELECT value FROM json_each(?2)) AND NOT dead
"""
KILL = "UPDATE passage SET dead = 1 WHERE num = ?"
FORGET_WORDS = "DELETE FROM words WHERE rowid = ?"
FORGET_WINDOWS = "DELETE FROM window_vector WHERE num = ?"
FORGET_QUALITY = "DELETE FROM quality_vector WHERE num = ?"
FORGET_TOKENS = "DELETE FROM quality_token WHERE num = ?"
TAIL_SIZE = "SELECT count(*) FROM tail WHERE ns = ? AND lane = ?"
TAIL = "SELECT row, columns, vector, terms FROM tail WHERE ns = ? AND lane = ? ORDER BY row LIMIT ?"
CLEAR_TAIL = "DELETE FROM tail WHERE ns = ? AND lane = ? AND row <= ?"
ADD_SEGMENT = "INSERT INTO segment (ns, lane, first, last, columns, vectors) VALUES (?, ?, ?, ?, ?, ?)"
ADD_POSTING = "INSERT INTO posting (ns, lane, term, first, rows, counts) VALUES (?, ?, ?, ?, ?, ?)"
ADD_QUALITY = "INSERT INTO quality_vector (num, ns, vector) VALUES (?, ?, ?) ON CONFLICT (num) DO NOTHING RETURNING num"
ADD_TOKENS = "INSERT INTO quality_token (num, pieces, vectors) VALUES (?, ?, ?)"
IS_LIVING = "SELECT NOT dead FROM passage WHERE num = ?"
PIECES = "SELECT passages, counts FROM piece_count WHERE ns = ?"
PUT_PIECES = """
INSERT INTO piece_count (ns, passages, counts) VALUES (?, ?, ?)
ON CONFLICT (ns) DO UPDATE SET passages = excluded.passages, counts = excluded.counts
"""
CLEAR = """
DELETE FROM words WHERE rowid IN (SELECT num FROM passage WHERE ns = ?1);
DELETE FROM window_vector WHERE num IN (SELECT num FROM passage WHERE ns = ?1);
DELETE FROM quality_token WHERE num IN (SELECT num FROM passage WHERE ns = ?1);
DELETE FROM quality_vector WHERE ns = ?1;
DELETE FROM piece_count WHERE ns = ?1;
DELETE FROM posting WHERE ns = ?1;
DELETE FROM segment WHERE ns = ?1;
DELETE FROM tail WHERE ns = ?1;
DELETE FROM passage WHERE ns = ?1;
DELETE FROM speaker WHERE ns = ?1;
UPDATE namespace SET embedder = NULL, changes = changes + 1 WHERE ns = ?1;
"""


def scope(ns: int, lane: int) -> str:
    """The one word that keeps full-text queries within a namespace and lane."""
    return f"n{ns}l{lane}"


def add_passages(connection: apsw.Connection, ns: int, passages: Sequence[Passage]) -> None:
    """Adds passages to the tails of their lanes, and seals what has gathered."""
    if not passages:
        return
    messages = _message_numbers(connection, ns, passages)
    speakers = _speaker_numbers(connection, ns, passages)
    for lane, group in groupby(sorted(passages, key=lambda p: p.lane), key=lambda p: p.lane):
        _add_to_tail(connection, ns, lane, list(group), messages, speakers)
        while connection.execute(TAIL_SIZE, (ns, lane)).get >= SEGMENT_ROWS:
            _seal(connection, ns, lane, SEGMENT_ROWS)


def settle(connection: apsw.Connection, ns: int) -> None:
    """Seals tails that are long enough to be worth it."""
    for lane in Lane:
        if connection.execute(TAIL_SIZE, (ns, lane)).get >= SETTLED_ROWS:
            _seal(connection, ns, lane, SEGMENT_ROWS)


def kill_passages(connection: apsw.Connection, ns: int, owners: Iterable[NodeId]) -> None:
    """The passages of these owners are found no longer; their words and vectors beside the segments are removed."""
    found = connection.execute(LIVING, (ns, orjson.dumps(list(owners)).decode())).fetchall()
    for statement in (KILL, FORGET_WORDS, FORGET_WINDOWS, FORGET_QUALITY, FORGET_TOKENS):
        connection.executemany(statement, found)
    if found:
        connection.execute(TOUCH_NAMESPACE, (ns,))


def clear(connection: apsw.Connection, ns: int) -> None:
    """Throws away everything that is derived for search."""
    for statement in CLEAR.strip().split("\n"):
        connection.execute(statement, (ns,))


def add_quality(connection: apsw.Connection, ns: int, rows: Sequence[QualityVectors]) -> None:
    """Adds quality vectors, and counts in how many passages each word piece stands."""
    known = connection.execute(PIECES, (ns,)).fetchone()
    passages = known[0] if known else 0
    counts = np.frombuffer(known[1], np.uint32).copy() if known else np.zeros(1 << 16, np.uint32)
    for row in rows:
        living = connection.execute(IS_LIVING, (row.passage,)).fetchone()
        if living is None or not living[0]:
            continue
        vector, _ = to_int8(row.vector[None])
        if connection.execute(ADD_QUALITY, (row.passage, ns, vector.tobytes())).fetchone() is None:
            continue
        connection.execute(ADD_TOKENS, (row.passage, row.pieces.tobytes(), row.tokens.tobytes()))
        counts[np.unique(row.pieces)] += 1
        passages += 1
    connection.execute(PUT_PIECES, (ns, passages, counts.tobytes()))
    connection.execute(TOUCH_NAMESPACE, (ns,))


def _add_to_tail(
    connection: apsw.Connection,
    ns: int,
    lane: int,
    passages: Sequence[Passage],
    messages: dict[NodeId, tuple[int, int]],
    speakers: dict[str, int],
) -> None:
    first = connection.execute(NEXT_ROW, (ns, lane)).get
    columns = np.zeros(len(passages), COLUMNS)
    vectors, _ = to_int8(np.stack([p.vector for p in passages]))
    nums: list[int] = []
    numbers = {message_id: number for message_id, (number, _) in messages.items()}
    sittings: dict[NodeId, int] = {}
    conversations: dict[NodeId, int] = {}
    for i, p in enumerate(passages):
        message, conversation = messages.get(p.message_id, (0, 0)) if p.message_id else (0, 0)
        if not conversation and p.conversation_id:
            if p.conversation_id not in conversations:
                found = connection.execute(FIND_CONVERSATION, (ns, p.conversation_id)).get
                conversations[p.conversation_id] = found or 0
            conversation = conversations[p.conversation_id]
        sitting = _sitting(connection, ns, p, message, sittings)
        values = (ns, lane, first + i, p.owner, p.owner_id, p.part, p.start, p.end, sitting)
        nums.append(connection.execute(ADD_PASSAGE, values).get)
        columns[i] = column_values(p, nums[i], conversation, numbers, sitting, speakers)
    connection.executemany(
        ADD_TAIL,
        (
            (ns, lane, first + i, columns[i].tobytes(), vectors[i].tobytes(), orjson.dumps(dict(p.terms)).decode())
            for i, p in enumerate(passages)
        ),
    )
    connection.executemany(ADD_WORDS, ((nums[i], scope(ns, lane), p.words) for i, p in enumerate(passages)))
    connection.executemany(
        ADD_WINDOWS, ((nums[i], to_int8(p.windows)[0].tobytes()) for i, p in enumerate(passages) if len(p.windows))
    )


def _sitting(connection: apsw.Connection, ns: int, p: Passage, message: int, known: dict[NodeId, int]) -> int:
    """The number of the first message of the sitting; of a passage without message 0."""
    if p.message_id is None:
        return 0
    if p.message_id in known:  # a further passage of the same message
        return known[p.message_id]
    sitting = 0
    if p.continues and p.previous_id is not None:
        sitting = known.get(p.previous_id) or connection.execute(FIND_SITTING, (ns, p.previous_id)).get or 0
    known[p.message_id] = sitting or message
    return known[p.message_id]


def _seal(connection: apsw.Connection, ns: int, lane: int, limit: int) -> None:
    found: list[Any] = connection.execute(TAIL, (ns, lane, limit)).fetchall()
    first, last = found[0][0], found[-1][0]
    postings: dict[str, tuple[list[int], bytearray]] = {}
    for row, _, _, terms in found:
        for term, count in orjson.loads(terms).items():
            rows, counts = postings.setdefault(term, ([], bytearray()))
            rows.append(row)
            counts.append(min(count, 255))
    columns, vectors = b"".join(r[1] for r in found), b"".join(r[2] for r in found)
    connection.execute(ADD_SEGMENT, (ns, lane, first, last, columns, vectors))
    connection.executemany(
        ADD_POSTING,
        (
            (ns, lane, term, first, np.array(rows, np.uint32).tobytes(), bytes(counts))
            for term, (rows, counts) in sorted(postings.items())
        ),
    )
    connection.execute(CLEAR_TAIL, (ns, lane, last))


def _message_numbers(
    connection: apsw.Connection, ns: int, passages: Sequence[Passage]
) -> dict[NodeId, tuple[int, int]]:
    wanted = {i for p in passages for i in (p.message_id, p.previous_id) if i is not None}
    found = connection.execute(FIND_MESSAGES, (ns, orjson.dumps(list(wanted)).decode()))
    return {row[0]: (row[1], row[2]) for row in found}


def _speaker_numbers(connection: apsw.Connection, ns: int, passages: Sequence[Passage]) -> dict[str, int]:
    names = {p.speaker for p in passages if p.speaker}
    if not names:
        return {}
    connection.executemany(ADD_SPEAKER, [(ns, name) for name in sorted(names)])
    return {name: num for name, num in connection.execute(SPEAKERS, (ns,)) if name in names}
