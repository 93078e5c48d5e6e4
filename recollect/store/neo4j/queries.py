"""The one catalogue of statements on the record. What search asks is in `search_queries`, invariants are in `check`.

Every statement is whole, names the namespace, and takes its values as parameters. Nodes come back as maps.
"""

from __future__ import annotations

# --- namespaces ----------------------------------------------------------------------------------------------------
NAMESPACES = """
MATCH (n:Namespace) WHERE n.name IS NOT NULL
  AND (EXISTS { MATCH (c:Conversation) WHERE c.namespace = n.name AND c.id IS NOT NULL }
    OR EXISTS { MATCH (d:Document) WHERE d.namespace = n.name AND d.id IS NOT NULL })
RETURN n.name AS name
"""
ALL_NAMESPACES = "MATCH (n:Namespace) WHERE n.name IS NOT NULL RETURN n.name AS name"
ADD_NAMESPACE = """
MERGE (k:Counter {name: 'spaces'}) ON CREATE SET k.value = 0
SET k.value = k.value + 1
WITH k.value AS space
MERGE (n:Namespace {name: $ns})
ON CREATE SET n.space = space, n.next = 1, n.changes = 0, n.rows = [0, 0, 0], n.sealed = [0, 0, 0]
"""
# Writers of a namespace follow each other: the lock on its node is taken before anything is read.
LOCK = """
MATCH (n:Namespace {name: $ns}) SET n._lock = true
RETURN n.space AS space, n.next AS next, n.rows AS rows, n.sealed AS sealed, n.embedder AS embedder
"""
STATE = """
MATCH (n:Namespace {name: $ns})
RETURN n.space AS space, n.changes AS changes, n.rows AS rows, n.sealed AS sealed, n.embedder AS embedder
"""
ADVANCE = """
MATCH (n:Namespace {name: $ns}) SET n.next = $next, n.rows = $rows, n.sealed = $sealed, n.changes = n.changes + $changed
"""
SET_EMBEDDER = "MATCH (n:Namespace {name: $ns}) SET n.embedder = $embedder"
# What is derived hangs on the space, not on the name: with a new one the old passages are gone at once, in one write.
NEW_SPACE = """
MERGE (k:Counter {name: 'spaces'}) SET k.value = k.value + 1
WITH k.value AS space
MATCH (n:Namespace {name: $ns})
SET n.space = space, n.embedder = NULL, n.rows = [0, 0, 0], n.sealed = [0, 0, 0], n.changes = n.changes + 1
"""

# --- writing -------------------------------------------------------------------------------------------------------
STANDS = """
UNWIND $ids AS id MATCH (c:Conversation {namespace: $ns, id: id})
RETURN c.id AS id, c.revision AS revision, c.digest AS digest, c.number AS number
"""
PUT_CONVERSATIONS = """
UNWIND $rows AS r MERGE (c:Conversation {namespace: $ns, id: r.id})
ON CREATE SET c:Session, c.number = r.number, c.revision = 0
SET c += r.values, c.revision = c.revision + 1
"""
ADD_MESSAGES = """
UNWIND $rows AS r MERGE (m:Message {namespace: $ns, id: r.id})
ON CREATE SET m.conversation_id = r.conversation_id, m.number = r.number, m += r.values
WITH m, r WHERE m.number <> r.number RETURN m.id AS id // it was there before
"""
EDIT_MESSAGES = "UNWIND $rows AS r MATCH (m:Message {namespace: $ns, id: r.id}) SET m += r.values"
UNLINK_REPLIES = "UNWIND $ids AS id MATCH (m:Message {namespace: $ns, id: id})-[x:REPLIES_TO]->() DELETE x"
LINK_REPLIES = """
UNWIND $ids AS id MATCH (m:Message {namespace: $ns, id: id}) WHERE m.parent_id IS NOT NULL
MATCH (p:Message {namespace: $ns, id: m.parent_id}) MERGE (m)-[:REPLIES_TO]->(p)
"""
MOVE_MESSAGES = """
UNWIND $rows AS r MATCH (m:Message {namespace: $ns, id: r.id}) SET m.position = r.position, m.active = r.active
"""
PUT_TOOL_CALLS = """
UNWIND $rows AS r MERGE (t:ToolCall {namespace: $ns, id: r.id}) ON CREATE SET t.conversation_id = r.conversation_id
SET t += r.values
"""
UNLINK_TOOL_CALLS = "UNWIND $ids AS id MATCH (t:ToolCall {namespace: $ns, id: id})-[x:CALLED_BY]->() DELETE x"
LINK_TOOL_CALLS = """
UNWIND $ids AS id MATCH (t:ToolCall {namespace: $ns, id: id}) MATCH (m:Message {namespace: $ns, id: t.message_id})
MERGE (t)-[:CALLED_BY]->(m)
"""
PUT_TURNS = """
UNWIND $rows AS r MERGE (t:Turn {namespace: $ns, id: r.id}) ON CREATE SET t.conversation_id = r.conversation_id
SET t += r.values
"""
UNLINK_TURNS = """
UNWIND $ids AS id MATCH (t:Turn {namespace: $ns, id: id})-[x:HAS_QUERY|HAS_RESPONSE|NEXT_TURN]-() DELETE x
"""
LINK_TURNS = """
UNWIND $ids AS id MATCH (t:Turn {namespace: $ns, id: id}) MATCH (c:Conversation {namespace: $ns, id: t.conversation_id})
MERGE (c)-[:HAS_TURN]->(t)
"""
LINK_TURNS_BEFORE = """
UNWIND $ids AS id MATCH (t:Turn {namespace: $ns, id: id})
MATCH (b:Turn) WHERE b.namespace = $ns AND b.conversation_id = t.conversation_id AND b.position = t.position - 1
MERGE (b)-[:NEXT_TURN]->(t)
"""
LINK_TURNS_AFTER = """
UNWIND $ids AS id MATCH (t:Turn {namespace: $ns, id: id})
MATCH (a:Turn) WHERE a.namespace = $ns AND a.conversation_id = t.conversation_id AND a.position = t.position + 1
MERGE (t)-[:NEXT_TURN]->(a)
"""
LINK_QUERIES = """
UNWIND $ids AS id MATCH (t:Turn {namespace: $ns, id: id}) MATCH (m:Message {namespace: $ns, id: t.query_id})
SET m:Query MERGE (t)-[:HAS_QUERY]->(m)
"""
LINK_RESPONSES = """
UNWIND $rows AS r MATCH (t:Turn {namespace: $ns, id: r.id}) MATCH (m:Message {namespace: $ns, id: r.message_id})
SET m:Response MERGE (t)-[:HAS_RESPONSE]->(m)
"""
CLEAR_CHUNKS = """
UNWIND $ids AS id MATCH (k:Chunk) WHERE k.namespace = $ns AND k.parent_id = id DETACH DELETE k
"""
PUT_CHUNKS = "UNWIND $rows AS r MERGE (k:Chunk {namespace: $ns, id: r.id}) SET k += r.values"
LINK_CHUNKS = """
UNWIND $ids AS id MATCH (k:Chunk {namespace: $ns, id: id})
CALL (k) {
    MATCH (p:Message {namespace: $ns, id: k.parent_id}) RETURN p
    UNION MATCH (p:ToolCall {namespace: $ns, id: k.parent_id}) RETURN p
    UNION MATCH (p:Document {namespace: $ns, id: k.parent_id}) SET k:DocumentChunk RETURN p
}
MERGE (k)-[:CHUNK_OF]->(p)
"""
PUT_WINDOWS = """
UNWIND $rows AS r MERGE (w:Window {namespace: $ns, conversation_id: r.conversation_id, index: r.index})
SET w.start = r.start, w.end = r.end
WITH w MATCH (c:Conversation {namespace: $ns, id: w.conversation_id}) MERGE (c)-[:HAS_WINDOW]->(w)
"""
CUT_WINDOWS = """
UNWIND $rows AS r MATCH (w:Window) WHERE w.namespace = $ns AND w.conversation_id = r.id AND w.index >= r.count
DETACH DELETE w
"""
PUT_DOCUMENTS = """
UNWIND $rows AS r MERGE (d:Document {namespace: $ns, id: r.id})
ON CREATE SET d.source = r.source, d.source_id = r.source_id
SET d += r.values
"""
# An edge may be written before its ends are there, or of something that is no node: so it is a node of its own.
PUT_EDGES = """
UNWIND $rows AS r
MERGE (e:Edge {namespace: $ns, source_id: r.source_id, type: r.type, target_id: r.target_id})
SET e.properties = r.properties
"""
# And where both ends are there it is drawn, for whoever walks or looks at the graph.
DRAW_EDGES = """
UNWIND $rows AS r
CALL (r) {
    MATCH (a:Message {namespace: $ns, id: r.source_id}) RETURN a
    UNION MATCH (a:Conversation {namespace: $ns, id: r.source_id}) RETURN a
    UNION MATCH (a:Turn {namespace: $ns, id: r.source_id}) RETURN a
    UNION MATCH (a:ToolCall {namespace: $ns, id: r.source_id}) RETURN a
    UNION MATCH (a:Document {namespace: $ns, id: r.source_id}) RETURN a
}
CALL (r) {
    MATCH (b:Message {namespace: $ns, id: r.target_id}) RETURN b
    UNION MATCH (b:Conversation {namespace: $ns, id: r.target_id}) RETURN b
    UNION MATCH (b:Turn {namespace: $ns, id: r.target_id}) RETURN b
    UNION MATCH (b:ToolCall {namespace: $ns, id: r.target_id}) RETURN b
    UNION MATCH (b:Document {namespace: $ns, id: r.target_id}) RETURN b
}
MERGE (a)-[x:$(r.type)]->(b) SET x.properties = r.properties
"""
MARK_DELETED = """
UNWIND $ids AS id MATCH (m:Message {namespace: $ns, id: id}) SET m.deleted = $deleted
RETURN m.id AS id, m.conversation_id AS conversation_id
"""
BUMP_CONVERSATIONS = """
UNWIND $ids AS id MATCH (c:Conversation {namespace: $ns, id: id}) SET c.revision = c.revision + 1, c.digest = NULL
"""
CALLS_OF = """
UNWIND $ids AS id MATCH (t:ToolCall)-[:CALLED_BY]->(:Message {namespace: $ns, id: id}) RETURN t.id AS id
"""

# --- reading -------------------------------------------------------------------------------------------------------
CONVERSATION = """
MATCH (c:Conversation {namespace: $ns, id: $id}) RETURN properties(c) AS conversation
"""
THREAD_MESSAGES = """
MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = $id AND m.position IS NOT NULL
RETURN properties(m) AS message
"""
THREAD_TOOL_CALLS = """
MATCH (t:ToolCall) WHERE t.namespace = $ns AND t.conversation_id = $id RETURN properties(t) AS call
"""
THREAD_TURNS = """
MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id = $id AND t.position IS NOT NULL
RETURN properties(t) AS turn
"""
THREAD_CHUNKS = """
UNWIND $ids AS id MATCH (k:Chunk) WHERE k.namespace = $ns AND k.parent_id = id RETURN properties(k) AS chunk
"""
THREAD_WINDOWS = """
MATCH (w:Window) WHERE w.namespace = $ns AND w.conversation_id = $id AND w.index IS NOT NULL
RETURN properties(w) AS window ORDER BY w.index
"""
OUTLINES = """
UNWIND $spans AS s MATCH (c:Conversation {namespace: $ns, id: s.id})
OPTIONAL CALL (c) {
    MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = c.id AND m.position >= 0
    RETURN m.position AS last ORDER BY m.namespace DESC, m.conversation_id DESC, m.position DESC LIMIT 1
}
CALL (c, s) {
    MATCH (w:Window) WHERE w.namespace = $ns AND w.conversation_id = c.id AND w.index IS NOT NULL
      AND w.start <= s.last AND w.end >= s.first
    RETURN collect(properties(w)) AS windows
}
RETURN properties(c) AS conversation, last, windows
"""
END = """
MATCH (c:Conversation {namespace: $ns, id: $id})
OPTIONAL MATCH (leaf:Message {namespace: $ns, id: c.leaf_id})
OPTIONAL CALL (c) {
    MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = $id AND m.position >= 0
    RETURN m.position AS last ORDER BY m.namespace DESC, m.conversation_id DESC, m.position DESC LIMIT 1
}
OPTIONAL CALL (c) {
    MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id = $id AND t.position >= 0
    RETURN t ORDER BY t.namespace DESC, t.conversation_id DESC, t.position DESC LIMIT 1
}
OPTIONAL CALL (c) {
    MATCH (w:Window) WHERE w.namespace = $ns AND w.conversation_id = $id AND w.index >= 0
    RETURN w ORDER BY w.namespace DESC, w.conversation_id DESC, w.index DESC LIMIT 1
}
RETURN properties(c) AS conversation, properties(leaf) AS leaf, last, properties(t) AS turn, properties(w) AS window,
    EXISTS { MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id = $id AND n.named = true } AS named
"""
LIST_CONVERSATIONS = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND NOT c.deleted
  AND ($sources IS NULL OR c.source IN $sources)
  AND ($title = '' OR toLower(c.title) CONTAINS toLower($title))
  AND ($since IS NULL OR coalesce(c.updated, c.created) >= $since)
  AND ($until IS NULL OR coalesce(c.created, c.updated) < $until)
WITH c ORDER BY coalesce(c.updated, c.created, -1) DESC, c.number DESC SKIP $offset LIMIT $limit
RETURN properties(c) AS conversation, COUNT {
    MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = c.id AND m.position >= 0 AND NOT m.deleted
} AS messages
"""
CONVERSATION_IDS = "MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL RETURN c.id AS id"
MESSAGES = "UNWIND $ids AS id MATCH (m:Message {namespace: $ns, id: id}) RETURN properties(m) AS message"
AROUND = """
UNWIND range(0, size($spans) - 1) AS place
MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = $spans[place].id
  AND $spans[place].first <= m.position <= $spans[place].last
RETURN place, properties(m) AS message
"""
IDS_EXACT = """
MATCH (c:Conversation {namespace: $ns, id: $upper}) RETURN c.id AS id, 0 AS kind, c.number AS number
UNION MATCH (c:Conversation) WHERE c.namespace = $ns AND c.source_key = $key AND c.source_id = $exact
RETURN c.id AS id, 0 AS kind, c.number AS number
UNION MATCH (m:Message {namespace: $ns, id: $upper}) RETURN m.id AS id, 1 AS kind, m.number AS number
UNION MATCH (m:Message) WHERE m.namespace = $ns AND m.source_key = $key AND m.source_id = $exact
RETURN m.id AS id, 1 AS kind, m.number AS number
"""
IDS_ENDING = """
CALL () {
    MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND c.id ENDS WITH $upper
    RETURN c.id AS id, 0 AS kind, c.number AS number
    UNION ALL MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL AND m.id ENDS WITH $upper
    RETURN m.id AS id, 1 AS kind, m.number AS number
}
RETURN id, kind, number ORDER BY kind, number LIMIT $limit
"""
TOOL_CALLS = """
UNWIND $ids AS id MATCH (t:ToolCall {namespace: $ns, id: id})
OPTIONAL MATCH (m:Message {namespace: $ns, id: t.result_message_id})
RETURN properties(t) AS call, m.content AS result
"""
DOCUMENT_IDS = "MATCH (d:Document) WHERE d.namespace = $ns AND d.id IS NOT NULL RETURN d.id AS id"
DOCUMENTS = "UNWIND $ids AS id MATCH (d:Document {namespace: $ns, id: id}) RETURN properties(d) AS document"
EDGES = """
MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id IS NOT NULL AND e.type IS NOT NULL AND e.target_id IS NOT NULL
RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties
"""
# The relations that fields say, beside those written as edges; one face for both.
OUTWARD = """
MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id = $id AND e.type IS NOT NULL AND e.target_id IS NOT NULL
RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties
UNION ALL MATCH (a:Message {namespace: $ns, id: $id})-[r:REPLIES_TO]->(b)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (a:ToolCall {namespace: $ns, id: $id})-[r:CALLED_BY]->(b)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (a:Chunk {namespace: $ns, id: $id})-[r:CHUNK_OF]->(b)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (a:Conversation {namespace: $ns, id: $id})-[r:HAS_TURN]->(b)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (a:Turn {namespace: $ns, id: $id})-[r:NEXT_TURN|HAS_QUERY|HAS_RESPONSE]->(b)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
"""
INWARD = """
MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id = $id
RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties
UNION ALL MATCH (b:Message {namespace: $ns, id: $id})<-[r:REPLIES_TO|CALLED_BY|CHUNK_OF|HAS_QUERY|HAS_RESPONSE]-(a)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (b:ToolCall {namespace: $ns, id: $id})<-[r:CHUNK_OF]-(a)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (b:Document {namespace: $ns, id: $id})<-[r:CHUNK_OF]-(a)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
UNION ALL MATCH (b:Turn {namespace: $ns, id: $id})<-[r:HAS_TURN|NEXT_TURN]-(a)
RETURN a.id AS source, type(r) AS type, b.id AS target, NULL AS properties
"""

# --- counting: of the whole namespace, or of the conversations in $ids ---------------------------------------------
COUNT_CONVERSATIONS = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND NOT c.deleted AND ($ids IS NULL OR c.id IN $ids)
RETURN c.source AS source, count(*) AS number ORDER BY number DESC, source
"""
COUNT_MESSAGES = """
MATCH (m:Message) WHERE m.namespace = $ns AND m.id IS NOT NULL AND NOT m.deleted
  AND ($ids IS NULL OR m.conversation_id IN $ids)
RETURN m.kind AS kind, count(*) AS number, sum(CASE WHEN m.active THEN 1 ELSE 0 END) AS active,
    sum(coalesce(m.attachments, 0)) AS attachments, min(m.timestamp) AS first, max(m.timestamp) AS last
"""
COUNT_REST = """
RETURN
  COUNT { MATCH (t:ToolCall) WHERE t.namespace = $ns AND t.id IS NOT NULL
    AND ($ids IS NULL OR t.conversation_id IN $ids) } AS tool_calls,
  COUNT { MATCH (d:Document) WHERE d.namespace = $ns AND d.id IS NOT NULL } AS documents,
  COUNT { MATCH (t:Turn) WHERE t.namespace = $ns AND t.id IS NOT NULL AND ($ids IS NULL OR t.conversation_id IN $ids) }
    AS turns,
  COUNT { MATCH (k:Chunk) WHERE k.namespace = $ns AND k.id IS NOT NULL } AS chunks,
  COUNT { MATCH (w:Window) WHERE w.namespace = $ns AND w.conversation_id IS NOT NULL AND w.index >= 0
    AND ($ids IS NULL OR w.conversation_id IN $ids) } AS windows,
  COUNT { MATCH (p:Passage) WHERE p.space = $space AND p.lane IN [0, 1, 2] AND p.row >= 0 AND p.gone IS NULL }
    AS passages,
  COUNT { MATCH (q:Quality) WHERE q.space = $space AND q.lane IN [0, 1, 2] AND q.row >= 0 } AS quality,
  COUNT { MATCH (p:Passage) WHERE p.space = $space AND p.lane = 0 AND p.row >= 0 AND p.gone IS NULL } AS said
"""
