"""Writing what is derived for search: passages, their places in the indexes, and segments of what has gathered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, LiteralString

import numpy as np

from recollect.record import NodeId
from recollect.store.columns import COLUMNS, SEGMENT_ROWS, SETTLED_ROWS, column_values
from recollect.store.neo4j import search_queries
from recollect.store.neo4j.records import key
from recollect.store.neo4j.schema import vector_key
from recollect.store.neo4j.segments import joined, seal
from recollect.store.neo4j.write import Writing
from recollect.store.passages import Lane, Owner, Passage, QualityVectors
from recollect.store.quantize import to_int8

_LINKS: Mapping[Owner, LiteralString] = {
    Owner.MESSAGE: search_queries.LINK_TO_MESSAGES,
    Owner.TOOL_CALL: search_queries.LINK_TO_TOOL_CALLS,
    Owner.DOCUMENT: search_queries.LINK_TO_DOCUMENTS,
    Owner.CONVERSATION: search_queries.LINK_TO_CONVERSATIONS,
}
# A passage's number tells space, row and lane, so that it is unique in the store and ascends with the row.
_SPACE, _ROW = 34, 2


def scope(space: int, lane: int) -> str:
    """The one word that keeps full-text queries within a namespace and lane."""
    return f"n{space}l{lane}"


def passage_number(space: int, lane: int, row: int) -> int:
    """The number of the passage at a row."""
    return space << _SPACE | row << _ROW | lane


def add_passages(writing: Writing, passages: Sequence[Passage]) -> None:
    """Adds passages to the ends of their lanes, and seals what has gathered."""
    if not passages:
        return
    numbers, conversations = _message_numbers(writing, passages)
    speakers = _speaker_numbers(writing, passages)
    sittings = _sittings(writing, passages, numbers)
    for lane, group in groupby(sorted(passages, key=lambda p: p.lane), key=lambda p: p.lane):
        own = list(group)
        first = writing.rows[lane]
        writing.rows[lane] += len(own)
        places = [passage_number(writing.space, lane, first + i) for i in range(len(own))]
        sitting_of = [sittings.get(p.message_id, 0) if p.message_id else 0 for p in own]
        values = [
            column_values(p, place, _conversation(p, conversations), numbers, sitting, speakers)
            for p, place, sitting in zip(own, places, sitting_of, strict=True)
        ]
        columns = np.array(values, COLUMNS)
        _add(writing, lane, own, columns)
        while writing.rows[lane] - writing.sealed[lane] >= SEGMENT_ROWS:
            _seal(writing, lane)


def settle(writing: Writing) -> None:
    """Seals tails that are long enough to be worth it."""
    for lane in Lane:
        if writing.rows[lane] - writing.sealed[lane] >= SETTLED_ROWS:
            _seal(writing, lane)


def kill_passages(writing: Writing, owners: Iterable[NodeId]) -> None:
    """The passages of these owners are found no longer; words, vectors and quality vectors are removed."""
    killed = [r["number"] for r in writing.put(search_queries.KILL, list(dict.fromkeys(owners)), "ids")]
    writing.put(search_queries.UNLINK_KILLED, killed, "numbers")
    writing.put(search_queries.KILL_QUALITY, killed, "numbers")
    writing.changed += bool(killed)


def add_quality(writing: Writing, rows: Sequence[QualityVectors]) -> None:
    """Adds quality vectors, and counts in how many passages each word piece stands."""
    by_number = {int(row.passage): row for row in rows}
    known = writing.tx.run(search_queries.PIECES, space=writing.space).single()
    passages = known["passages"] if known else 0
    counts = np.frombuffer(known["counts"], np.uint32).copy() if known else np.zeros(1 << 16, np.uint32)
    added = writing.put(
        search_queries.ADD_QUALITY,
        [
            {
                "number": number,
                "vector": to_int8(row.vector[None])[0].tobytes(),
                "pieces": row.pieces.tobytes(),
                "tokens": row.tokens.tobytes(),
            }
            for number, row in by_number.items()
        ],
    )
    for record in added:
        counts[np.unique(by_number[record["number"]].pieces)] += 1
    writing.tx.run(
        search_queries.PUT_PIECES, space=writing.space, passages=passages + len(added), counts=counts.tobytes()
    ).consume()
    writing.changed += 1


def _add(writing: Writing, lane: Lane, passages: Sequence[Passage], columns: np.ndarray[Any, Any]) -> None:
    packed, _ = to_int8(np.stack([p.vector for p in passages]))
    first = writing.rows[lane] - len(passages)
    whole = vector_key(lane, packed.shape[1])
    vectors = _vectors(passages)
    rows = []
    for i, p in enumerate(passages):
        rows.append(
            {
                "namespace": writing.namespace,
                "space": writing.space,
                "lane": int(lane),
                "row": first + i,
                "number": int(columns["num"][i]),
                "owner": int(p.owner),
                "owner_id": p.owner_id,
                "part": p.part,
                "start": p.start,
                "end": p.end,
                "sitting": int(columns["sitting"][i]),
                "columns": columns[i].tobytes(),
                "packed": packed[i].tobytes(),
                "terms": joined(p.terms),
                "words": p.words,
                "scope": scope(writing.space, lane),
                "windows": to_int8(p.windows)[0].tobytes() if len(p.windows) else None,
                "todo": first + i if lane == Lane.SAID else None,
                whole: vectors[i],
            }
        )
    writing.put(search_queries.ADD_PASSAGES, rows)
    for owner, statement in _LINKS.items():
        own = [row for row in rows if row["owner"] == owner]
        writing.put(statement, [{"number": row["number"], "owner_id": row["owner_id"]} for row in own])


def _vectors(passages: Sequence[Passage]) -> list[list[float] | None]:
    """Only vectors that can be compared: one of zeros or with a gap would make queries over it fail."""
    return [p.vector.tolist() if np.isfinite(p.vector).all() and p.vector.any() else None for p in passages]


def _seal(writing: Writing, lane: int) -> None:
    first = writing.sealed[lane]
    until = min(first + SEGMENT_ROWS, writing.rows[lane])
    found = list(writing.tx.run(search_queries.TAIL, space=writing.space, lane=lane, first=first, until=until))
    writing.tx.run(search_queries.ADD_SEGMENT, segment=seal(writing.space, lane, found)).consume()
    writing.sealed[lane] = until


def _message_numbers(writing: Writing, passages: Sequence[Passage]) -> tuple[dict[NodeId, int], dict[NodeId, int]]:
    """The numbers of the messages that passages name, and of the conversations, by message and by conversation."""
    wanted = dict.fromkeys(i for p in passages for i in (p.message_id, p.previous_id) if i is not None)
    numbers = {i: writing.fresh[i][0] for i in wanted if i in writing.fresh}
    conversations = {i: writing.fresh[i][1] for i in numbers} | writing.conversations
    for record in writing.put(search_queries.FIND_MESSAGES, [i for i in wanted if i not in numbers], "ids"):
        numbers[record["id"]] = record["number"]
        conversations[record["id"]] = record["conversation"]
    others = {p.conversation_id for p in passages if p.conversation_id and p.message_id not in numbers}
    for record in writing.put(search_queries.FIND_CONVERSATIONS, sorted(others - conversations.keys()), "ids"):
        conversations[record["id"]] = record["number"]
    return numbers, conversations


def _conversation(p: Passage, conversations: Mapping[NodeId, int]) -> int:
    if p.message_id and p.message_id in conversations:
        return conversations[p.message_id]
    return conversations.get(p.conversation_id, 0) if p.conversation_id else 0


def _sittings(writing: Writing, passages: Sequence[Passage], numbers: Mapping[NodeId, int]) -> dict[NodeId, int]:
    """The number of the first message of each message's sitting."""
    before = {p.previous_id for p in passages if p.continues and p.previous_id and p.previous_id not in writing.fresh}
    stored: dict[NodeId, tuple[int, int]] = {}
    for record in writing.put(search_queries.FIND_SITTINGS, sorted(before), "ids"):
        newest = stored.get(record["id"], (-1, 0))
        stored[record["id"]] = max(newest, (record["number"], record["sitting"]))
    known: dict[NodeId, int] = {}
    for p in sorted(passages, key=lambda p: p.lane):
        if p.message_id is None or p.message_id in known:
            continue
        sitting = 0
        if p.continues and p.previous_id is not None:
            sitting = known.get(p.previous_id) or stored.get(p.previous_id, (0, 0))[1]
        known[p.message_id] = sitting or numbers.get(p.message_id, 0)
    return known


def _speaker_numbers(writing: Writing, passages: Sequence[Passage]) -> dict[str, int]:
    names = sorted({p.speaker for p in passages if p.speaker})
    numbers = writing.numbers(len(names))
    rows = [{"key": key(name), "name": name, "number": number} for name, number in zip(names, numbers, strict=True)]
    return {record["name"]: record["number"] for record in writing.put(search_queries.PUT_SPEAKERS, rows)}
