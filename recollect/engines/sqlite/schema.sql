-- The store, version 3. Times are microseconds since 1970 in UTC, maps and lists are JSON (NULL: empty). Every row belongs
-- to one namespace (ns), or to a generation (gen) of one. Columns have the names of the fields that they hold.
CREATE TABLE about (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    written_by TEXT NOT NULL, -- the newest Recollect that brought the schema further
    identity TEXT NOT NULL, -- of this store: what is kept beside the file belongs to it alone
    scrub INTEGER NOT NULL DEFAULT 0 -- 1: bytes of erased words may still be in the file
);
CREATE TABLE namespace (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    generations INTEGER NOT NULL DEFAULT 0, -- that ever began
    unindexed INTEGER NOT NULL DEFAULT 0 -- 1: has records of an older version without passages, until a generation is published
);
CREATE TABLE conversation (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    source_id TEXT,
    created INTEGER,
    updated INTEGER,
    leaf_id TEXT,
    deleted INTEGER NOT NULL DEFAULT 0,
    erased INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL,
    digest TEXT,
    title TEXT NOT NULL,
    metadata TEXT,
    UNIQUE (ns, id)
);
CREATE INDEX conversation_by_time ON conversation (ns, coalesce(updated, created, -9223372036854775808), id);
CREATE INDEX conversation_by_source_id ON conversation (ns, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX conversation_by_ending ON conversation (substr(id, -8) COLLATE NOCASE);
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
    erased INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL,
    model TEXT,
    parts TEXT,
    metadata TEXT,
    versions TEXT,
    content TEXT NOT NULL,
    UNIQUE (ns, id)
);
CREATE UNIQUE INDEX message_by_position ON message (conversation, position);
CREATE INDEX message_by_parent ON message (ns, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX message_by_source_id ON message (ns, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX message_by_time ON message (ns, coalesce(timestamp, -9223372036854775808), id);
CREATE INDEX message_by_ending ON message (substr(id, -8) COLLATE NOCASE);
CREATE INDEX message_by_speaker ON message (ns, speaker) WHERE speaker IS NOT NULL AND NOT deleted;
CREATE INDEX message_named ON message (conversation) WHERE speaker IS NOT NULL AND kind = 'said';
CREATE INDEX message_deleted ON message (conversation) WHERE deleted;
CREATE TABLE tool_call (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation,
    message_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    result_message_id TEXT,
    timestamp INTEGER,
    arguments TEXT NOT NULL,
    result TEXT NOT NULL,
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
    response_ids TEXT,
    resolved_query TEXT,
    entities TEXT,
    source_chunk_ids TEXT,
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
CREATE TABLE document (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    source_id TEXT,
    created INTEGER,
    erased INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT,
    versions TEXT,
    content TEXT NOT NULL,
    UNIQUE (ns, id)
);
CREATE TABLE node (
    num INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    conversation_id TEXT,
    valid_from INTEGER,
    valid_to INTEGER,
    score REAL NOT NULL,
    origin TEXT NOT NULL,
    made_by TEXT NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL,
    text TEXT NOT NULL,
    body TEXT,
    UNIQUE (ns, id)
);
CREATE INDEX node_by_key ON node (ns, key, kind, state);
CREATE INDEX node_by_conversation ON node (ns, conversation_id, coalesce(valid_from, -9223372036854775808), id)
    WHERE conversation_id IS NOT NULL;
CREATE INDEX node_by_kind ON node (ns, kind, coalesce(valid_from, -9223372036854775808), id);
CREATE INDEX fact_by_attribute
    ON node (ns, substr(body ->> 'attribute', 1, instr((body ->> 'attribute') || ' of ', ' of ') - 1))
    WHERE kind = 'fact';
CREATE INDEX fact_pinned ON node (ns, kind) WHERE kind = 'fact' AND body ->> 'pinned';
CREATE TABLE edge (
    ns INTEGER NOT NULL REFERENCES namespace,
    source_id TEXT NOT NULL,
    type TEXT NOT NULL,
    target_id TEXT NOT NULL,
    name TEXT NOT NULL,
    properties TEXT,
    PRIMARY KEY (ns, source_id, type, target_id, name)
) WITHOUT ROWID;
CREATE INDEX edge_inward ON edge (ns, target_id, type, source_id, name);
CREATE TABLE task (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    ns INTEGER NOT NULL REFERENCES namespace,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT,
    due INTEGER, -- as it was put; NULL: at once
    ready INTEGER NOT NULL, -- when it can be claimed: due, the end of a lease, a further attempt
    dead INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    worker TEXT, -- who holds it, NULL: nobody
    why TEXT NOT NULL DEFAULT '',
    payload BLOB NOT NULL,
    answer BLOB,
    UNIQUE (ns, id)
);
CREATE INDEX task_ready ON task (ns, ready, num) WHERE NOT dead;
CREATE INDEX task_by_subject ON task (ns, subject) WHERE subject IS NOT NULL;

-- Derived for search; all of it can be thrown away and made again from the record (docs/explanation/store.md).
CREATE TABLE generation (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    ns INTEGER NOT NULL REFERENCES namespace,
    number INTEGER NOT NULL, -- within the namespace, from 1
    state TEXT NOT NULL CHECK (state IN ('live', 'building', 'garbage')),
    embedder TEXT NOT NULL,
    size INTEGER NOT NULL, -- of its vectors
    built TEXT, -- how far the builder has come
    wordless INTEGER NOT NULL DEFAULT 0 -- 1: the full-text table was damaged and made anew since
);
CREATE UNIQUE INDEX generation_in_use ON generation (ns, state) WHERE state != 'garbage';
CREATE INDEX generation_by_namespace ON generation (ns);
CREATE TABLE todo (
    gen INTEGER NOT NULL REFERENCES generation,
    owner_id TEXT NOT NULL, -- written since the generation began
    PRIMARY KEY (gen, owner_id)
) WITHOUT ROWID;
-- Where a partition stands: see IndexState.
CREATE TABLE index_state (
    gen INTEGER NOT NULL REFERENCES generation,
    partition INTEGER NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    last INTEGER NOT NULL DEFAULT 0,
    sealed INTEGER NOT NULL DEFAULT 0,
    deaths INTEGER NOT NULL DEFAULT 0,
    quality INTEGER NOT NULL DEFAULT 0,
    compacting INTEGER NOT NULL DEFAULT 0, -- the place in the log of deaths up to which segments are being written anew
    PRIMARY KEY (gen, partition)
) WITHOUT ROWID;
-- The living passages.
CREATE TABLE passage (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    gen INTEGER NOT NULL REFERENCES generation,
    partition INTEGER NOT NULL,
    owner INTEGER NOT NULL, -- what kind of thing owns it: see Owner
    owner_num INTEGER NOT NULL, -- its num in message, tool_call, document, conversation or node
    part INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    session INTEGER NOT NULL, -- number of the message that began it, 0: none
    embedded INTEGER NOT NULL DEFAULT 0 -- 1: it has quality vectors
);
CREATE INDEX passage_by_owner ON passage (gen, owner, owner_num);
CREATE INDEX passage_unembedded ON passage (gen) WHERE partition = 0 AND NOT embedded;
-- Passages that were written and are in no segment yet.
CREATE TABLE tail (
    num INTEGER PRIMARY KEY,
    gen INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    columns BLOB NOT NULL,
    vector BLOB NOT NULL, -- int8
    terms TEXT NOT NULL -- JSON {term: count}
);
CREATE INDEX tail_by_partition ON tail (gen, partition);
-- Runs of passages, sealed. The data stand apart, so that a list of segments does not read them.
CREATE TABLE segment (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    gen INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    state INTEGER NOT NULL, -- 1: in use, 0: written anew and not yet in use
    replaces INTEGER -- of state 0: the segment whose place it takes
);
CREATE INDEX segment_by_partition ON segment (gen, partition, state, first);
CREATE TABLE segment_data (
    num INTEGER PRIMARY KEY, -- of the segment; without one: left over, to be swept
    data BLOB NOT NULL
);
-- The log of deaths since the segments were last written anew.
CREATE TABLE death (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gen INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    num INTEGER NOT NULL, -- of the passage
    sealed INTEGER NOT NULL, -- 1: it lay in a segment, where its words are until that is written anew
    owner INTEGER NOT NULL,
    owner_num INTEGER NOT NULL
);
CREATE INDEX death_by_partition ON death (gen, partition);
CREATE INDEX death_by_owner ON death (gen, owner, owner_num) WHERE sealed;
CREATE TABLE run_vector (
    num INTEGER PRIMARY KEY, -- of the passage
    vectors BLOB NOT NULL -- int8 (n, d)
);
-- Quality vectors, which are also the log of them: seq ascends with every one that is added.
CREATE TABLE quality_vector (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    num INTEGER NOT NULL UNIQUE, -- of the passage
    gen INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    vector BLOB NOT NULL -- int8 (384)
);
CREATE INDEX quality_by_partition ON quality_vector (gen, partition);
CREATE TABLE quality_token (
    seq INTEGER PRIMARY KEY, -- of the quality vector
    pieces BLOB NOT NULL, -- uint16 (t)
    vectors BLOB NOT NULL -- int8 (t, 128)
);
CREATE TABLE piece_count (
    gen INTEGER PRIMARY KEY,
    passages INTEGER NOT NULL,
    counts BLOB NOT NULL -- uint32 (65,536): in how many passages a word piece stands
);
CREATE TABLE speaker (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    ns INTEGER NOT NULL REFERENCES namespace,
    name TEXT NOT NULL,
    UNIQUE (ns, name)
);
-- Surface words: phrases and identifiers as typed. `scope` is one token a generation and partition.
CREATE VIRTUAL TABLE words USING fts5 (
    scope, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
