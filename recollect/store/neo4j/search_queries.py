"""The catalogue, second half: statements on what search reads. `$space` stands for one namespace's passages."""

from __future__ import annotations

# --- writing -------------------------------------------------------------------------------------------------------
FIND_MESSAGES = """
UNWIND $ids AS id MATCH (m:Message {namespace: $ns, id: id})
MATCH (c:Conversation {namespace: $ns, id: m.conversation_id})
RETURN m.id AS id, m.number AS number, c.number AS conversation
"""
FIND_CONVERSATIONS = """
UNWIND $ids AS id MATCH (c:Conversation {namespace: $ns, id: id}) RETURN c.id AS id, c.number AS number
"""
FIND_SITTINGS = """
UNWIND $ids AS id MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = id
RETURN id, p.number AS number, p.sitting AS sitting
"""
PUT_SPEAKERS = """
UNWIND $rows AS r MERGE (s:Speaker {space: $space, key: r.key}) ON CREATE SET s.name = r.name, s.number = r.number
RETURN s.name AS name, s.number AS number
"""
# One property is the vector; its name says lane and size (schema.vector_key).
ADD_PASSAGES = "UNWIND $rows AS r CREATE (p:Passage) SET p = r"
LINK_TO_MESSAGES = """
UNWIND $rows AS r MATCH (p:Passage {number: r.number}) MATCH (o:Message {namespace: $ns, id: r.owner_id})
CREATE (p)-[:PASSAGE_OF]->(o)
"""
LINK_TO_TOOL_CALLS = """
UNWIND $rows AS r MATCH (p:Passage {number: r.number}) MATCH (o:ToolCall {namespace: $ns, id: r.owner_id})
CREATE (p)-[:PASSAGE_OF]->(o)
"""
LINK_TO_DOCUMENTS = """
UNWIND $rows AS r MATCH (p:Passage {number: r.number}) MATCH (o:Document {namespace: $ns, id: r.owner_id})
CREATE (p)-[:PASSAGE_OF]->(o)
"""
LINK_TO_CONVERSATIONS = """
UNWIND $rows AS r MATCH (p:Passage {number: r.number}) MATCH (o:Conversation {namespace: $ns, id: r.owner_id})
CREATE (p)-[:PASSAGE_OF]->(o)
"""
# What is set is all that is left: words and vectors go, and with them the entries of their indexes.
KILL = """
UNWIND $ids AS id MATCH (p:Passage) WHERE p.space = $space AND p.owner_id = id AND p.gone IS NULL
SET p = {namespace: p.namespace, space: p.space, lane: p.lane, row: p.row, number: p.number, owner: p.owner,
    owner_id: p.owner_id, part: p.part, start: p.start, end: p.end, sitting: p.sitting, columns: p.columns,
    packed: p.packed, gone: p.row}
RETURN p.number AS number
"""
UNLINK_KILLED = "UNWIND $numbers AS n MATCH (p:Passage {number: n})-[x:PASSAGE_OF]->() DELETE x"
KILL_QUALITY = "UNWIND $numbers AS n MATCH (q:Quality {number: n}) DETACH DELETE q"
ADD_SEGMENT = "CREATE (s:Segment) SET s = $segment"
ADD_QUALITY = """
UNWIND $rows AS r MATCH (p:Passage {number: r.number})
WHERE p.space = $space AND p.gone IS NULL AND NOT EXISTS { MATCH (:Quality {number: r.number}) }
CREATE (q:Quality {number: r.number, space: $space, lane: p.lane, row: p.row, vector: r.vector, pieces: r.pieces,
    tokens: r.tokens})-[:QUALITY_OF]->(p)
SET p.todo = NULL
RETURN r.number AS number
"""
PUT_PIECES = "MERGE (k:PieceCount {space: $space}) SET k.passages = $passages, k.counts = $counts"
# Left over from spaces that were given up; in transactions of their own.
SWEEP_PASSAGES = """
MATCH (p:Passage) WHERE p.space = $space AND p.lane IN [0, 1, 2] AND p.row >= 0
CALL (p) { DETACH DELETE p } IN TRANSACTIONS OF 2000 ROWS
"""
SWEEP_QUALITY = """
MATCH (q:Quality) WHERE q.space = $space AND q.lane IN [0, 1, 2] AND q.row >= 0
CALL (q) { DETACH DELETE q } IN TRANSACTIONS OF 2000 ROWS
"""
SWEEP_SEGMENTS = """
MATCH (s:Segment) WHERE s.space = $space AND s.lane IN [0, 1, 2] AND s.first >= 0
CALL (s) { DETACH DELETE s } IN TRANSACTIONS OF 10 ROWS
"""
SWEEP_SPEAKERS = """
MATCH (s:Speaker) WHERE s.space = $space AND s.key IS NOT NULL CALL (s) { DETACH DELETE s } IN TRANSACTIONS OF 2000 ROWS
"""
SWEEP_PIECES = "MATCH (k:PieceCount {space: $space}) CALL (k) { DETACH DELETE k } IN TRANSACTIONS OF 10 ROWS"

# --- reading -------------------------------------------------------------------------------------------------------
SEGMENTS = """
MATCH (s:Segment) WHERE s.space = $space AND s.lane = $lane AND s.first >= 0 AND s.last < $until
RETURN s.first AS first, s.columns AS columns, s.vectors AS vectors, s.terms AS terms, s.offsets AS offsets,
    s.rows AS rows, s.counts AS counts
ORDER BY first
"""
TAIL = """
MATCH (p:Passage) WHERE p.space = $space AND p.lane = $lane AND $first <= p.row < $until
RETURN p.row AS row, p.columns AS columns, p.packed AS packed, p.terms AS terms ORDER BY row
"""
GONE = "MATCH (p:Passage) WHERE p.space = $space AND p.lane = $lane AND p.gone >= 0 RETURN p.gone AS row"
SOURCES = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND c.source IN $sources RETURN c.number AS number
"""
BY_IDS = """
UNWIND $ids AS id MATCH (c:Conversation {namespace: $ns, id: id}) WHERE $sources IS NULL OR c.source IN $sources
RETURN c.number AS number
"""
HOLDING = """
CALL db.index.fulltext.queryNodes('passage_text', $query) YIELD node
RETURN collect(node.number) AS numbers
"""
SPEAKER = "MATCH (s:Speaker {space: $space, key: $key}) RETURN s.number AS number"
SPEAKERS = "MATCH (s:Speaker) WHERE s.space = $space AND s.key IS NOT NULL RETURN s.name AS name"
RUNS = """
UNWIND $numbers AS n MATCH (p:Passage {number: n}) WHERE p.windows IS NOT NULL
RETURN n AS number, p.windows AS windows
"""
PIECES = "MATCH (k:PieceCount {space: $space}) RETURN k.passages AS passages, k.counts AS counts"
QUALITY = """
MATCH (q:Quality) WHERE q.space = $space AND q.lane = $lane AND q.row >= 0 RETURN q.row AS row, q.vector AS vector
"""
HAS_QUALITY = """
MATCH (q:Quality) WHERE q.space = $space AND q.lane IN [0, 1, 2] AND q.row >= 0 RETURN q.number AS number LIMIT 1
"""
WITHOUT_QUALITY = """
MATCH (p:Passage) WHERE p.space = $space AND p.todo >= 0
RETURN p.number AS number ORDER BY p.space DESC, p.todo DESC LIMIT $limit
"""
TOKENS = """
UNWIND $numbers AS n MATCH (q:Quality {number: n}) WHERE q.space = $space
RETURN n AS number, q.pieces AS pieces, q.tokens AS tokens
"""
TEXTS = """
UNWIND $numbers AS n MATCH (p:Passage {number: n})-[:PASSAGE_OF]->(o) WHERE p.space = $space
RETURN n AS number, p.owner AS owner, p.owner_id AS owner_id, p.part AS part, p.start AS start, p.end AS end,
    o.message_id AS message_id, o.conversation_id AS conversation_id, coalesce(o.active, true) AS active,
    CASE WHEN p.part >= 0 THEN o.parts
         WHEN p.owner = 1 THEN o.name + ': ' + o.arguments + '\n' + o.result
         WHEN p.owner = 3 THEN o.title
         ELSE o.content END AS text
"""
