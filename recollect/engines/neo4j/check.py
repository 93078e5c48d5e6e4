"""The invariants of the store, each as a statement that returns what breaks it in one namespace: place and number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, LiteralString

import neo4j
import numpy as np

from recollect.engines.neo4j import indexing
from recollect.engines.neo4j.maintain import SEGMENT
from recollect.engines.neo4j.source import DEATHS, SEGMENTS
from recollect.engines.neo4j.writing import PARTITIONS, generation_of
from recollect.engines.plans import Generation, every_violation, violations_of
from recollect.index.source import unseal
from recollect.record import Namespace
from recollect.store.change import IndexDamaged
from recollect.store.results import Invariant, Violation

#: Of the record: what is wrong here cannot be made anew from anything.
RECORD: Mapping[Invariant, LiteralString] = {
    Invariant.HAS_PARENT: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0
          AND m.parent_id IS NOT NULL
        OPTIONAL MATCH (m)-[:REPLIES_TO]->(p:Message)
        WITH m, collect(p) AS parents
        WHERE size(parents) <> 1 OR parents[0].id <> m.parent_id OR parents[0].namespace <> $ns
          OR parents[0].conversation_id <> m.conversation_id
        RETURN m.id AS place, 1 AS number""",
    Invariant.NO_CIRCLE: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0
        MATCH (m)-[:REPLIES_TO]->(p) WHERE p.position >= m.position
          AND EXISTS { MATCH (p)-[:REPLIES_TO*0..]->(m) }
        RETURN m.id AS place, 1 AS number""",
    Invariant.POSITIONS: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position IS NOT NULL
        WITH m.conversation_id AS id, min(m.position) AS low, max(m.position) AS high, count(*) AS number,
            count(DISTINCT m.position) AS places
        WHERE low <> 0 OR high <> number - 1 OR places <> number
        RETURN id AS place, 1 AS number""",
    Invariant.HAS_CONVERSATION: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position IS NOT NULL
        WITH DISTINCT m.conversation_id AS id
        WHERE NOT EXISTS { MATCH (c:Conversation&Node {namespace: $ns, id: id}) }
        RETURN id AS place, 1 AS number""",
    Invariant.ACTIVE_PATH: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0 AND m.active
        MATCH (m)-[:REPLIES_TO]->(p) WHERE NOT p.active
        RETURN m.id AS place, 1 AS number""",
    Invariant.ACTIVE_END: """
        MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL
          AND EXISTS { MATCH (x:Message) WHERE x.namespace = $ns AND x.conversation_id = c.id AND x.position >= 0 }
          AND NOT EXISTS { MATCH (m:Message&Node {namespace: $ns, id: c.leaf_id})
            WHERE m.active AND m.conversation_id = c.id }
        RETURN c.id AS place, 1 AS number""",
    Invariant.TOOL_CALL: """
        MATCH (t:ToolCall) WHERE t.namespace = $ns AND t.conversation_id IS NOT NULL
          AND (NOT EXISTS { MATCH (t)-[:CALLED_BY]->(m:Message) WHERE m.namespace = $ns AND m.id = t.message_id }
            OR t.result_message_id IS NOT NULL
              AND NOT EXISTS { MATCH (m:Message&Node {namespace: $ns, id: t.result_message_id}) })
        RETURN t.id AS place, 1 AS number""",
    Invariant.TURN: """
        MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id IS NOT NULL AND t.position >= 0
          AND (NOT EXISTS { MATCH (t)-[:HAS_QUERY]->(m:Message) WHERE m.namespace = $ns AND m.id = t.query_id }
            OR NOT EXISTS {
                MATCH (c:Conversation)-[:HAS_TURN]->(t) WHERE c.namespace = $ns AND c.id = t.conversation_id }
            OR COUNT { MATCH (t)-[:HAS_RESPONSE]->(m:Message)
                WHERE m.namespace = $ns AND t.response_ids CONTAINS '"' + m.id + '"' }
              <> size(split(coalesce(t.response_ids, ''), '"')) / 2)
        RETURN t.id AS place, 1 AS number""",
    Invariant.TURNS_FOLLOW: """
        MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id IS NOT NULL AND t.position > 0
        MATCH (b:Turn) WHERE b.namespace = $ns AND b.conversation_id = t.conversation_id AND b.position = t.position - 1
          AND NOT EXISTS { MATCH (b)-[:NEXT_TURN]->(t) }
        RETURN t.id AS place, 1 AS number""",
    Invariant.HAS_WHOLE: """
        MATCH (k:Chunk) WHERE k.namespace = $ns AND k.parent_id IS NOT NULL
          AND NOT EXISTS { MATCH (k)-[:CHUNK_OF]->(p) WHERE p.namespace = $ns AND p.id = k.parent_id }
        RETURN k.id AS place, 1 AS number""",
    Invariant.CHUNKS_FOLLOW: """
        MATCH (k:Chunk) WHERE k.namespace = $ns AND k.parent_id IS NOT NULL
        OPTIONAL MATCH (b:Chunk) WHERE b.namespace = $ns AND b.parent_id = k.parent_id AND b.part = k.part
          AND b.index = k.index - 1
        WITH k, b
        WHERE k.index = 0 AND k.start <> 0 OR k.index > 0 AND (b IS NULL OR k.start > b.end OR k.end <= b.end)
        RETURN k.parent_id AS place, 1 AS number""",
    Invariant.ERASED: """
        MATCH (n:Node) WHERE n.namespace = $ns AND n.id IS NOT NULL AND n.erased
          AND (coalesce(n.content, '') <> '' OR coalesce(n.title, '') <> '' OR coalesce(n.text, '') <> ''
            OR coalesce(n.key, '') <> '' OR n.parts IS NOT NULL OR n.metadata IS NOT NULL OR n.versions IS NOT NULL
            OR n.body IS NOT NULL OR n.speaker IS NOT NULL
            OR EXISTS { MATCH (n)-[x]-() WHERE x.name IS NOT NULL })
        RETURN n.id AS place, 1 AS number""",
    Invariant.EDGES: """
        MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id IS NOT NULL AND e.drawable
          AND EXISTS { MATCH (a:Node {namespace: $ns, id: e.source_id}) }
          AND EXISTS { MATCH (b:Node {namespace: $ns, id: e.target_id}) }
        RETURN e.source_id AS place, 1 AS number""",
}

#: Of what is derived for search, in the generation that is read: `recollect reindex` makes it anew.
INDEX: Mapping[Invariant, LiteralString] = {
    Invariant.FINDABLE: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0
          AND NOT m.deleted AND m.content <> ''
          AND NOT EXISTS { MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = m.id }
        RETURN m.id AS place, 1 AS number""",
    Invariant.DELETED: """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0 AND m.deleted
          AND (EXISTS { MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = m.id }
            OR EXISTS { MATCH (m)<-[:CALLED_BY]-(t) MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = t.id })
        RETURN m.id AS place, 1 AS number""",
    Invariant.LEADS_SOMEWHERE: """
        MATCH (p:Passage) WHERE p.space = $space AND p.number > 0
          AND NOT EXISTS { MATCH (o:Node {namespace: $ns, id: p.owner_id}) WHERE NOT coalesce(o.erased, false) }
        RETURN p.owner_id AS place, 1 AS number""",
    Invariant.ONCE: """
        MATCH (p:Passage) WHERE p.space = $space AND p.number > 0
        WITH p.owner_id AS id, p.part AS part, p.start AS start, count(*) AS number WHERE number > 1
        RETURN id AS place, number - 1 AS number""",
    Invariant.HAS_WORDS: """
        MATCH (p:Passage) WHERE p.space = $space AND p.number > 0 AND (p.words IS NULL OR p.scope IS NULL)
        RETURN p.owner_id AS place, 1 AS number""",
    Invariant.QUALITY: """
        MATCH (q:Quality) WHERE q.space = $space AND q.number > 0
          AND (q.tokens IS NULL OR q.place IS NULL
            OR NOT EXISTS { MATCH (p:Passage {space: $space, number: q.number}) WHERE p.bare IS NULL })
        RETURN toString(q.number) AS place, 1 AS number""",
    Invariant.PIECES_COUNTED: """
        OPTIONAL MATCH (k:PieceCount {space: $space})
        WITH coalesce(k.passages, 0) AS counted,
            COUNT { MATCH (q:Quality) WHERE q.space = $space AND q.number > 0 } AS there
        WHERE counted <> there RETURN 'word pieces' AS place, abs(counted - there) AS number""",
    Invariant.SPEAKERS: """
        MATCH (s:Speaker) WHERE s.space = $space AND s.key IS NOT NULL AND s.passages <= 0
        RETURN s.key AS place, 1 AS number""",
    Invariant.NOTHING_LEFT: """
        MATCH (k:Counter {name: 'spaces'}) UNWIND range(1, k.value) AS space
        WITH space WHERE NOT EXISTS { MATCH (g:Generation {space: space}) }
          AND (EXISTS { MATCH (p:Passage) WHERE p.space = space AND p.number > 0 }
            OR EXISTS { MATCH (q:Quality) WHERE q.space = space AND q.number > 0 }
            OR EXISTS { MATCH (s:IndexSegment) WHERE s.space = space AND s.partition IS NOT NULL AND s.first > 0 }
            OR EXISTS { MATCH (t:Tail) WHERE t.space = space AND t.partition IS NOT NULL AND t.last > 0 })
        RETURN 'space ' + toString(space) AS place, 1 AS number""",
}

NUMBERS = """
MATCH (p:Passage) WHERE p.space = $space AND p.number > 0 AND p.partition = $partition RETURN p.number AS number
"""


def violations(tx: neo4j.Transaction, ns: Namespace, state: neo4j.Record) -> list[Violation]:
    """What does not hold: of each invariant at most 20 places, and a last line that counts the rest."""
    if state["number"] is None:
        return []
    live = generation_of(state["live"])
    space = live.key if live else -1

    def asked(invariant: Invariant, remedy: Literal["reindex", "backup"], statement: LiteralString) -> list[Violation]:
        rows = [record.values() for record in tx.run(statement, ns=ns, space=space)]
        return violations_of(invariant, remedy, [(str(place), number) for place, number in rows])

    found = every_violation(RECORD, INDEX, asked)
    for invariant, broken in _partitions(tx, live) if live is not None else ():
        found += violations_of(invariant, "reindex", broken)
    return found


def _partitions(tx: neo4j.Transaction, live: Generation) -> Iterator[tuple[Invariant, list[tuple[str, int]]]]:
    """What is wrong with tails and segments: their numbers against the passages that live and those that died."""
    for partition in sorted(r["partition"] for r in tx.run(PARTITIONS, space=live.key)):
        where = {"space": live.key, "partition": partition}
        damaged: list[tuple[str, int]] = []
        unreadable: list[tuple[str, int]] = []
        sealed: list[int] = []
        for mark in list(tx.run(SEGMENTS, where)):
            name = f"partition {partition}, segment {mark['first']}"
            try:
                data = tx.run(SEGMENT, first=mark["first"], **where).single(strict=True)["data"]
                numbers = unseal(bytes(data), name).columns["number"]
            except (IndexDamaged, TypeError, ValueError):
                damaged.append((name, 1))
                continue
            told = (mark["first"], mark["last"], mark["size"])
            if told != (int(numbers[0]), int(numbers[-1]), len(numbers)) or (np.diff(numbers) <= 0).any():
                damaged.append((name, 1))
            sealed += numbers.tolist()
        in_tail: set[int] = set()
        try:
            in_tail.update(row.number for row in indexing.tail_rows(tx.run(indexing.TAIL, after=0, **where), 0))
        except (ValueError, TypeError):
            unreadable.append((f"partition {partition}", 1))
        yield Invariant.SEGMENTS_READABLE, damaged
        yield Invariant.TAIL_READABLE, unreadable
        if damaged or unreadable:
            continue
        dead = {r["number"] for r in tx.run(DEATHS, after=0, **where)}
        living = {r["number"] for r in tx.run(NUMBERS, where)}
        in_segment = set(sealed)
        rows = in_tail | in_segment
        lost = (living - rows) | (rows - living - dead) | (in_tail & in_segment) | (living & dead)
        yield Invariant.IN_ONE_PLACE, [(f"partition {partition}, passage {number}", 1) for number in sorted(lost)]
        yield Invariant.IN_ONE_PLACE, [(f"partition {partition}", 1)] * (len(sealed) != len(in_segment))
