"""What a server must hold, and whose data it may be: older stores, newer ones, leftovers, other people's indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import neo4j

from recollect.engines.neo4j.engine import Neo4jStore
from recollect.engines.neo4j.schema import OLD_CONSTRAINTS, VERSION
from recollect.errors import StoreError
from recollect.record import Conversation, Edge, Message, NodeId, Role, namespace
from recollect.store import Change, Space, Task
from tests.store import neo4j_server

HERE, MINUTE = namespace("here"), timedelta(minutes=1)
#: As 0.1.0 made them, and what it wrote first.
OLD = (
    "CREATE CONSTRAINT namespace_name IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT conversation_id IF NOT EXISTS FOR (c:Conversation) REQUIRE (c.namespace, c.id) IS UNIQUE",
    "CREATE CONSTRAINT passage_number IF NOT EXISTS FOR (p:Passage) REQUIRE p.number IS UNIQUE",
    "CREATE INDEX passage_owner IF NOT EXISTS FOR (p:Passage) ON (p.space, p.owner_id)",
    """CREATE VECTOR INDEX passage_said_256 IF NOT EXISTS FOR (p:Passage) ON (p.said_256) OPTIONS {indexConfig:
        {`vector.dimensions`: 256, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}""",
)
OLD_NAMESPACE = (
    "CREATE (:Namespace {name: 'default', space: 1, next: 1, changes: 0, rows: [0, 0, 0], sealed: [0, 0, 0]})"
)


@contextmanager
def opened(uri: str) -> Iterator[Neo4jStore]:
    store = Neo4jStore(uri, neo4j_server.auth(), wait=5.0)
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def bare(neo4j_uri: str) -> Iterator[neo4j.Session]:
    """A session on a server that has no schema of ours; it gets one again."""
    with neo4j_server.driver(neo4j_uri).session() as session:
        drop_everything(session)
        yield session
        session.run("MATCH (n) WHERE NOT n:RecollectTest DETACH DELETE n").consume()
        drop_everything(session)


def drop_everything(session: neo4j.Session) -> None:
    for record in list(session.run("SHOW CONSTRAINTS YIELD name")):
        session.run(f"DROP CONSTRAINT {record['name']}").consume()
    for record in list(session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name")):
        session.run(f"DROP INDEX {record['name']}").consume()


def indexes(session: neo4j.Session) -> dict[str, str]:
    return {r["name"]: r["type"] for r in session.run("SHOW INDEXES YIELD name, type")}


def test_a_store_of_the_first_version_is_told_from_a_new_one(bare: neo4j.Session, neo4j_uri: str) -> None:
    for statement in OLD:
        bare.run(statement).consume()
    bare.run(OLD_NAMESPACE).consume()
    before = indexes(bare)
    with pytest.raises(
        StoreError, match=r"contains a memory written by Recollect 0\.1\.0\. Export it with that version"
    ):
        Neo4jStore(neo4j_uri, neo4j_server.auth())
    assert indexes(bare) == before, "it is left as it is"


def test_what_is_left_of_the_first_version_on_an_emptied_server_goes(bare: neo4j.Session, neo4j_uri: str) -> None:
    for statement in OLD:
        bare.run(statement).consume()
    with opened(neo4j_uri) as store:
        fill(store.space(HERE))
    left = indexes(bare)
    assert not {"conversation_id", "passage_number", "passage_owner", "passage_said_256"} & left.keys()
    assert "VECTOR" not in left.values()
    assert len(OLD_CONSTRAINTS) == 15


def test_the_first_version_refuses_a_new_store(bare: neo4j.Session, neo4j_uri: str) -> None:
    """It looks whether the indexes of its names are of its kinds; `namespace_name` is not, and says why."""
    with opened(neo4j_uri):
        found = bare.run("SHOW INDEXES YIELD name, type, properties WHERE name = 'namespace_name' RETURN *").single(
            strict=True
        )
    assert found["type"] != "RANGE"
    assert found["properties"] == ["written_by_a_newer_Recollect"]


def test_opening_again_makes_nothing(bare: neo4j.Session, neo4j_uri: str) -> None:
    with opened(neo4j_uri):
        made = indexes(bare)
    with opened(neo4j_uri) as store:
        assert store.info().schema == VERSION
    assert indexes(bare) == made
    assert bare.run("MATCH (s:Schema) RETURN collect(s.version) AS versions").single(strict=True)["versions"] == [
        VERSION
    ]


def test_an_index_of_our_name_that_is_anothers_is_told(bare: neo4j.Session, neo4j_uri: str) -> None:
    bare.run("CREATE TEXT INDEX passage_of FOR (p:Passage) ON (p.words)").consume()
    with pytest.raises(StoreError, match=r"passage_of .* is not one of Recollect's"):
        Neo4jStore(neo4j_uri, neo4j_server.auth())


def fill(space: Space) -> None:
    talk = Conversation(NodeId("c"), "test", title="Bread")
    space.write(
        Change(put=[talk, Message(NodeId("m"), talk.id, Role.USER, "Rye?")], tasks=[Task(id=NodeId("t"), kind="k")])
    )


def test_a_newer_store_is_refused_by_every_step_of_a_program_that_is_running(neo4j_uri: str) -> None:
    with opened(neo4j_uri) as store:
        space = store.space(HERE)
        fill(space)
        with neo4j_server.driver(neo4j_uri).session() as session:
            session.run("MATCH (s:Schema) SET s.version = $version", version=VERSION + 1).consume()
        steps = [
            lambda: space.write(Change(edges=[Edge(NodeId("c"), "MENTIONS", NodeId("e"))])),
            lambda: space.claim("w", ["k"], 1, MINUTE),
            lambda: space.erase([NodeId("m")]),
            lambda: space.generation("drop"),
            lambda: space.maintain(MINUTE),
            space.check,
            lambda: space.view().__enter__(),
            store.namespaces,
            store.info,
        ]
        for step in steps:
            with pytest.raises(StoreError, match="was written by a newer version of Recollect"):
                step()
        with pytest.raises(StoreError, match="was written by a newer version of Recollect"):
            Neo4jStore(neo4j_uri, neo4j_server.auth())
        with neo4j_server.driver(neo4j_uri).session() as session:
            session.run("MATCH (s:Schema) SET s.version = $version", version=VERSION).consume()
        with space.view() as view:
            assert view.edges(None) == []
            assert [m.content for m in view.get(Message, [NodeId("m")])] == ["Rye?"]
