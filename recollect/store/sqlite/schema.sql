-- The graph. Times are microseconds since 1970 in UTC, maps are JSON. Every row belongs to one namespace (ns).
CREATE TABLE about (
    written_by TEXT NOT NULL -- the newest Recollect that brought the schema further
);
CREATE TABLE namespace (
    ns INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    embedder TEXT,
    changes INTEGER NOT NULL DEFAULT 0 -- counts what a loaded index cannot see from new passages alone (deaths, quality vectors)
);
CREATE TABLE conversation (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    source_id TEXT,
    title TEXT NOT NULL,
    created INTEGER,
    updated INTEGER,
    leaf_id TEXT,
    metadata TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL,
    digest TEXT,
    UNIQUE (ns, id)
);
CREATE INDEX conversation_by_time ON conversation (ns, updated, num);
CREATE INDEX conversation_by_source_id ON conversation (ns, source_id);
CREATE TABLE message (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    speaker TEXT,
    timestamp INTEGER,
    parent_id TEXT,
    source_id TEXT,
    active INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL,
    model TEXT,
    parts TEXT, -- JSON list, NULL: none
    metadata TEXT, -- JSON, NULL: empty
    versions TEXT, -- JSON list of earlier wordings, NULL: none
    content TEXT NOT NULL,
    UNIQUE (ns, id)
);
CREATE INDEX message_by_position ON message (conversation, position);
CREATE INDEX message_by_parent ON message (ns, parent_id);
CREATE INDEX message_named ON message (conversation) WHERE speaker IS NOT NULL AND kind = 'said';
CREATE INDEX message_by_source_id ON message (ns, source_id);
CREATE TABLE tool_call (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT NOT NULL,
    result_message_id TEXT,
    timestamp INTEGER,
    metadata TEXT,
    UNIQUE (ns, id)
);
CREATE INDEX tool_call_by_message ON tool_call (ns, message_id);
CREATE INDEX tool_call_by_conversation ON tool_call (conversation);
CREATE TABLE turn (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation,
    position INTEGER NOT NULL,
    query_id TEXT NOT NULL,
    response_ids TEXT NOT NULL, -- JSON list
    resolved_query TEXT,
    entities TEXT, -- JSON list, NULL: none
    source_chunk_ids TEXT, -- JSON list, NULL: none
    UNIQUE (ns, id)
);
CREATE INDEX turn_by_position ON turn (conversation, position);
CREATE INDEX turn_by_query ON turn (ns, query_id);
CREATE TABLE chunk (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    part INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    UNIQUE (ns, id)
);
CREATE INDEX chunk_by_parent ON chunk (ns, parent_id, part, idx);
CREATE TABLE window (
    conversation INTEGER NOT NULL REFERENCES conversation,
    idx INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    PRIMARY KEY (conversation, idx)
) WITHOUT ROWID;
CREATE TABLE document (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    source_id TEXT,
    title TEXT NOT NULL,
    created INTEGER,
    metadata TEXT,
    content TEXT NOT NULL,
    UNIQUE (ns, id)
);
CREATE TABLE edge (
    ns INTEGER NOT NULL REFERENCES namespace,
    source_id TEXT NOT NULL,
    type TEXT NOT NULL,
    target_id TEXT NOT NULL,
    properties TEXT NOT NULL,
    PRIMARY KEY (ns, source_id, type, target_id)
) WITHOUT ROWID;
CREATE INDEX edge_inward ON edge (ns, target_id, type, source_id);

-- Derived for search; all of it can be thrown away and made again from the messages (docs/explanation/store.md).
CREATE TABLE passage (
    num INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that a loaded index knows when all was made anew
    ns INTEGER NOT NULL REFERENCES namespace,
    lane INTEGER NOT NULL,
    row INTEGER NOT NULL, -- dense within (ns, lane): its place in the loaded index
    owner INTEGER NOT NULL,
    owner_id TEXT NOT NULL,
    part INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    sitting INTEGER NOT NULL, -- number of the message that began it, 0: none
    dead INTEGER NOT NULL DEFAULT 0, -- its owner was edited or deleted
    UNIQUE (ns, lane, row)
);
CREATE INDEX passage_by_owner ON passage (ns, owner_id);
CREATE INDEX passage_dead ON passage (ns, lane, row) WHERE dead;
CREATE TABLE speaker (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    name TEXT NOT NULL,
    UNIQUE (ns, name)
);
-- Passages not yet in a segment: their columns, vector and term counts one by one.
CREATE TABLE tail (
    ns INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    row INTEGER NOT NULL,
    columns BLOB NOT NULL,
    vector BLOB NOT NULL,
    terms TEXT NOT NULL, -- JSON {term: count}
    PRIMARY KEY (ns, lane, row)
);
-- Runs of passages, sealed: columns and vectors side by side, and per term the rows that hold it.
CREATE TABLE segment (
    ns INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    columns BLOB NOT NULL,
    vectors BLOB NOT NULL,
    PRIMARY KEY (ns, lane, first)
);
CREATE TABLE posting (
    ns INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    term TEXT NOT NULL,
    first INTEGER NOT NULL, -- of its segment
    rows BLOB NOT NULL, -- uint32, ascending
    counts BLOB NOT NULL, -- uint8
    PRIMARY KEY (ns, lane, term, first)
) WITHOUT ROWID;
CREATE TABLE window_vector (
    num INTEGER PRIMARY KEY, -- of the passage
    vectors BLOB NOT NULL -- int8 (n, d)
);
CREATE TABLE quality_vector (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL,
    vector BLOB NOT NULL -- int8 (384)
);
CREATE INDEX quality_by_namespace ON quality_vector (ns, num);
CREATE TABLE quality_token (
    num INTEGER PRIMARY KEY,
    pieces BLOB NOT NULL, -- uint16 (t)
    vectors BLOB NOT NULL -- int8 (t, 128)
);
CREATE TABLE piece_count (
    ns INTEGER PRIMARY KEY,
    passages INTEGER NOT NULL,
    counts BLOB NOT NULL -- uint32 (vocabulary): in how many passages a word piece stands
);
-- Surface words: phrases and identifiers as typed. `scope` is one token a namespace and lane.
CREATE VIRTUAL TABLE words USING fts5 (
    scope, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
