"""Constraints and indexes, and the version of the schema.

They are looked for first, and only what is missing is made, so that a read-only member opens too. Strings that are
indexed are short: ids, names, and keys made of what may be long (`records.key`). Texts are in the full-text index
alone, which has no limit. Every record is a `Node` with an id of its own in its namespace, beside its other labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

import neo4j

from recollect.engines.neo4j.connection import Server
from recollect.engines.plans import renamed
from recollect.errors import StoreError, StoreUnusable

#: Raised when statements of an older Recollect would do harm. 0.1.0 wrote none, and is told by that.
VERSION = 3

SHOW = "SHOW INDEXES YIELD name, type, state, properties RETURN name, type, state, properties"
AWAIT = "CALL db.awaitIndexes(300)"
LOOK = """
OPTIONAL MATCH (s:Schema {name: 'recollect'})
RETURN s.version AS version, EXISTS { MATCH (n:Namespace) WHERE n.name IS NOT NULL } AS filled
"""
MARK = "MERGE (s:Schema {name: 'recollect'}) ON CREATE SET s.version = $version"

SET_VERSION = "MATCH (s:Schema {name: 'recollect'}) SET s.version = $version"
# Calls that were stored live belonged to their results. Each belongs to the message that called: the nearest above that
# is no result of another call.
OF_THEIR_CALLERS: LiteralString = """
MATCH (t:ToolCall)-[x:CALLED_BY]->(r:Message) WHERE t.message_id = t.result_message_id
MATCH path = (r)-[:REPLIES_TO*1..]->(m:Message) WHERE m.role <> 'tool'
  AND all(n IN nodes(path)[..-1] WHERE n.role = 'tool')
DELETE x MERGE (t)-[:CALLED_BY]->(m) SET t.message_id = m.id
"""
NAMES = "MATCH (n:Namespace) WHERE n.name IS NOT NULL RETURN n.name AS name"
RENAME: tuple[LiteralString, ...] = (
    "MATCH (n:Namespace {name: $before}) SET n.name = $today",
    "MATCH (x:Node) WHERE x.namespace = $before AND x.id IS NOT NULL SET x.namespace = $today",
    "MATCH (e:Edge) WHERE e.namespace = $before AND e.target_id IS NOT NULL SET e.namespace = $today",
    "MATCH (t:Task) WHERE t.namespace = $before AND t.id IS NOT NULL SET t.namespace = $today",
    "MATCH (g:Generation) WHERE g.namespace = $before AND g.number > 0 SET g.namespace = $today",
)

UNIQUE: Mapping[str, LiteralString] = {
    "schema_name": "CREATE CONSTRAINT schema_name IF NOT EXISTS FOR (s:Schema) REQUIRE s.name IS UNIQUE",
    "counter_key": "CREATE CONSTRAINT counter_key IF NOT EXISTS FOR (k:Counter) REQUIRE k.name IS UNIQUE",
    "namespace_key": "CREATE CONSTRAINT namespace_key IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE",
    "node_id": "CREATE CONSTRAINT node_id IF NOT EXISTS FOR (n:Node) REQUIRE (n.namespace, n.id) IS UNIQUE",
    "message_position": """
        CREATE CONSTRAINT message_position IF NOT EXISTS
        FOR (m:Message) REQUIRE (m.namespace, m.conversation_id, m.position) IS UNIQUE""",
    "edge_key": """
        CREATE CONSTRAINT edge_key IF NOT EXISTS
        FOR (e:Edge) REQUIRE (e.namespace, e.source_id, e.type, e.target_id, e.name) IS UNIQUE""",
    "task_id": "CREATE CONSTRAINT task_id IF NOT EXISTS FOR (t:Task) REQUIRE (t.namespace, t.id) IS UNIQUE",
    "generation_space": "CREATE CONSTRAINT generation_space IF NOT EXISTS FOR (g:Generation) REQUIRE g.space IS UNIQUE",
    "partition_key": """
        CREATE CONSTRAINT partition_key IF NOT EXISTS FOR (x:Partition) REQUIRE (x.space, x.partition) IS UNIQUE""",
    "passage_key": "CREATE CONSTRAINT passage_key IF NOT EXISTS FOR (p:Passage) REQUIRE (p.space, p.number) IS UNIQUE",
    "quality_key": "CREATE CONSTRAINT quality_key IF NOT EXISTS FOR (q:Quality) REQUIRE (q.space, q.number) IS UNIQUE",
    "segment_first": """
        CREATE CONSTRAINT segment_first IF NOT EXISTS
        FOR (s:IndexSegment) REQUIRE (s.space, s.partition, s.first) IS UNIQUE""",
    "tail_last": """
        CREATE CONSTRAINT tail_last IF NOT EXISTS FOR (t:Tail) REQUIRE (t.space, t.partition, t.last) IS UNIQUE""",
    "death_place": """
        CREATE CONSTRAINT death_place IF NOT EXISTS
        FOR (d:Death) REQUIRE (d.space, d.partition, d.place) IS UNIQUE""",
    "speaker_name": "CREATE CONSTRAINT speaker_name IF NOT EXISTS FOR (s:Speaker) REQUIRE (s.space, s.key) IS UNIQUE",
    "piece_count": "CREATE CONSTRAINT piece_count IF NOT EXISTS FOR (k:PieceCount) REQUIRE k.space IS UNIQUE",
    "todo_owner": "CREATE CONSTRAINT todo_owner IF NOT EXISTS FOR (t:Todo) REQUIRE (t.space, t.owner_id) IS UNIQUE",
}

RANGE: Mapping[str, LiteralString] = {
    "conversation_own": "CREATE INDEX conversation_own IF NOT EXISTS FOR (c:Conversation) ON (c.namespace, c.id)",
    "conversation_key": """
        CREATE INDEX conversation_key IF NOT EXISTS FOR (c:Conversation) ON (c.namespace, c.source_key)""",
    "message_key": "CREATE INDEX message_key IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.source_key)",
    "message_named_in": """
        CREATE INDEX message_named_in IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.conversation_id, m.named)""",
    "call_conversation": """
        CREATE INDEX call_conversation IF NOT EXISTS FOR (t:ToolCall) ON (t.namespace, t.conversation_id)""",
    "turn_position": """
        CREATE INDEX turn_position IF NOT EXISTS FOR (t:Turn) ON (t.namespace, t.conversation_id, t.position)""",
    "chunk_of": "CREATE INDEX chunk_of IF NOT EXISTS FOR (k:Chunk) ON (k.namespace, k.parent_id)",
    "document_own": "CREATE INDEX document_own IF NOT EXISTS FOR (d:Document) ON (d.namespace, d.id)",
    "derived_key": "CREATE INDEX derived_key IF NOT EXISTS FOR (d:Derived) ON (d.namespace, d.short_key)",
    "derived_kind": "CREATE INDEX derived_kind IF NOT EXISTS FOR (d:Derived) ON (d.namespace, d.kind)",
    "derived_conversation": """
        CREATE INDEX derived_conversation IF NOT EXISTS FOR (d:Derived) ON (d.namespace, d.conversation_id)""",
    "edge_inward": "CREATE INDEX edge_inward IF NOT EXISTS FOR (e:Edge) ON (e.namespace, e.target_id)",
    "task_state": "CREATE INDEX task_state IF NOT EXISTS FOR (t:Task) ON (t.namespace, t.state)",
    "task_subject": "CREATE INDEX task_subject IF NOT EXISTS FOR (t:Task) ON (t.namespace, t.subject)",
    "generation_of": "CREATE INDEX generation_of IF NOT EXISTS FOR (g:Generation) ON (g.namespace, g.number)",
    "passage_of": "CREATE INDEX passage_of IF NOT EXISTS FOR (p:Passage) ON (p.space, p.owner_id)",
    # Only passages without quality vectors have this property.
    "passage_bare": "CREATE INDEX passage_bare IF NOT EXISTS FOR (p:Passage) ON (p.space, p.bare)",
    "quality_place": "CREATE INDEX quality_place IF NOT EXISTS FOR (q:Quality) ON (q.space, q.partition, q.place)",
    "death_of": "CREATE INDEX death_of IF NOT EXISTS FOR (d:Death) ON (d.space, d.owner_id)",
}

FULL_TEXT: Mapping[str, LiteralString] = {
    "passage_words": """
        CREATE FULLTEXT INDEX passage_words IF NOT EXISTS FOR (p:Passage) ON EACH [p.words, p.scope]
        OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}""",
}

# 0.1.0 refuses to open a server on which an index of this name is none of its own, and prints the property's name.
GUARD: Mapping[str, LiteralString] = {
    "namespace_name": """
        CREATE TEXT INDEX namespace_name IF NOT EXISTS FOR (s:Schema) ON (s.written_by_a_newer_Recollect)""",
}

#: What 0.1.0 made, and what may be left of it on a server that was emptied since.
OLD_CONSTRAINTS: tuple[LiteralString, ...] = (
    "DROP CONSTRAINT counter_name IF EXISTS", "DROP CONSTRAINT namespace_name IF EXISTS",
    "DROP CONSTRAINT conversation_id IF EXISTS", "DROP CONSTRAINT message_id IF EXISTS",
    "DROP CONSTRAINT tool_call_id IF EXISTS", "DROP CONSTRAINT turn_id IF EXISTS", "DROP CONSTRAINT chunk_id IF EXISTS",
    "DROP CONSTRAINT document_id IF EXISTS", "DROP CONSTRAINT window_place IF EXISTS",
    "DROP CONSTRAINT edge_ends IF EXISTS", "DROP CONSTRAINT passage_number IF EXISTS",
    "DROP CONSTRAINT quality_number IF EXISTS", "DROP CONSTRAINT segment_place IF EXISTS",
    "DROP CONSTRAINT speaker_key IF EXISTS", "DROP CONSTRAINT pieces_space IF EXISTS",
)  # fmt: skip
DROP_INDEX: LiteralString = "DROP INDEX `%s` IF EXISTS"  # the name is one that SHOW told
OLD_INDEXES = frozenset({
    "conversation_source", "message_place", "message_source", "message_named", "tool_call_conversation", "turn_place",
    "chunk_parent", "edge_target", "passage_row", "passage_owner", "passage_gone", "passage_todo", "quality_row",
    "passage_text",
})  # fmt: skip


def prepare(server: Server) -> None:
    """Makes what is missing of the schema. Raises StoreError for a store that is older or newer than this Recollect."""
    version, filled = server.read(_look)
    verify(version, server.location)
    if version is None and filled:
        raise StoreError(
            f"{server.location} contains a memory written by Recollect 0.1.0.",
            hint="Export it with that version (recollect export), empty the database, and import it with this one.",
        )
    known = server.read(_indexes)
    if version is None:
        _clear_away(server, known)
        known = server.read(_indexes)
    made = [text for name, text in {**UNIQUE, **RANGE, **FULL_TEXT, **GUARD}.items() if name not in known]
    for statement in made:
        server.run(statement)
    if made:
        server.run(AWAIT)
        server.read(_indexes)
    if version is None:
        server.write(lambda tx: tx.run(MARK, version=VERSION).consume())
    elif version < VERSION:
        server.write(_migrate)


def _migrate(tx: neo4j.ManagedTransaction) -> None:
    """Version 2 to version 3: tool calls are mended, and users have other namespaces."""
    tx.run(OF_THEIR_CALLERS).consume()
    for before, today in renamed([record["name"] for record in tx.run(NAMES)]):
        for statement in RENAME:
            tx.run(statement, before=before, today=today).consume()
    tx.run(SET_VERSION, version=VERSION).consume()


def verify(version: int | None, location: str) -> None:
    """Raises StoreError for a store of a newer Recollect. Called in every transaction: it may change at any time."""
    if version is not None and version > VERSION:
        raise StoreUnusable(
            f"{location} was written by a newer version of Recollect (schema {version}, this one knows {VERSION}).",
            hint='Update: pip install --upgrade "recollect[neo4j]"',
        )


def _look(tx: neo4j.ManagedTransaction) -> tuple[int | None, bool]:
    found = tx.run(LOOK).single(strict=True)
    return found["version"], found["filled"]


def _indexes(tx: neo4j.ManagedTransaction) -> Mapping[str, str]:
    """The names and kinds of all indexes. Raises StoreError where one of ours is another's, or has failed."""
    found = [record.values() for record in tx.run(SHOW)]
    for name, kind, state, properties in found:
        _verify_index(name, kind, state, properties)
    return {name: kind for name, kind, _, _ in found}


def _verify_index(name: str, kind: str, state: str, properties: list[str] | None) -> None:
    """`IF NOT EXISTS` says nothing of an index of our name that is another: so it is looked at."""
    wanted = "FULLTEXT" if name in FULL_TEXT else "RANGE" if name in UNIQUE or name in RANGE else None
    if wanted is not None and kind != wanted:
        raise StoreError(
            f"The index {name} on {properties} is not one of Recollect's.", hint=f"Drop it: DROP INDEX {name}"
        )
    if wanted is not None and state == "FAILED":
        raise StoreError(
            f"The index {name} has failed.", hint=f"Drop it, then open the memory again: DROP INDEX {name}"
        )


def _clear_away(server: Server, known: Mapping[str, Any]) -> None:
    if "conversation_id" not in known:
        return
    for statement in OLD_CONSTRAINTS:
        server.run(statement)
    for name, kind in known.items():
        if name in OLD_INDEXES or (kind == "VECTOR" and name.startswith("passage_")):
            server.run(DROP_INDEX % name)
