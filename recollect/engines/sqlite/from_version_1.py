"""From 0.1.0 to version 2: the record stays, what is derived is thrown away, to be made again from it.

The large tables are changed in place, the small ones copied. Tables and indexes that are not there are made as
schema.sql has them (when version 3 comes, the schema.sql of today is kept for this under another name).
"""

from __future__ import annotations

import contextlib
import secrets
from importlib import resources
from typing import Any

import apsw
import orjson

from recollect.engines.codec import encode, names
from recollect.record import Message, NodeId, Role, Version, from_microseconds

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
    for name, sql in _schema():
        if name not in there:
            connection.execute(sql)
    connection.execute(COPY_ABOUT, (secrets.token_hex(16),))
    connection.execute(COPY)
    edited: list[Any] = connection.execute(EDITED).fetchall()
    connection.executemany(PACK, [(_packed(content, versions), num) for num, content, versions in edited])


def _schema() -> list[Any]:
    """What version 2 consists of: names and statements."""
    with contextlib.closing(apsw.Connection(":memory:")) as empty:
        empty.execute(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
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
