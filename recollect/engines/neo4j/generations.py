"""Generations of the search index: one is read, one may be built beside it, and what was given up is swept away.

Everything of a generation carries its `space`. Publishing turns one pointer, on the namespace; what loses it stays
known by its `Generation` node until `maintain` has swept the last of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from recollect.engines.neo4j import quality
from recollect.engines.neo4j.writing import Generation, Writing
from recollect.errors import StoreError
from recollect.record import NodeId
from recollect.store.change import Stale
from recollect.store.passages import EmbedderId

CREATE = """
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
NOTE = "UNWIND $rows AS id MERGE (:Todo {space: $space, owner_id: id})"
REFRESHED = "UNWIND $rows AS id MATCH (t:Todo {space: $space, owner_id: id}) DELETE t"
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


def create(writing: Writing, embedder: EmbedderId, *, building: bool = False) -> Generation:
    """A new generation, read by search at once or built beside."""
    made = writing.tx.run(
        CREATE,
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


def note(writing: Writing, building: Generation, owners: Sequence[NodeId]) -> None:
    """Notes that these owners were written while the generation was being built."""
    writing.put(NOTE, list(owners), space=building.space)


def advance(writing: Writing, building: Generation, built: NodeId | None, refreshed: Sequence[NodeId]) -> None:
    """Keeps how far the builder has come, and what it has done again."""
    writing.put(REFRESHED, list(refreshed), space=building.space)
    if built is not None:
        writing.tx.run(SET_BUILT, space=building.space, built=built).consume()


def take(writing: Writing, step: Step, embedder: EmbedderId | None, number: int | None = None) -> int:
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
    return create(writing, embedder, building=True)


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
        quality.place(writing, new.space, [(row["number"], row["partition"]) for row in rows])
        pieces = [np.frombuffer(r["pieces"], np.uint16) for r in found if r["number"]]
        quality.count_pieces(writing, new.space, pieces, 1)
