"""Constraints and indexes: looked for first, and only what is missing is made, so that a read-only member opens too.

Strings that are indexed are short: ids, names, and keys made of what may be long (`records.key`). Texts are in the
full-text index alone, which has no limit.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, LiteralString

import neo4j

from recollect.errors import StoreError
from recollect.store.neo4j.connection import Server
from recollect.store.passages import Lane

SHOW = "SHOW INDEXES YIELD name, type, state, options, properties RETURN name, type, state, options, properties"
AWAIT = "CALL db.awaitIndexes(300)"

UNIQUE: Mapping[str, LiteralString] = {
    "counter_name": "CREATE CONSTRAINT counter_name IF NOT EXISTS FOR (k:Counter) REQUIRE k.name IS UNIQUE",
    "namespace_name": "CREATE CONSTRAINT namespace_name IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE",
    "conversation_id": """
        CREATE CONSTRAINT conversation_id IF NOT EXISTS FOR (c:Conversation) REQUIRE (c.namespace, c.id) IS UNIQUE""",
    "message_id": "CREATE CONSTRAINT message_id IF NOT EXISTS FOR (m:Message) REQUIRE (m.namespace, m.id) IS UNIQUE",
    "tool_call_id": """
        CREATE CONSTRAINT tool_call_id IF NOT EXISTS FOR (t:ToolCall) REQUIRE (t.namespace, t.id) IS UNIQUE""",
    "turn_id": "CREATE CONSTRAINT turn_id IF NOT EXISTS FOR (t:Turn) REQUIRE (t.namespace, t.id) IS UNIQUE",
    "chunk_id": "CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (k:Chunk) REQUIRE (k.namespace, k.id) IS UNIQUE",
    "document_id": "CREATE CONSTRAINT document_id IF NOT EXISTS FOR (d:Document) REQUIRE (d.namespace, d.id) IS UNIQUE",
    "window_place": """
        CREATE CONSTRAINT window_place IF NOT EXISTS
        FOR (w:Window) REQUIRE (w.namespace, w.conversation_id, w.index) IS UNIQUE""",
    "edge_ends": """
        CREATE CONSTRAINT edge_ends IF NOT EXISTS
        FOR (e:Edge) REQUIRE (e.namespace, e.source_id, e.type, e.target_id) IS UNIQUE""",
    "passage_number": "CREATE CONSTRAINT passage_number IF NOT EXISTS FOR (p:Passage) REQUIRE p.number IS UNIQUE",
    "quality_number": "CREATE CONSTRAINT quality_number IF NOT EXISTS FOR (q:Quality) REQUIRE q.number IS UNIQUE",
    "segment_place": """
        CREATE CONSTRAINT segment_place IF NOT EXISTS FOR (s:Segment) REQUIRE (s.space, s.lane, s.first) IS UNIQUE""",
    "speaker_key": "CREATE CONSTRAINT speaker_key IF NOT EXISTS FOR (s:Speaker) REQUIRE (s.space, s.key) IS UNIQUE",
    "pieces_space": "CREATE CONSTRAINT pieces_space IF NOT EXISTS FOR (k:PieceCount) REQUIRE k.space IS UNIQUE",
}

RANGE: Mapping[str, LiteralString] = {
    "conversation_source": """
        CREATE INDEX conversation_source IF NOT EXISTS FOR (c:Conversation) ON (c.namespace, c.source_key)""",
    "message_place": """
        CREATE INDEX message_place IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.conversation_id, m.position)""",
    "message_source": "CREATE INDEX message_source IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.source_key)",
    # Only messages of people with names have the last property, and so only they are in the index.
    "message_named": """
        CREATE INDEX message_named IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.conversation_id, m.named)""",
    "tool_call_conversation": """
        CREATE INDEX tool_call_conversation IF NOT EXISTS FOR (t:ToolCall) ON (t.namespace, t.conversation_id)""",
    "turn_place": "CREATE INDEX turn_place IF NOT EXISTS FOR (t:Turn) ON (t.namespace, t.conversation_id, t.position)",
    "chunk_parent": "CREATE INDEX chunk_parent IF NOT EXISTS FOR (k:Chunk) ON (k.namespace, k.parent_id)",
    "edge_target": "CREATE INDEX edge_target IF NOT EXISTS FOR (e:Edge) ON (e.namespace, e.target_id)",
    "passage_row": "CREATE INDEX passage_row IF NOT EXISTS FOR (p:Passage) ON (p.space, p.lane, p.row)",
    "passage_owner": "CREATE INDEX passage_owner IF NOT EXISTS FOR (p:Passage) ON (p.space, p.owner_id)",
    "passage_gone": "CREATE INDEX passage_gone IF NOT EXISTS FOR (p:Passage) ON (p.space, p.lane, p.gone)",
    "passage_todo": "CREATE INDEX passage_todo IF NOT EXISTS FOR (p:Passage) ON (p.space, p.todo)",
    "quality_row": "CREATE INDEX quality_row IF NOT EXISTS FOR (q:Quality) ON (q.space, q.lane, q.row)",
}

FULL_TEXT: Mapping[str, LiteralString] = {
    "passage_text": """
        CREATE FULLTEXT INDEX passage_text IF NOT EXISTS FOR (p:Passage) ON EACH [p.terms, p.words, p.scope]
        OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}""",
}

# The name and the size are ours: a lane of the enumeration and a number of dimensions.
VECTOR: LiteralString = """
CREATE VECTOR INDEX %s IF NOT EXISTS FOR (p:Passage) ON (p.%s) OPTIONS {indexConfig:
    {`vector.dimensions`: %d, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}
"""

_MOST_DIMENSIONS = 4096


def vector_key(lane: int, dimensions: int) -> str:
    """The property that holds the vectors of a lane: one for each size, since an index has one size."""
    return f"{Lane(lane).name.lower()}_{dimensions}"


def vector_index(lane: int, dimensions: int) -> str:
    """The name of the index over them."""
    return f"passage_{vector_key(lane, dimensions)}"


class Schema:
    """What is there of the schema. Thread-safe."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._known = self._look()
        wanted = {**UNIQUE, **RANGE, **FULL_TEXT}
        missing = [statement for name, statement in wanted.items() if name not in self._known]
        self._make(missing)

    def ensure_vectors(self, dimensions: int) -> None:
        """Makes the vector indexes of an embedder's size where they are not there. Raises StoreError."""
        with self._lock:
            names = {vector_index(lane, dimensions): vector_key(lane, dimensions) for lane in Lane}
            if all(name in self._known for name in names):
                return
            if not 1 <= dimensions <= _MOST_DIMENSIONS:
                raise StoreError(f"Neo4j indexes vectors of 1 to {_MOST_DIMENSIONS} numbers, not {dimensions}.")
            self._make([VECTOR % (name, key, dimensions) for name, key in names.items() if name not in self._known])

    def _make(self, statements: list[LiteralString]) -> None:
        for statement in statements:
            self._server.run(statement)
        if statements:
            self._server.run(AWAIT)
            self._known = self._look()

    def _look(self) -> set[str]:
        def work(tx: neo4j.ManagedTransaction) -> set[str]:
            found = [record.values() for record in tx.run(SHOW)]
            for name, kind, state, options, properties in found:
                _verify(name, kind, state, options, properties)
            return {row[0] for row in found}

        return self._server.read(work)


def _verify(name: str, kind: str, state: str, options: Mapping[str, Any], properties: list[str] | None) -> None:
    """`IF NOT EXISTS` says nothing of an index of our name that is another: so it is looked at."""
    wanted_kind = "FULLTEXT" if name in FULL_TEXT else "RANGE" if name in UNIQUE or name in RANGE else None
    if name.startswith("passage_") and name.rsplit("_", 1)[-1].isdigit():
        wanted_kind = "VECTOR"
        told = options.get("indexConfig", {}).get("vector.dimensions")
        if told != int(name.rsplit("_", 1)[-1]):
            raise StoreError(f"The vector index {name} is of {told} dimensions.", hint=f"Drop it: DROP INDEX {name}")
    if wanted_kind is not None and kind != wanted_kind:
        raise StoreError(
            f"The index {name} on {properties} is none of Recollect's.", hint=f"Drop it: DROP INDEX {name}"
        )
    if wanted_kind is not None and state == "FAILED":
        raise StoreError(f"The index {name} has failed.", hint=f"Drop it and open again: DROP INDEX {name}")
