"""Quality vectors of passages, their tokens, and in how many passages each word piece stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import orjson

from recollect.engines.neo4j.put import key
from recollect.engines.neo4j.writing import Generation, Writing, pieces
from recollect.errors import StoreError
from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, TailRow, column_values
from recollect.record import NodeId
from recollect.store.change import IndexChange, Stale, WrongEmbedder
from recollect.store.passages import EmbedderId, Partition, Passage, QualityVectors

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

_PIECES = 1 << 16


def add_quality(writing: Writing, generation: Generation, rows: Sequence[QualityVectors]) -> None:
    """Adds quality vectors of passages that live and have none, and counts in how many each word piece stands."""
    by_number = {int(row.passage): row for row in rows}
    added = writing.put(
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
        space=generation.space,
    )
    place_quality(writing, generation.space, [(r["number"], r["partition"]) for r in added])
    count_pieces(writing, generation.space, [by_number[r["number"]].pieces for r in added], 1)


def place_quality(writing: Writing, space: int, rows: Sequence[tuple[int, int]]) -> None:
    """Gives quality vectors (number, partition) their places in the log."""
    placed = []
    for number, partition in rows:
        state = writing.partition(space, partition)
        state.quality += 1
        state.vectors += 1
        placed.append({"number": number, "place": state.quality})
    writing.put(PLACE_QUALITY, placed, space=space)


def count_pieces(writing: Writing, space: int, pieces: Sequence[Any], sign: int) -> None:
    """Counts passages in (1) or out (-1) whose word pieces these are."""
    if not pieces:
        return
    known = writing.tx.run(PIECES, space=space).single()
    passages = known["passages"] if known else 0
    counts = np.frombuffer(known["counts"], np.uint32).astype(np.int64) if known else np.zeros(_PIECES, np.int64)
    for own in pieces:
        counts[np.unique(own)] += sign
    passages += sign * len(pieces)
    packed = counts.astype(np.uint32).tobytes()
    writing.tx.run(PUT_PIECES, space=space, passages=passages, counts=packed).consume()


def remove_quality(writing: Writing, space: int, numbers: Sequence[int]) -> None:
    """Removes the vectors of passages that die."""
    found = writing.put(REMOVE_QUALITY, numbers, space=space)
    for record in found:
        writing.partition(space, record["partition"]).vectors -= 1
    count_pieces(writing, space, [np.frombuffer(record["pieces"], np.uint16) for record in found], -1)


# Generations of the search index: one is read, one may be built beside it, and what was given up is swept away.

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

Step = Literal["begin", "publish", "drop"]
TODO_SHOWN = 1000
_TAKEN = 2000


def create_generation(writing: Writing, embedder: EmbedderId, *, building: bool = False) -> Generation:
    """A new generation, read by search at once or built beside."""
    made = writing.tx.run(
        CREATE_GENERATION,
        ns=writing.namespace,
        name=embedder.stored,
        size=embedder.size,
        state="building" if building else "live",
    ).single(strict=True)
    generation = Generation.of(made["generation"])
    assert generation is not None
    statement = SET_BUILDING if building else SET_LIVE
    writing.tx.run(statement, ns=writing.namespace, space=generation.space).consume()
    if building:
        writing.building = generation
    else:
        writing.live = generation
    return generation


def note_todo(writing: Writing, building: Generation, owners: Sequence[NodeId]) -> None:
    """Notes that these owners were written while the generation was being built."""
    writing.put(NOTE_TODO, list(owners), space=building.space)


def note_built(writing: Writing, building: Generation, built: NodeId | None, refreshed: Sequence[NodeId]) -> None:
    """Keeps how far the builder has come, and what it has done again."""
    writing.put(DONE_TODO, list(refreshed), space=building.space)
    if built is not None:
        writing.tx.run(SET_BUILT, space=building.space, built=built).consume()


def take_step(writing: Writing, step: Step, embedder: EmbedderId | None, number: int | None = None) -> int:
    """Begins, publishes or drops a generation; returns its number, 0 for none to drop. With a `number` only that one is
    published. Raises Stale, StoreError.
    """
    building = writing.building
    if step == "begin":
        return _begin(writing, embedder).number
    if step == "drop":
        if building is not None:
            _give_up(writing, building)
        return building.number if building is not None else 0
    if building is None or embedder not in (None, building.embedder) or number not in (None, building.number):
        raise StoreError("No search index is being built.", hint="Start with: recollect reindex")
    todo = [record["id"] for record in writing.tx.run(TODO, space=building.space, limit=TODO_SHOWN)]
    if todo:
        raise Stale(todo)
    old = writing.live
    if old is not None:
        _take_over(writing, old, building)
        writing.tx.run(SET_STATE, space=old.space, state="garbage").consume()
    writing.tx.run(SET_STATE, space=building.space, state="live").consume()
    writing.tx.run(FLIP, ns=writing.namespace).consume()
    return building.number


def _begin(writing: Writing, embedder: EmbedderId | None) -> Generation:
    embedder = embedder or (writing.live.embedder if writing.live else None)
    if embedder is None:
        raise StoreError("A search index needs an embedder.")
    if writing.building is not None:
        if writing.building.embedder == embedder and not writing.building.embedder.is_outdated:
            return writing.building
        _give_up(writing, writing.building)
    return create_generation(writing, embedder, building=True)


def _give_up(writing: Writing, building: Generation) -> None:
    writing.tx.run(SET_STATE, space=building.space, state="garbage").consume()
    writing.tx.run(SET_BUILDING, ns=writing.namespace, space=None).consume()
    writing.building = None


def _take_over(writing: Writing, old: Generation, new: Generation) -> None:
    """The quality vectors of passages that are the same change hands: they depend on the text alone."""
    after = 0
    while True:
        found = list(writing.tx.run(TAKEN_OVER, old=old.space, space=new.space, after=after, limit=_TAKEN))
        if not found:
            return
        after = found[-1]["old"]
        rows = [{"old": r["old"], "number": r["number"], "partition": r["partition"]} for r in found if r["number"]]
        writing.put(TAKE_OVER, rows, old=old.space, space=new.space)
        place_quality(writing, new.space, [(row["number"], row["partition"]) for row in rows])
        pieces = [np.frombuffer(r["pieces"], np.uint16) for r in found if r["number"]]
        count_pieces(writing, new.space, pieces, 1)


# The tail of a partition: rows that are in no segment yet. Those of a write are one node, or a few, not one
# each.

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


# Writing what is derived for search: the passages of owners, and their deaths.

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
ADD_DEATHS = "UNWIND $rows AS r CREATE (d:Death) SET d = r, d.space = $space"


def scope(space: int, partition: int) -> str:
    """The one word that keeps full-text queries within a generation and partition."""
    return f"s{space}p{partition}"


@dataclass(frozen=True, slots=True)
class Dead:
    """A passage that is no more."""

    number: int
    partition: int
    owner_id: NodeId


def apply(
    writing: Writing, change: IndexChange | None, silenced: Iterable[NodeId], retired: Iterable[NodeId] = ()
) -> None:
    """Makes findable what a change says. The passages of the `silenced` go first, in every generation in use, and those
    of the `retired`; whoever builds a generation looks at these again.

    Raises WrongEmbedder, StoreError for a generation that is gone.
    """
    resting = list(retired)
    gone = [*silenced, *resting]
    for generation in (writing.live, writing.building):
        if generation is not None and gone:
            kill(writing, generation, gone)
    if writing.building is not None and resting:
        note_todo(writing, writing.building, resting)
    if change is None:
        return
    chosen = _generation(writing, change)
    building = writing.building
    if building is not None and building is not chosen and change.passages:
        kill(writing, building, list(change.passages))
        note_todo(writing, building, list(change.passages))
    if chosen is None:
        return
    _replace(writing, chosen, change.passages)
    add_quality(writing, chosen, change.quality)
    if chosen is building:
        note_built(writing, chosen, change.built, change.refreshed)


def _generation(writing: Writing, change: IndexChange) -> Generation | None:
    """The generation that is meant; the first vectors of a namespace make one."""
    chosen = writing.live if change.generation is None else writing.building
    if change.generation is not None and (chosen is None or chosen.number != change.generation):
        raise StoreError(
            f"Generation {change.generation} of the search index is no longer being built.",
            hint="Start again: recollect reindex",
        )
    wanted = any(change.passages.values())
    if wanted and change.embedder is None:
        raise WrongEmbedder("These vectors do not say which embedder made them.")
    if chosen is None:
        return create_generation(writing, change.embedder) if wanted and change.embedder else None
    if change.embedder is not None and change.embedder != chosen.embedder:
        raise WrongEmbedder(
            f"The vectors of {writing.namespace} were made by {chosen.embedder}, not by {change.embedder}.",
            hint=f"Open it with {chosen.embedder.name}, or rebuild the search index: recollect reindex",
        )
    for p in (p for own in change.passages.values() for p in own):
        if len(p.vector) != chosen.embedder.size:
            raise WrongEmbedder(f"A vector of {len(p.vector)} numbers was given for {chosen.embedder}.")
    return chosen


def _replace(writing: Writing, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
    """The passages of these owners are those now. What is deleted, erased or not there gets none."""
    writing.know(passages)
    calls = (writing.known(owner) for owner in passages)
    writing.know([known.message_id for known in calls if known is not None and known.message_id is not None])
    kill(writing, generation, [owner for owner in passages if not _is_fresh(writing, owner)])
    add(writing, generation, [p for owner, own in passages.items() if _is_living(writing, owner) for p in own])


def _is_fresh(writing: Writing, owner: NodeId) -> bool:
    known = writing.known(owner)
    return known is not None and known.fresh


def _is_living(writing: Writing, owner: NodeId) -> bool:
    """Whether it is there and neither deleted nor erased; of a tool call its message too."""
    known = writing.known(owner)
    if known is None or known.deleted or known.erased or not known.findable:
        return False
    return known.message_id is None or _is_living(writing, known.message_id)


def kill(writing: Writing, generation: Generation, owners: Sequence[NodeId], *, log: bool = True) -> list[Dead]:
    """The passages of these owners go, with words, runs and quality vectors. Their rows stay in tail and segments, and
    the deaths are logged, unless the caller takes the rows out as well.
    """
    space = generation.space
    found = writing.put(KILL, list(owners), space=space)
    if not found:
        return []
    dead = [Dead(r["number"], r["partition"], r["owner_id"]) for r in found]
    speakers = Counter(r["speaker"] for r in found if r["speaker"] is not None)
    left = [{"key": name, "passages": count} for name, count in sorted(speakers.items())]
    writing.put(LEAVE_SPEAKERS, left, space=space)
    remove_quality(writing, space, [one.number for one in dead])
    if log:
        rows = []
        for one in dead:
            state = writing.partition(space, one.partition)
            state.deaths += 1
            state.log += 1
            rows.append(
                {"partition": one.partition, "place": state.deaths, "number": one.number, "owner_id": one.owner_id}
            )
        writing.put(ADD_DEATHS, rows, space=space)
    return dead


def add(writing: Writing, generation: Generation, passages: Sequence[Passage]) -> None:
    """Adds passages to the tails of their partitions."""
    if not passages:
        return
    space = generation.space
    writing.know(i for p in passages for i in (p.message_id, p.previous_id, p.conversation_id) if i is not None)
    speakers = _speakers(writing, space, passages)
    sessions = _sessions(writing, space, passages)
    places = writing.numbers(len(passages))
    messages = {i: _number(writing, i) for p in passages for i in (p.message_id, p.previous_id) if i is not None}
    columns = np.array(
        [
            column_values(
                p, place, _number(writing, p.conversation_id), messages, sessions.get(p.message_id, 0), speakers
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


def _number(writing: Writing, id: NodeId | None) -> int:
    known = writing.known(id)
    return (known.number or 0) if known is not None else 0


def _sessions(writing: Writing, space: int, passages: Sequence[Passage]) -> dict[NodeId | None, int]:
    """The number of the first message of each message's session."""
    own = {p.message_id for p in passages}
    before = {p.previous_id for p in passages if p.continues and p.previous_id and p.previous_id not in own}
    stored: dict[NodeId, tuple[int, int]] = {}
    for record in writing.put(SESSIONS, sorted(before), space=space):
        newest = stored.get(record["id"], (-1, 0))
        stored[record["id"]] = max(newest, (record["number"], record["session"]))
    known: dict[NodeId | None, int] = {}
    for p in sorted(passages, key=lambda p: p.partition):
        if p.message_id is None or p.message_id in known:
            continue
        session = 0
        if p.continues and p.previous_id is not None:
            session = known.get(p.previous_id) or stored.get(p.previous_id, (0, 0))[1]
        known[p.message_id] = session or _number(writing, p.message_id)
    return known


def _speakers(writing: Writing, space: int, passages: Sequence[Passage]) -> dict[str, int]:
    """The numbers of those who speak; how many passages each has is counted."""
    names = Counter(p.speaker for p in passages if p.speaker)
    numbers = writing.numbers(len(names))
    rows = [
        {"key": key(name), "name": name, "number": number, "passages": names[name]}
        for name, number in zip(sorted(names), numbers, strict=True)
    ]
    return {record["name"]: record["number"] for record in writing.put(COUNT_SPEAKERS, rows, space=space)}
