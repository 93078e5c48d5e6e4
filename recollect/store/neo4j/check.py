"""The invariants of the store, each as a statement that returns what breaks it in one namespace: place and number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

import neo4j

from recollect.record import Namespace
from recollect.store.base import Violation
from recollect.store.neo4j.lane import read_state

INVARIANTS: Mapping[str, LiteralString] = {
    "every parent of a message is a message of the same conversation": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL AND m.parent_id IS NOT NULL
        OPTIONAL MATCH (m)-[:REPLIES_TO]->(p:Message)
        WITH m, collect(p) AS parents
        WHERE size(parents) <> 1 OR parents[0].id <> m.parent_id OR parents[0].namespace <> $ns
          OR parents[0].conversation_id <> m.conversation_id
        RETURN m.id AS place, 1 AS number""",
    "a parent stands before its children (so there is no cycle)": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL
        MATCH (m)-[:REPLIES_TO]->(p) WHERE p.position >= m.position
        RETURN m.id AS place, 1 AS number""",
    "the positions of a conversation run from 0 without gap": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position IS NOT NULL
        WITH m.conversation_id AS id, min(m.position) AS low, max(m.position) AS high, count(*) AS number,
            count(DISTINCT m.position) AS places
        WHERE low <> 0 OR high <> number - 1 OR places <> number
        RETURN id AS place, 1 AS number""",
    "every message has its conversation": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL
          AND NOT EXISTS { MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id = m.conversation_id }
        RETURN m.id AS place, 1 AS number""",
    "the parent of an active message is active": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL AND m.active
        MATCH (m)-[:REPLIES_TO]->(p) WHERE NOT p.active
        RETURN m.id AS place, 1 AS number""",
    "the active path ends at the conversation's leaf": """
        MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL
          AND EXISTS { MATCH (x:Message) WHERE x.namespace = $ns AND x.conversation_id = c.id AND x.position >= 0 }
          AND NOT EXISTS { MATCH (m:Message) WHERE m.namespace = $ns AND m.id = c.leaf_id AND m.active
            AND m.conversation_id = c.id }
        RETURN c.id AS place, 1 AS number""",
    "every tool call belongs to a message, and names a result that is there": """
        MATCH (t:ToolCall) WHERE t.namespace = $ns AND t.id IS NOT NULL
          AND (NOT EXISTS { MATCH (t)-[:CALLED_BY]->(m:Message) WHERE m.namespace = $ns AND m.id = t.message_id }
            OR t.result_message_id IS NOT NULL
              AND NOT EXISTS { MATCH (m:Message) WHERE m.namespace = $ns AND m.id = t.result_message_id })
        RETURN t.id AS place, 1 AS number""",
    "every turn names messages that are there, and is linked to them and to its conversation": """
        MATCH (t:Turn) WHERE t.namespace = $ns AND t.id IS NOT NULL
          AND (NOT EXISTS { MATCH (t)-[:HAS_QUERY]->(m:Message) WHERE m.namespace = $ns AND m.id = t.query_id }
            OR NOT EXISTS {
                MATCH (c:Conversation)-[:HAS_TURN]->(t) WHERE c.namespace = $ns AND c.id = t.conversation_id }
            OR COUNT { MATCH (t)-[:HAS_RESPONSE]->(m:Message) WHERE m.namespace = $ns AND m.id IN t.response_ids }
              <> size(t.response_ids))
        RETURN t.id AS place, 1 AS number""",
    "turns follow each other": """
        MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id IS NOT NULL AND t.position > 0
        MATCH (b:Turn) WHERE b.namespace = $ns AND b.conversation_id = t.conversation_id AND b.position = t.position - 1
          AND NOT EXISTS { MATCH (b)-[:NEXT_TURN]->(t) }
        RETURN t.id AS place, 1 AS number""",
    "every chunk has its parent": """
        MATCH (k:Chunk) WHERE k.namespace = $ns AND k.id IS NOT NULL
          AND NOT EXISTS { MATCH (k)-[:CHUNK_OF]->(p) WHERE p.namespace = $ns AND p.id = k.parent_id }
        RETURN k.id AS place, 1 AS number""",
    "the chunks of a text follow each other without gap": """
        MATCH (k:Chunk) WHERE k.namespace = $ns AND k.id IS NOT NULL
        OPTIONAL MATCH (b:Chunk) WHERE b.namespace = $ns AND b.parent_id = k.parent_id AND b.part = k.part
          AND b.index = k.index - 1
        WITH k, b
        WHERE k.index = 0 AND k.start <> 0 OR k.index > 0 AND (b IS NULL OR k.start > b.end OR k.end <= b.end)
        RETURN k.parent_id AS place, 1 AS number""",
    "every window lies within its conversation": """
        MATCH (w:Window) WHERE w.namespace = $ns AND w.conversation_id IS NOT NULL AND w.index IS NOT NULL
          AND (w.start > w.end OR NOT EXISTS { MATCH (m:Message) WHERE m.namespace = $ns
            AND m.conversation_id = w.conversation_id AND m.position >= w.end })
        RETURN w.conversation_id AS place, 1 AS number""",
    "everything that has words can be found": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL AND NOT m.deleted AND m.content <> ''
          AND $embedded AND NOT EXISTS {
            MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = m.id AND p.gone IS NULL }
        RETURN m.id AS place, 1 AS number""",
    "nothing that is deleted can be found": """
        MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL AND m.deleted
          AND EXISTS { MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = m.id AND p.owner = 0
            AND p.gone IS NULL }
        RETURN m.id AS place, 1 AS number""",
    "every passage leads to something that is there": """
        MATCH (p:Passage) WHERE p.space = $space AND p.lane IN [0, 1, 2] AND p.row >= 0 AND p.gone IS NULL
          AND NOT EXISTS { MATCH (p)-[:PASSAGE_OF]->(o) WHERE o.namespace = $ns AND o.id = p.owner_id }
        RETURN p.owner_id AS place, 1 AS number""",
    "no passage is there twice": """
        MATCH (p:Passage) WHERE p.space = $space AND p.lane IN [0, 1, 2] AND p.row >= 0 AND p.gone IS NULL
        WITH p.owner_id AS id, p.owner AS owner, p.part AS part, p.start AS start, count(*) AS number WHERE number > 1
        RETURN id AS place, number - 1 AS number""",
    "the rows of the search index run from 0 without gap": """
        UNWIND [0, 1, 2] AS lane
        WITH lane, COUNT { MATCH (p:Passage) WHERE p.space = $space AND p.lane = lane AND 0 <= p.row < $rows[lane] }
            AS inside, COUNT { MATCH (p:Passage) WHERE p.space = $space AND p.lane = lane AND p.row >= 0 } AS all
        WHERE inside <> $rows[lane] OR all <> inside
        RETURN 'lane ' + toString(lane) AS place, abs($rows[lane] - all) AS number""",
    "the segments are whole": """
        UNWIND [0, 1, 2] AS lane
        OPTIONAL MATCH (s:Segment) WHERE s.space = $space AND s.lane = lane AND s.first >= 0
        WITH lane, coalesce(sum(s.last - s.first + 1), 0) AS inside, coalesce(max(s.last) + 1, 0) AS until
        WHERE inside <> $sealed[lane] OR until <> $sealed[lane]
        RETURN 'lane ' + toString(lane) AS place, abs($sealed[lane] - inside) AS number""",
    "every living passage has its words, no dead one has": """
        MATCH (p:Passage) WHERE p.space = $space AND p.lane IN [0, 1, 2] AND p.row >= 0
          AND (p.gone IS NULL) <> (p.words IS NOT NULL)
        RETURN p.owner_id AS place, 1 AS number""",
    "quality vectors belong to living passages, and come with their tokens": """
        MATCH (q:Quality) WHERE q.space = $space AND q.lane IN [0, 1, 2] AND q.row >= 0
          AND (q.tokens IS NULL
            OR NOT EXISTS { MATCH (q)-[:QUALITY_OF]->(p:Passage) WHERE p.number = q.number AND p.gone IS NULL })
        RETURN toString(q.number) AS place, 1 AS number""",
}

_SHOWN = 20


def violations(tx: neo4j.ManagedTransaction, ns: Namespace) -> list[Violation]:
    """What does not hold: of each invariant at most 20 places, and a last line that counts the rest."""
    state = read_state(tx, ns)
    if state is None:
        return []
    values = {
        "ns": ns,
        "space": state.space,
        "rows": list(state.rows),
        "sealed": list(state.sealed),
        "embedded": state.embedder is not None,
    }
    found: list[Violation] = []
    for invariant, statement in INVARIANTS.items():
        broken: list[Any] = [record.values() for record in tx.run(statement, values)]
        found += [Violation(invariant, str(place), number) for place, number in broken[:_SHOWN]]
        if len(broken) > _SHOWN:
            found.append(Violation(invariant, "and elsewhere", len(broken) - _SHOWN))
    return found
