"""The columns that a record is read from, in the order of `recollect.store.rows`."""

CONVERSATION = "c.id, c.source, c.source_id, c.title, c.created, c.updated, c.leaf_id, c.metadata, c.deleted"
MESSAGE = (
    "m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,"
    " m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted"
)
TOOL_CALL = (
    "t.id, t.message_id, c.id, t.name, t.arguments, t.result, t.result_message_id, t.timestamp, t.position, t.metadata"
)
TURN = "t.id, c.id, t.position, t.query_id, t.response_ids, t.resolved_query, t.entities, t.source_chunk_ids"
CHUNK = "id, parent_id, idx, start, end, tokens, part"
DOCUMENT = "id, source, title, content, source_id, created, metadata"
