"""The tail of a partition: rows that are in no segment yet. Those of a write are one node, or a few, not one each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from recollect.engines.neo4j.writing import Writing, pieces
from recollect.index.source import COLUMNS, TailRow

ADD = "UNWIND $rows AS r CREATE (t:Tail) SET t = r, t.space = $space"
TAIL = """
MATCH (t:Tail) WHERE t.space = $space AND t.partition = $partition AND t.last > $after
RETURN t.last AS last, t.columns AS columns, t.vectors AS vectors, t.terms AS terms
ORDER BY t.space, t.partition, t.last
"""
HOLDING = """
UNWIND $rows AS number
MATCH (t:Tail) WHERE t.space = $space AND t.partition = $partition AND t.last >= number AND t.first <= number
RETURN DISTINCT t.last AS last, t.columns AS columns, t.vectors AS vectors, t.terms AS terms
"""
DROP = "UNWIND $rows AS last MATCH (t:Tail {space: $space, partition: $partition, last: last}) DELETE t"

_ROWS = 1000  # a node


def add(writing: Writing, space: int, tails: Mapping[int, Sequence[TailRow]]) -> None:
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
    writing.put(ADD, nodes, space=space)


def rows_of(node: Any, after: int = 0) -> list[TailRow]:
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


def take(writing: Writing, space: int, partition: int, count: int) -> list[TailRow]:
    """Takes the oldest rows out of the tail, so many at most."""
    taken: list[TailRow] = []
    emptied: list[int] = []
    for node in writing.tx.run(TAIL, space=space, partition=partition, after=0):
        taken += rows_of(node)
        emptied.append(node["last"])
        if len(taken) >= count:
            break
    _drop(writing, space, partition, emptied, len(taken))
    add(writing, space, {partition: taken[count:]})
    return taken[:count]


def remove(writing: Writing, space: int, partition: int, numbers: Iterable[int]) -> None:
    """Takes these rows out of the tail; others are left alone."""
    gone = frozenset(numbers)
    found = writing.put(HOLDING, sorted(gone), space=space, partition=partition)
    rows_by_last = {node["last"]: rows_of(node) for node in found}
    _drop(writing, space, partition, sorted(rows_by_last), sum(map(len, rows_by_last.values())))
    for own in rows_by_last.values():
        add(writing, space, {partition: [row for row in own if row.number not in gone]})


def rows(nodes: Iterable[Any], after: int) -> Iterator[TailRow]:
    """The rows of nodes with higher numbers than this, ascending. Raises ValueError for what cannot be read."""
    for node in nodes:
        yield from rows_of(node, after)


def _drop(writing: Writing, space: int, partition: int, lasts: Sequence[int], count: int) -> None:
    writing.partition(space, partition).tail_rows -= count
    writing.put(DROP, lasts, space=space, partition=partition)
