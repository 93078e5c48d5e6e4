"""Writing what is derived for search: the passages of owners and their deaths, generations, quality vectors, tails.

A passage is a node: what it leads to, its words (for phrases) and runs of sentences. Its row (columns, vector, terms)
is in the tail, then in a segment. When it dies the node goes, and a `Death` says so to whoever has the row in memory.

Everything of a generation carries its `space`, the number of it in the store. Publishing turns one pointer, on the
namespace; what loses it stays known by its `Generation` node until `maintain` has swept the last of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson

from recollect.engines.neo4j.put import key
from recollect.engines.neo4j.writing import Writing, generation_of, pieces
from recollect.engines.plans import Generation, counted_pieces, sessions_of
from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, TailRow, column_values
from recollect.record import NodeId
from recollect.store.passages import EmbedderId, Partition, Passage, QualityVectors

CREATE_GENERATION = """
MERGE (k:Counter {name: 'spaces'}) SET k.value = coalesce(k.value, 0) + 1
WITH k.value AS space
MATCH (n:Namespace {name: $ns}) SET n.generations = n.generations + 1
CREATE (g:Generation {namespace: $ns, number: n.generations, space: space, embedder: $name, size: $size,
    state: $state})
RETURN properties(g) AS generation
"""
SET_LIVE = "MATCH (n:Namespace {name: $ns}) SET n.live = $space"
SET_BUILDING = "MATCH (n:Namespace {name: $ns}) SET n.building = $space"
FLIP = "MATCH (n:Namespace {name: $ns}) SET n.live = n.building, n.building = NULL"
SET_STATE = "MATCH (g:Generation {space: $space}) SET g.state = $state"
SET_BUILT = "MATCH (g:Generation {space: $space}) SET g.built = $built"
NOTE_TODO = "UNWIND $rows AS id MERGE (:Todo {space: $space, owner_id: id})"
DONE_TODO = "UNWIND $rows AS id MATCH (t:Todo {space: $space, owner_id: id}) DELETE t"
TODO = """
MATCH (t:Todo) WHERE t.space = $space AND t.owner_id IS NOT NULL
RETURN t.owner_id AS id ORDER BY id LIMIT $limit
"""
# The same piece of the same owner, in both generations.
TAKEN_OVER = """
MATCH (q:Quality) WHERE q.space = $old AND q.number > $after
WITH q ORDER BY q.space, q.number LIMIT $limit
OPTIONAL MATCH (p:Passage {space: $old, number: q.number})
OPTIONAL CALL (p) {
    MATCH (x:Passage) WHERE x.space = $space AND x.owner_id = p.owner_id AND x.owner = p.owner AND x.part = p.part
      AND x.start = p.start AND x.end = p.end AND NOT EXISTS { MATCH (:Quality {space: $space, number: x.number}) }
    RETURN x.number AS number, x.partition AS partition LIMIT 1
}
RETURN q.number AS old, number, partition, CASE WHEN number IS NULL THEN NULL ELSE q.pieces END AS pieces
ORDER BY old
"""
TAKE_OVER = """
UNWIND $rows AS r MATCH (q:Quality {space: $old, number: r.old}) MATCH (p:Passage {space: $space, number: r.number})
SET q.space = $space, q.number = r.number, q.partition = r.partition, q.place = NULL, p.bare = NULL
"""

SESSIONS = """
UNWIND $rows AS id MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = id AND p.session IS NOT NULL
RETURN id, p.number AS number, p.session AS session
"""
COUNT_SPEAKERS = """
UNWIND $rows AS r MERGE (s:Speaker {space: $space, key: r.key})
ON CREATE SET s.name = r.name, s.number = r.number, s.passages = 0
SET s.passages = s.passages + r.passages
RETURN s.name AS name, s.number AS number
"""
LEAVE_SPEAKERS = """
UNWIND $rows AS r MATCH (s:Speaker {space: $space, key: r.key}) SET s.passages = s.passages - r.passages
WITH s WHERE s.passages <= 0 DELETE s
"""
ADD = "UNWIND $rows AS r CREATE (p:Passage) SET p = r, p.space = $space"
KILL = """
UNWIND $rows AS id MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = id
WITH p, p.number AS number, p.partition AS partition, p.owner_id AS owner_id, p.speaker AS speaker
DELETE p
RETURN number, partition, owner_id, speaker
"""
CALLS_OF = """
UNWIND $rows AS id MATCH (:Message&Node {namespace: $ns, id: id})<-[:CALLED_BY]-(t:ToolCall) RETURN t.id AS id
"""
ADD_DEATHS = "UNWIND $rows AS r CREATE (d:Death) SET d = r, d.space = $space"
ADD_QUALITY = """
UNWIND $rows AS r MATCH (p:Passage {space: $space, number: r.number})
WHERE NOT EXISTS { MATCH (:Quality {space: $space, number: r.number}) }
CREATE (q:Quality) SET q = r, q.space = $space, q.partition = p.partition
SET p.bare = NULL
RETURN r.number AS number, p.partition AS partition
"""
PLACE_QUALITY = "UNWIND $rows AS r MATCH (q:Quality {space: $space, number: r.number}) SET q.place = r.place"
PIECES = "MATCH (k:PieceCount {space: $space}) RETURN k.passages AS passages, k.counts AS counts"
PUT_PIECES = "MERGE (k:PieceCount {space: $space}) SET k.passages = $passages, k.counts = $counts"
REMOVE_QUALITY = """
UNWIND $rows AS number MATCH (q:Quality {space: $space, number: number})
WITH q, q.pieces AS pieces, q.partition AS partition DELETE q
RETURN pieces, partition
"""

TODO_SHOWN = 1000
_TAKEN = 2000


def scope(space: int, partition: int) -> str:
    """The one word that keeps full-text queries within a generation and partition."""
    return f"s{space}p{partition}"


class Dead(NamedTuple):
    """A passage that is no more."""

    number: int
    partition: int
    owner_id: NodeId


class Neo4jIndexWriter:
    """Implements `recollect.engines.plans.IndexWriter`."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self.live, self.building = writing.live, writing.building

    def is_unindexed(self) -> bool:
        """Never: a server of an older version is not opened."""
        return False

    def add(self, state: Literal["live", "building"], embedder: EmbedderId) -> Generation:
        """A new generation."""
        values = {"ns": self._writing.namespace, "name": embedder.stored, "size": embedder.size, "state": state}
        made = self._writing.tx.run(CREATE_GENERATION, values).single(strict=True)
        generation = generation_of(made["generation"])
        assert generation is not None
        self._writing.tx.run(
            SET_BUILDING if state == "building" else SET_LIVE, ns=self._writing.namespace, space=generation.key
        ).consume()
        return generation

    def give_up(self, generation: Generation) -> None:
        """Makes one garbage that is being built."""
        self._writing.tx.run(SET_STATE, space=generation.key, state="garbage").consume()
        self._writing.tx.run(SET_BUILDING, ns=self._writing.namespace, space=None).consume()

    def publish(self, new: Generation, old: Generation | None) -> None:
        """Makes search read a new one; quality vectors whose passages are the same change hands."""
        if old is not None:
            self._take_over(old.key, new.key)
            self._writing.tx.run(SET_STATE, space=old.key, state="garbage").consume()
        self._writing.tx.run(SET_STATE, space=new.key, state="live").consume()
        self._writing.tx.run(FLIP, ns=self._writing.namespace).consume()

    def todo(self, generation: Generation) -> list[NodeId]:
        """What was written while it was being built, some of it at least."""
        return [record["id"] for record in self._writing.tx.run(TODO, space=generation.key, limit=TODO_SHOWN)]

    def note_todo(self, generation: Generation, owners: Iterable[NodeId]) -> None:
        """Notes what was written while it was being built."""
        self._writing.put(NOTE_TODO, list(owners), space=generation.key)

    def note_built(self, generation: Generation, built: NodeId | None, refreshed: Sequence[NodeId]) -> None:
        """Notes how far the builder has come, and what it has done of its todo."""
        self._writing.put(DONE_TODO, list(refreshed), space=generation.key)
        if built is not None:
            self._writing.tx.run(SET_BUILT, space=generation.key, built=built).consume()

    def silence(self, generation: Generation, owners: Sequence[NodeId]) -> None:
        """The passages of these owners, and of the calls of those that are messages, are found no longer."""
        calls = [record["id"] for record in self._writing.put(CALLS_OF, owners)]
        kill(self._writing, generation.key, [*owners, *calls])

    def remove(self, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
        """The passages that these owners had are found no longer; what this transaction made had none."""
        self._writing.know(passages)
        known = {owner: self._writing.known(owner) for owner in passages}
        old = [owner for owner, there in known.items() if there is None or not there.fresh]
        kill(self._writing, generation.key, old)

    def add_passages(self, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
        """Adds passages of owners that may be found to the tails of their partitions."""
        self._writing.know(passages)
        known = (self._writing.known(owner) for owner in passages)
        self._writing.know([there.message_id for there in known if there is not None and there.message_id is not None])
        self._add([p for owner, own in passages.items() if self._is_living(owner) for p in own], generation.key)

    def add_quality(self, generation: Generation, rows: Sequence[QualityVectors]) -> None:
        """Adds quality vectors of passages that live and have none, and counts in how many each word piece stands."""
        by_number = {int(row.passage): row for row in rows}
        added = self._writing.put(
            ADD_QUALITY,
            [
                {
                    "number": number,
                    "vector": to_int8(row.vector[None])[0].tobytes(),
                    "pieces": np.asarray(row.pieces, np.uint16).tobytes(),
                    "tokens": np.asarray(row.tokens, np.int8).tobytes(),
                }
                for number, row in by_number.items()
            ],
            space=generation.key,
        )
        self._place_quality(generation.key, [(r["number"], r["partition"]) for r in added])
        raw = [np.asarray(by_number[r["number"]].pieces, np.uint16).tobytes() for r in added]
        _count_pieces(self._writing, generation.key, raw, 1)

    def _is_living(self, owner: NodeId) -> bool:
        """Whether it is there and neither deleted nor erased; of a tool call its message too."""
        known = self._writing.known(owner)
        if known is None or known.deleted or known.erased or not known.findable:
            return False
        return known.message_id is None or self._is_living(known.message_id)

    def _add(self, passages: Sequence[Passage], space: int) -> None:
        if not passages:
            return
        writing = self._writing
        writing.know(i for p in passages for i in (p.message_id, p.previous_id, p.conversation_id) if i is not None)
        names = Counter(p.speaker for p in passages if p.speaker)
        counted = [
            {"key": key(name), "name": name, "number": number, "passages": names[name]}
            for name, number in zip(sorted(names), writing.numbers(len(names)), strict=True)
        ]
        speakers = {record["name"]: record["number"] for record in writing.put(COUNT_SPEAKERS, counted, space=space)}
        sessions = self._sessions(passages, space)
        places = writing.numbers(len(passages))
        messages = {i: self._number(i) for p in passages for i in (p.message_id, p.previous_id) if i is not None}
        columns = np.array(
            [
                column_values(
                    p, place, self._number(p.conversation_id), messages, sessions.get(p.message_id, 0), speakers
                )
                for p, place in zip(passages, places, strict=True)
            ],
            COLUMNS,
        )
        packed, _ = to_int8(np.stack([p.vector for p in passages]))
        rows = []
        tails: dict[int, list[TailRow]] = {}
        for i, (p, number) in enumerate(zip(passages, places, strict=True)):
            rows.append(
                {
                    "number": number,
                    "partition": int(p.partition),
                    "owner": int(p.owner),
                    "owner_id": p.owner_id,
                    "part": p.part,
                    "start": p.start,
                    "end": p.end,
                    "session": int(columns["session"][i]) or None,
                    "speaker": key(p.speaker) if p.speaker else None,
                    "words": p.words,
                    "scope": scope(space, p.partition),
                    "runs": to_int8(p.windows)[0].tobytes() if len(p.windows) else None,
                    "bare": number if p.partition == Partition.SAID else None,
                }
            )
            row = TailRow(number, columns[i].tobytes(), packed[i].tobytes(), dict(p.terms))
            tails.setdefault(int(p.partition), []).append(row)
        writing.put(ADD, rows, space=space)
        add_tail(writing, space, tails)
        for partition, own in tails.items():
            writing.partition(space, partition).last = own[-1].number

    def _number(self, id: NodeId | None) -> int:
        known = self._writing.known(id)
        return (known.number or 0) if known is not None else 0

    def _sessions(self, passages: Sequence[Passage], space: int) -> dict[NodeId | None, int]:
        """The number of the first message of each message's session."""
        own = {p.message_id for p in passages}
        before = {p.previous_id for p in passages if p.continues and p.previous_id and p.previous_id not in own}
        stored: dict[NodeId, tuple[int, int]] = {}
        for record in self._writing.put(SESSIONS, sorted(before), space=space):
            newest = stored.get(record["id"], (-1, 0))
            stored[record["id"]] = max(newest, (record["number"], record["session"]))
        ordered = sorted(passages, key=lambda p: p.partition)
        return sessions_of(ordered, self._number, lambda id_: stored.get(id_, (0, 0))[1])

    def _take_over(self, old: int, new: int) -> None:
        """The quality vectors of passages that are the same change hands: they depend on the text alone."""
        after = 0
        while found := list(self._writing.tx.run(TAKEN_OVER, old=old, space=new, after=after, limit=_TAKEN)):
            after = found[-1]["old"]
            same = [r for r in found if r["number"]]
            rows = [{"old": r["old"], "number": r["number"], "partition": r["partition"]} for r in same]
            self._writing.put(TAKE_OVER, rows, old=old, space=new)
            self._place_quality(new, [(r["number"], r["partition"]) for r in same])
            _count_pieces(self._writing, new, [r["pieces"] for r in same], 1)

    def _place_quality(self, space: int, rows: Sequence[tuple[int, int]]) -> None:
        """Gives quality vectors (number, partition) their places in the log."""
        placed = []
        for number, partition in rows:
            state = self._writing.partition(space, partition)
            state.quality += 1
            state.vectors += 1
            placed.append({"number": number, "place": state.quality})
        self._writing.put(PLACE_QUALITY, placed, space=space)


def kill(writing: Writing, space: int, owners: Sequence[NodeId], *, log: bool = True) -> list[Dead]:
    """The passages of these owners go, with words, runs and quality vectors. Their rows stay in tail and segments, and
    the deaths are logged, unless the caller takes the rows out as well.
    """
    found = writing.put(KILL, list(owners), space=space)
    if not found:
        return []
    dead = [Dead(r["number"], r["partition"], r["owner_id"]) for r in found]
    speakers = Counter(r["speaker"] for r in found if r["speaker"] is not None)
    left = [{"key": name, "passages": count} for name, count in sorted(speakers.items())]
    writing.put(LEAVE_SPEAKERS, left, space=space)
    gone = writing.put(REMOVE_QUALITY, [one.number for one in dead], space=space)
    for record in gone:
        writing.partition(space, record["partition"]).vectors -= 1
    _count_pieces(writing, space, [record["pieces"] for record in gone], -1)
    if log:
        rows = []
        for one in dead:
            state = writing.partition(space, one.partition)
            state.deaths += 1
            state.log += 1
            rows.append({**one._asdict(), "place": state.deaths})
        writing.put(ADD_DEATHS, rows, space=space)
    return dead


def _count_pieces(writing: Writing, space: int, pieces: Sequence[bytes], sign: int) -> None:
    """Counts passages in (1) or out (-1) whose word pieces these are."""
    if pieces:
        known = writing.tx.run(PIECES, space=space).single()
        counted = counted_pieces((known["passages"], known["counts"]) if known else None, pieces, sign)
        if counted is not None:
            writing.tx.run(PUT_PIECES, space=space, passages=counted[0], counts=counted[1]).consume()


# --- the tail of a partition: rows that are in no segment yet; those of a write are one node, or a few ----------------

ADD_TAIL = "UNWIND $rows AS r CREATE (t:Tail) SET t = r, t.space = $space"
TAIL = """
MATCH (t:Tail) WHERE t.space = $space AND t.partition = $partition AND t.last > $after
RETURN t.last AS last, t.columns AS columns, t.vectors AS vectors, t.terms AS terms
ORDER BY t.space, t.partition, t.last
"""
TAIL_HOLDING = """
UNWIND $rows AS number
MATCH (t:Tail) WHERE t.space = $space AND t.partition = $partition AND t.last >= number AND t.first <= number
RETURN DISTINCT t.last AS last, t.columns AS columns, t.vectors AS vectors, t.terms AS terms
"""
DROP_TAIL = "UNWIND $rows AS last MATCH (t:Tail {space: $space, partition: $partition, last: last}) DELETE t"

_ROWS = 1000  # a node


def add_tail(writing: Writing, space: int, tails: Mapping[int, Sequence[TailRow]]) -> None:
    """Adds rows to the tails of partitions, ascending by number."""
    nodes = []
    for partition, rows in tails.items():
        writing.partition(space, partition).tail_rows += len(rows)
        nodes += [
            {
                "partition": partition,
                "first": own[0].number,
                "last": own[-1].number,
                "size": len(own),
                "columns": b"".join(row.columns for row in own),
                "vectors": b"".join(row.vector for row in own),
                "terms": orjson.dumps([row.terms for row in own]),
            }
            for own in pieces(rows, _ROWS)
        ]
    writing.put(ADD_TAIL, nodes, space=space)


def rows_of_tail(node: Any, after: int = 0) -> list[TailRow]:
    """The rows of a node with higher numbers than this. Raises ValueError for what cannot be read."""
    columns = np.frombuffer(node["columns"], COLUMNS)
    vectors = np.frombuffer(node["vectors"], np.int8).reshape(len(columns), -1)
    terms = orjson.loads(node["terms"])
    if not len(columns) or len(terms) != len(columns) or columns["number"][-1] != node["last"]:
        raise ValueError("not as it was written")
    return [
        TailRow(int(columns["number"][i]), columns[i].tobytes(), vectors[i].tobytes(), terms[i])
        for i in range(len(columns))
        if columns["number"][i] > after
    ]


def take_tail(writing: Writing, space: int, partition: int, count: int) -> list[TailRow]:
    """Takes the oldest rows out of the tail, so many at most."""
    taken: list[TailRow] = []
    emptied: list[int] = []
    for node in writing.tx.run(TAIL, space=space, partition=partition, after=0):
        taken += rows_of_tail(node)
        emptied.append(node["last"])
        if len(taken) >= count:
            break
    _drop_tail(writing, space, partition, emptied, len(taken))
    add_tail(writing, space, {partition: taken[count:]})
    return taken[:count]


def remove_from_tail(writing: Writing, space: int, partition: int, numbers: Iterable[int]) -> None:
    """Takes these rows out of the tail; others are left alone."""
    gone = frozenset(numbers)
    found = writing.put(TAIL_HOLDING, sorted(gone), space=space, partition=partition)
    rows_by_last = {node["last"]: rows_of_tail(node) for node in found}
    _drop_tail(writing, space, partition, sorted(rows_by_last), sum(map(len, rows_by_last.values())))
    for own in rows_by_last.values():
        add_tail(writing, space, {partition: [row for row in own if row.number not in gone]})


def tail_rows(nodes: Iterable[Any], after: int) -> Iterator[TailRow]:
    """The rows of nodes with higher numbers than this, ascending. Raises ValueError for what cannot be read."""
    for node in nodes:
        yield from rows_of_tail(node, after)


def _drop_tail(writing: Writing, space: int, partition: int, lasts: Sequence[int], count: int) -> None:
    writing.partition(space, partition).tail_rows -= count
    writing.put(DROP_TAIL, lasts, space=space, partition=partition)
