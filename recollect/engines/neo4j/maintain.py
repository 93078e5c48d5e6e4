"""Upkeep in short transactions: sealing tails into segments, writing segments anew without the dead, sweeping.

A user's write does none of it. Each step looks first for what there is to do, so that it goes on wherever another
process, or a kill, has left off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, LiteralString

import neo4j

from recollect.engines.neo4j import tail
from recollect.engines.neo4j.schema import verify
from recollect.engines.neo4j.writing import Generation, Writing
from recollect.index.source import SEGMENT_ROWS, SETTLED_ROWS, SegmentMark, seal, without
from recollect.record import Namespace

# Whether there may be anything to do: asked without the lock, and without writing.
DUE = """
MATCH (s:Schema {name: 'recollect'}) MATCH (n:Namespace {name: $ns})
RETURN s.version AS version,
    EXISTS { MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 AND g.state = 'garbage' }
    OR EXISTS { MATCH (x:Partition) WHERE x.space IN [n.live, n.building] AND x.partition IS NOT NULL
      AND (x.tail_rows >= $settled OR x.log >= $deaths) } AS due
"""
ADD_SEGMENT = """
CREATE (:IndexSegment {space: $space, partition: $partition, first: $first, last: $last, size: $size,
    checksum: $checksum, data: $data})
"""
DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.partition = $partition AND d.place > 0
RETURN d.number AS number
"""
CLEAR_DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.partition = $partition AND d.place > 0
  AND any(run IN $rows WHERE run[0] <= d.number <= run[1])
DELETE d RETURN count(*) AS gone
"""
HOLDING = """
UNWIND $rows AS number
MATCH (s:IndexSegment) WHERE s.space = $space AND s.partition = $partition AND s.first <= number AND s.last >= number
RETURN s.first AS first, collect(number) AS numbers ORDER BY first
"""
SEGMENT = """
MATCH (s:IndexSegment {space: $space, partition: $partition, first: $first})
RETURN s.last AS last, s.size AS size, s.data AS data
"""
DROP_SEGMENT = "MATCH (s:IndexSegment {space: $space, partition: $partition, first: $first}) DELETE s"
GARBAGE = """
MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 AND g.state = 'garbage'
RETURN g.space AS space ORDER BY space LIMIT 1
"""
SWEEP_PASSAGES = """
MATCH (p:Passage) WHERE p.space = $space AND p.number > 0 WITH p LIMIT $limit DELETE p RETURN count(*) AS gone
"""
SWEEP_QUALITY = """
MATCH (q:Quality) WHERE q.space = $space AND q.number > 0 WITH q LIMIT $limit DELETE q RETURN count(*) AS gone
"""
SWEEP_DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.owner_id IS NOT NULL WITH d LIMIT $limit DELETE d RETURN count(*) AS gone
"""
SWEEP_TODO = """
MATCH (t:Todo) WHERE t.space = $space AND t.owner_id IS NOT NULL WITH t LIMIT $limit DELETE t RETURN count(*) AS gone
"""
SWEEP_SPEAKERS = """
MATCH (s:Speaker) WHERE s.space = $space AND s.key IS NOT NULL WITH s LIMIT $limit DELETE s RETURN count(*) AS gone
"""
SWEEP_SEGMENTS = """
MATCH (s:IndexSegment) WHERE s.space = $space AND s.partition IS NOT NULL AND s.first IS NOT NULL
WITH s LIMIT 20 DELETE s RETURN count(*) AS gone
"""
SWEEP_TAILS = """
MATCH (t:Tail) WHERE t.space = $space AND t.partition IS NOT NULL AND t.last IS NOT NULL
WITH t LIMIT 20 DELETE t RETURN count(*) AS gone
"""
SWEEP_PIECES = "MATCH (k:PieceCount {space: $space}) DELETE k RETURN count(*) AS gone"
SWEEP_PARTITIONS = """
MATCH (x:Partition) WHERE x.space = $space AND x.partition IS NOT NULL DELETE x RETURN count(*) AS gone
"""
SWEEP_GENERATION = "MATCH (g:Generation {space: $space}) DELETE g"

#: In the order in which they go; the generation's own node is the last, so that what is left is always known.
SWEEPS: tuple[LiteralString, ...] = (
    SWEEP_SEGMENTS, SWEEP_TAILS, SWEEP_PASSAGES, SWEEP_QUALITY, SWEEP_DEATHS, SWEEP_TODO, SWEEP_SPEAKERS, SWEEP_PIECES,
    SWEEP_PARTITIONS,
)  # fmt: skip

_SWEPT = 2000  # nodes a transaction
_REWRITTEN = 8  # segments a transaction
_FEW_DEATHS = 1000  # a log of so many deaths is no burden


# A namespace that is dropped: its tasks first, so that no worker finishes one; what is left stays known by its node.
GIVE_UP = """
MATCH (n:Namespace {name: $ns}) SET n.live = NULL, n.building = NULL
WITH n MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 SET g.state = 'garbage'
"""
DROPS: tuple[LiteralString, ...] = (
    """
    MATCH (t:Task) WHERE t.namespace = $ns AND t.id IS NOT NULL WITH t LIMIT $limit DELETE t RETURN count(*) AS gone
    """,
    """
    MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id IS NOT NULL WITH e LIMIT $limit DELETE e
    RETURN count(*) AS gone
    """,
    """
    MATCH (x:Node) WHERE x.namespace = $ns AND x.id IS NOT NULL WITH x LIMIT $limit DETACH DELETE x
    RETURN count(*) AS gone
    """,
)
DROP_NAME = "MATCH (n:Namespace {name: $ns}) DELETE n"


def drop(writing: Writing) -> bool:
    """Removes a piece of a namespace that is dropped, at last its name; False where that is gone."""
    writing.tx.run(GIVE_UP, ns=writing.namespace).consume()
    if _sweep(writing):
        return True
    for statement in DROPS:
        if writing.tx.run(statement, ns=writing.namespace, limit=_SWEPT).single(strict=True)["gone"]:
            return True
    writing.tx.run(DROP_NAME, ns=writing.namespace).consume()
    return False


def is_due(tx: neo4j.ManagedTransaction, ns: Namespace, location: str) -> bool:
    """Whether `step` may find something to do. Raises StoreError for a newer store."""
    found = tx.run(DUE, ns=ns, settled=SETTLED_ROWS, deaths=_FEW_DEATHS).single()
    if found is None:
        return False
    verify(found["version"], location)
    return bool(found["due"])


def step(writing: Writing) -> bool:
    """Does one thing; False where there is nothing to do."""
    return _seal(writing) or _compact(writing) or _sweep(writing)


def segments_without(
    writing: Writing, space: int, partition: int, numbers: Iterable[int], most: int | None = None
) -> list[tuple[int, int]]:
    """Writes the segments that hold these passages anew without them; returns the runs of numbers they stood for.

    What is loaded elsewhere is void by that: the epoch is raised.
    """
    wanted = sorted(set(numbers))
    by_first: dict[int, list[int]] = {}
    for record in writing.put(HOLDING, wanted, space=space, partition=partition):
        by_first.setdefault(record["first"], []).extend(record["numbers"])
    runs = []
    for first in sorted(by_first)[:most]:
        where = {"space": space, "partition": partition, "first": first}
        found = writing.tx.run(SEGMENT, where).single(strict=True)
        runs.append((first, found["last"]))
        writing.tx.run(DROP_SEGMENT, where).consume()
        writing.partition(space, partition).segment_rows -= found["size"]
        left = without(found["data"], by_first[first], f"{first} of partition {partition}")
        if left is not None:
            _add_segment(writing, space, partition, *left)
    if runs:
        writing.partition(space, partition).epoch += 1
    return runs


def _in_use(writing: Writing) -> Iterator[Generation]:
    for generation in (writing.live, writing.building):
        if generation is not None:
            yield generation


def _seal(writing: Writing) -> bool:
    """The oldest rows of a tail that is long enough become a segment, but for those that have died."""
    for generation in _in_use(writing):
        for partition, state in writing.partitions(generation.space).items():
            if state.tail_rows < SETTLED_ROWS:
                continue
            where: dict[str, Any] = {"space": generation.space, "partition": partition}
            dead = {r["number"] for r in writing.tx.run(DEATHS, where)} if state.log else set()
            rows = tail.take(writing, generation.space, partition, SEGMENT_ROWS)
            living = [row for row in rows if row.number not in dead]
            if living:
                _add_segment(writing, generation.space, partition, *seal(living))
            state.sealed = rows[-1].number
            return True
    return False


def _add_segment(writing: Writing, space: int, partition: int, mark: SegmentMark, data: bytes) -> None:
    first, last, size, checksum = mark
    writing.partition(space, partition).segment_rows += size
    writing.tx.run(
        ADD_SEGMENT, space=space, partition=partition, first=first, last=last, size=size, checksum=checksum, data=data
    ).consume()


def _compact(writing: Writing) -> bool:
    """Where many rows have died, segments are written anew without them, and the log of these deaths is emptied."""
    for generation in _in_use(writing):
        for partition, state in writing.partitions(generation.space).items():
            if state.log < _FEW_DEATHS:
                continue
            where: dict[str, Any] = {"space": generation.space, "partition": partition}
            dead = [r["number"] for r in writing.tx.run(DEATHS, **where) if r["number"] <= state.sealed]
            if len(dead) < _FEW_DEATHS:
                continue
            runs = segments_without(writing, generation.space, partition, dead, _REWRITTEN)
            if not runs:  # what died was dropped when it was sealed
                state.epoch += 1
            cleared = [list(run) for run in runs] or [[0, state.sealed]]
            state.log -= writing.tx.run(CLEAR_DEATHS, **where, rows=cleared).single(strict=True)["gone"]
            return True
    return False


def _sweep(writing: Writing) -> bool:
    """A piece of a generation that was given up goes."""
    found = writing.tx.run(GARBAGE, ns=writing.namespace).single()
    if found is None:
        return False
    for statement in SWEEPS:
        if writing.tx.run(statement, space=found["space"], limit=_SWEPT).single(strict=True)["gone"]:
            return True
    writing.tx.run(SWEEP_GENERATION, space=found["space"]).consume()
    return True
