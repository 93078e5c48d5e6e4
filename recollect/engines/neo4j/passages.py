"""Writing what is derived for search: the passages of owners, and their deaths.

A passage is a node: what it leads to, its words (for phrases) and runs of sentences. Its row (columns, vector, terms)
is in the tail, then in a segment. When it dies the node goes, and a `Death` says so to whoever has the row in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recollect.engines.neo4j import generations, quality, tail
from recollect.engines.neo4j.records import key
from recollect.engines.neo4j.writing import Generation, Writing
from recollect.errors import StoreError
from recollect.index.numeric import to_int8
from recollect.index.source import COLUMNS, TailRow, column_values
from recollect.record import NodeId
from recollect.store.change import IndexChange, WrongEmbedder
from recollect.store.passages import Partition, Passage

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
        generations.note(writing, writing.building, resting)
    if change is None:
        return
    chosen = _generation(writing, change)
    building = writing.building
    if building is not None and building is not chosen and change.passages:
        kill(writing, building, list(change.passages))
        generations.note(writing, building, list(change.passages))
    if chosen is None:
        return
    _replace(writing, chosen, change.passages)
    quality.add(writing, chosen, change.quality)
    if chosen is building:
        generations.advance(writing, chosen, change.built, change.refreshed)


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
        return generations.create(writing, change.embedder) if wanted and change.embedder else None
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
    quality.remove(writing, space, [one.number for one in dead])
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
    tail.add(writing, space, tails)
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
