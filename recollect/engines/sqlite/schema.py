"""The schema: which columns hold the fields of records, and the steps that bring a store to the newest version.

`PRAGMA user_version` holds the version. From 0.1.0 (version 1) to version 2 the record stays and what is derived is
thrown away, to be made again from it: the large tables are changed in place, the small ones copied.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import apsw
import orjson

from recollect.engines.codec import encode, names
from recollect.engines.sqlite import file
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Message,
    Namespace,
    Node,
    NodeId,
    Role,
    ToolCall,
    Turn,
    Version,
    from_microseconds,
)
from recollect.store.change import Record
from recollect.version import VERSION as PROGRAM

#: The tables of the record, and what a row of each becomes.
RECORDS: Mapping[str, type[Record]] = {
    "conversation": Conversation,
    "message": Message,
    "tool_call": ToolCall,
    "turn": Turn,
    "chunk": Chunk,
    "document": Document,
    "node": Node,
}
#: Members of a JSON list that a statement is given.
IDS = "(SELECT value FROM json_each(?2))"


def columns(table: str) -> list[str]:
    """The columns of the fields of a table's records, in their order. What belongs to a conversation has its number."""
    other = {"index": "idx"} if table == "node" else {"index": "idx", "conversation_id": "conversation"}
    return [other.get(name, name) for name in names(RECORDS[table])]


def selected(table: str, own: str, **others: str) -> str:
    """The same as they are read from a table of the name `own` and its conversation `c`; some from elsewhere."""
    elsewhere = {"conversation": "c.id", **others}
    return ", ".join(elsewhere.get(name, f"{own}.{name}") for name in columns(table))


CONVERSATION_COLUMNS = selected("conversation", "c")
MESSAGE_COLUMNS = selected("message", "m")
#: A result that is a message of its own, `r`, is filled in.
TOOL_CALL_COLUMNS = selected("tool_call", "t", result="coalesce(nullif(t.result, ''), r.content, '')")
TURN_COLUMNS = selected("turn", "t")
CHUNK_COLUMNS = selected("chunk", "k")
DOCUMENT_COLUMNS = selected("document", "d")
NODE_COLUMNS = selected("node", "n")

DROP_DERIVED = """
DROP TABLE IF EXISTS sqlite_stat1; -- samples of what stands in the indexes
DROP TABLE IF EXISTS sqlite_stat4;
DROP TABLE words;
DROP TABLE passage;
DROP TABLE speaker;
DROP TABLE tail;
DROP TABLE segment;
DROP TABLE posting;
DROP TABLE window_vector;
DROP TABLE quality_vector;
DROP TABLE quality_token;
DROP TABLE piece_count;
DROP TABLE window;
"""
# Positions that a damaged store holds twice, in the order in which they were shown.
RENUMBER = """
UPDATE message SET position = placed.place FROM (
    SELECT num, row_number() OVER (PARTITION BY conversation ORDER BY position, num) - 1 AS place FROM message
    WHERE conversation IN (
        SELECT conversation FROM message GROUP BY conversation HAVING count(*) != count(DISTINCT position))) placed
WHERE placed.num = message.num
"""
DROP_INDEXES = """
DROP INDEX conversation_by_time;
DROP INDEX conversation_by_source_id;
DROP INDEX message_by_position;
DROP INDEX message_by_parent;
DROP INDEX message_named;
DROP INDEX message_by_source_id;
DROP INDEX turn_by_position;
DROP INDEX turn_by_query;
DROP INDEX edge_inward;
"""
# References to these tables shall go on meaning the new ones of their names.
SET_ASIDE = """
PRAGMA legacy_alter_table = ON;
ALTER TABLE about RENAME TO old_about;
ALTER TABLE namespace RENAME TO old_namespace;
ALTER TABLE conversation RENAME TO old_conversation;
ALTER TABLE turn RENAME TO old_turn;
ALTER TABLE document RENAME TO old_document;
ALTER TABLE edge RENAME TO old_edge;
PRAGMA legacy_alter_table = OFF;
"""
GROW = "ALTER TABLE message ADD COLUMN erased INTEGER NOT NULL DEFAULT 0"
MISSING = "SELECT name FROM sqlite_schema"
WANTED = """
SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'words_*' ORDER BY rowid
"""
COPY_ABOUT = "INSERT INTO about (one, written_by, identity, scrub) VALUES (1, '', ?, 1)"
COPY = """
INSERT INTO namespace (num, name, unindexed) SELECT ns, name,
    EXISTS (SELECT 1 FROM old_conversation c WHERE c.ns = n.ns)
    OR EXISTS (SELECT 1 FROM old_document d WHERE d.ns = n.ns)
FROM old_namespace n;
INSERT INTO conversation (num, ns, id, source, source_id, created, updated, leaf_id, deleted, revision, digest, title,
    metadata)
SELECT num, ns, id, source, source_id, created, updated, leaf_id, deleted, revision, digest, title,
    nullif(metadata, '{}')
FROM old_conversation ORDER BY num;
INSERT INTO turn (num, ns, id, conversation, position, query_id, response_ids, resolved_query, entities,
    source_chunk_ids)
SELECT num, ns, id, conversation, position, query_id, nullif(response_ids, '[]'), resolved_query, entities,
    source_chunk_ids
FROM old_turn ORDER BY num;
INSERT INTO document (num, ns, id, source, source_id, created, revision, title, metadata, content)
SELECT num, ns, id, source, source_id, created, 1, title, metadata, content FROM old_document ORDER BY num;
INSERT INTO edge (ns, source_id, type, target_id, name, properties)
SELECT ns, source_id, type, target_id, '', nullif(properties, '{}') FROM old_edge;
DROP TABLE old_edge;
DROP TABLE old_document;
DROP TABLE old_turn;
DROP TABLE old_conversation;
DROP TABLE old_namespace;
DROP TABLE old_about;
"""
EDITED = "SELECT num, content, versions FROM message WHERE versions IS NOT NULL"
PACK = "UPDATE message SET versions = ? WHERE num = ?"


def from_version_1(connection: apsw.Connection) -> None:
    """Version 1 to version 2, within a transaction and with foreign keys off."""
    connection.execute(DROP_DERIVED)
    connection.execute(RENUMBER)
    connection.execute(DROP_INDEXES)
    connection.execute(SET_ASIDE)
    connection.execute(GROW)
    there = {row[0] for row in connection.execute(MISSING)}
    for name, sql in _wanted():
        if name not in there:
            connection.execute(sql)
    connection.execute(COPY_ABOUT, (os.urandom(16).hex(),))
    connection.execute(COPY)
    edited: list[Any] = connection.execute(EDITED).fetchall()
    connection.executemany(PACK, [(_packed(content, versions), num) for num, content, versions in edited])


def schema() -> str:
    """The tables and indexes of today, as statements."""
    from importlib import resources

    return resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")


def _wanted() -> list[Any]:
    """What version 2 consists of: names and statements."""
    with contextlib.closing(apsw.Connection(":memory:")) as empty:
        empty.execute(schema())
        return empty.execute(WANTED).fetchall()


def _packed(content: str, versions: str) -> Any:
    """Earlier wordings as they are stored now."""
    found = []
    for version in orjson.loads(versions):
        replaced_at = from_microseconds(version["replaced_at"])
        if replaced_at is not None:
            found.append(Version(version["content"], replaced_at))
    message = Message(NodeId(""), NodeId(""), Role.USER, content, versions=tuple(found))
    return encode(message)[names(Message).index("versions")]


# The schema's versions: a list of small functions, each bringing a store one version further.

VERSION = "PRAGMA user_version"
SET_VERSION = "PRAGMA user_version = 3"
# Within a transaction the first would do nothing, and tables are rebuilt; the file is written anew afterwards, so that
# nothing has to be overwritten here.
BEFORE = "PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF"
AFTER = "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON"
WRITTEN_BY = "SELECT written_by FROM about"
NOTE_WRITER = "UPDATE about SET written_by = ?"
ABOUT = "INSERT INTO about (one, written_by, identity) VALUES (1, ?, ?)"
IS_FOREIGN = "SELECT count(*) > 0 AND sum(name = 'namespace') = 0 FROM sqlite_schema"

# Calls that were stored live belonged to their results. Each belongs to the message that called: the nearest above that
# is no result of another call.
OF_THEIR_CALLERS = """
UPDATE tool_call SET message_id = coalesce((
    WITH RECURSIVE up (depth, id, parent_id, role) AS (
        SELECT 0, id, parent_id, role FROM message WHERE ns = tool_call.ns AND id = tool_call.result_message_id
        UNION ALL SELECT up.depth + 1, m.id, m.parent_id, m.role
        FROM up CROSS JOIN message m ON m.ns = tool_call.ns AND m.id = up.parent_id WHERE up.role = 'tool')
    SELECT id FROM up WHERE role != 'tool' ORDER BY depth LIMIT 1), message_id)
WHERE message_id = result_message_id
"""
# As in schema.sql, which a store of version 1 has taken them from already.
OF_NODES = """
DROP INDEX IF EXISTS node_by_time;
CREATE INDEX IF NOT EXISTS node_by_kind ON node (ns, kind, coalesce(valid_from, -9223372036854775808), id);
CREATE INDEX IF NOT EXISTS fact_by_attribute
ON node (ns, substr(body ->> 'attribute', 1, instr((body ->> 'attribute') || ' of ', ' of ') - 1)) WHERE kind = 'fact';
CREATE INDEX IF NOT EXISTS fact_pinned ON node (ns, kind) WHERE kind = 'fact' AND body ->> 'pinned';
"""
NAMES = "SELECT name FROM namespace"
RENAME = "UPDATE namespace SET name = ? WHERE name = ?"

#: The version that this program reads and writes.
NEWEST = 3


def create(connection: apsw.Connection) -> None:
    """An empty store, as of today."""
    connection.execute(schema())
    connection.execute(ABOUT, (PROGRAM, os.urandom(16).hex()))


def from_version_2(connection: apsw.Connection) -> None:
    """The tables are the same; tool calls are mended, users have other namespaces, facts are found by attribute."""
    from recollect.engines.plans import renamed

    connection.execute(OF_THEIR_CALLERS)
    connection.execute(OF_NODES)
    for before, today in renamed([Namespace(name) for (name,) in connection.execute(NAMES)]):
        connection.execute(RENAME, (today, before))


#: By the version that they start from.
MIGRATIONS: dict[int, Callable[[apsw.Connection], None]] = {0: create, 1: from_version_1, 2: from_version_2}
_LEADS_TO = {0: NEWEST, 1: 2, 2: 3}


def migrate(connection: apsw.Connection) -> bool:
    """Brings the store to the newest version, from whichever. Returns whether an older one was there.

    Several processes may try at once. Raises StoreError for a store written by a newer Recollect.
    """
    if version(connection) == NEWEST:
        return False
    connection.execute(BEFORE)
    connection.execute("BEGIN IMMEDIATE")
    try:
        began = at = version(connection)
        require(connection, at)
        while at < NEWEST:
            MIGRATIONS[at](connection)
            at = _LEADS_TO[at]
        connection.execute(NOTE_WRITER, (PROGRAM,))
        connection.execute(SET_VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute(AFTER)
    return 0 < began < NEWEST


def version(connection: apsw.Connection) -> int:
    """Of the schema, as the transaction sees it."""
    found: int = connection.execute(VERSION).get
    return found


def require(connection: apsw.Connection, found: int) -> None:
    """Raises StoreError where a newer program has brought the schema further, be it while this one runs."""
    if found > NEWEST:
        raise file.newer(_writer(connection), PROGRAM, found, NEWEST)


def is_foreign(connection: apsw.Connection) -> bool:
    """Whether the file is a database, but somebody else's."""
    return bool(connection.execute(IS_FOREIGN).get)


def _writer(connection: apsw.Connection) -> str:
    try:
        return str(connection.execute(WRITTEN_BY).get)
    except apsw.SQLError:  # it is told otherwise there
        return "of a newer version"
