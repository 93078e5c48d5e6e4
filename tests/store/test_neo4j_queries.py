"""Every statement of the catalogue finds what it needs by an index: none walks through everything of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

from recollect.store.neo4j import check, queries, search_queries
from recollect.store.neo4j.engine import Neo4jStore
from recollect.store.neo4j.schema import FULL_TEXT, RANGE, UNIQUE, vector_index
from tests.store import neo4j_server
from tests.store.builders import branched, embedder, write

CATALOGUE: Mapping[str, str] = {
    **{f"queries.{name}": text for name, text in vars(queries).items() if name.isupper()},
    **{f"search_queries.{name}": text for name, text in vars(search_queries).items() if name.isupper()},
    **{f"check: {name}": text for name, text in check.INVARIANTS.items()},
}
SLOW = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "DirectedAllRelationshipsScan"}
ONE_ROW = ("NodeUniqueIndexSeek", "Argument")


@pytest.fixture(scope="module")
def opened(neo4j_address: str) -> str:
    store = Neo4jStore(neo4j_address, neo4j_server.auth())
    write(store, branched())
    store.close()
    return neo4j_address


def operator(plan: Mapping[str, Any]) -> str:
    return str(plan["operatorType"]).split("@")[0]


def slow(plan: Mapping[str, Any]) -> Iterator[str]:
    """The operators of a plan that cost more with every node that has nothing to do with the question."""
    if operator(plan) in SLOW:
        yield operator(plan)
    if operator(plan) == "CartesianProduct" and not all(map(finds_one, plan["children"])):
        yield "CartesianProduct"
    for child in plan.get("children", ()):
        yield from slow(child)


def finds_one(plan: Mapping[str, Any]) -> bool:
    """Whether it is one node, found by its key."""
    return operator(plan).startswith(ONE_ROW) and not plan.get("children")


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_no_statement_reads_what_it_does_not_need(opened: str, name: str) -> None:
    with neo4j_server.driver(opened).session() as session:
        plan = session.run("EXPLAIN " + CATALOGUE[name]).consume().plan
    assert plan is not None
    assert list(slow(plan)) == []


def test_every_index_of_the_schema_is_there_and_online(opened: str) -> None:
    with neo4j_server.driver(opened).session() as session:
        found = {r["name"]: r["state"] for r in session.run("SHOW INDEXES YIELD name, state RETURN name, state")}
    vectors = {vector_index(lane, embedder().dimensions) for lane in range(3)}
    wanted = {*UNIQUE, *RANGE, *FULL_TEXT, *vectors}
    assert wanted <= set(found)
    assert {found[name] for name in wanted} == {"ONLINE"}
