"""Every statement finds what it needs by an index, and names the namespace or the generation that it is about."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

from recollect.engines import neo4j as package
from recollect.engines.neo4j import check, maintain
from recollect.engines.neo4j.engine import Neo4jStore
from recollect.engines.neo4j.schema import FULL_TEXT, RANGE, UNIQUE
from recollect.ingest import Ingest
from recollect.models.embedding.tokenizer import count_tokens
from tests.store import neo4j_server
from tests.store.builders import DEFAULT, branched, embedder

MODULES = [module.name for module in pkgutil.iter_modules(package.__path__) if module.name not in ("schema",)]


def catalogue() -> Mapping[str, str]:
    """The statements of all modules, each once."""
    found: dict[str, str] = {}
    for name in MODULES:
        module = import_module(f"recollect.engines.neo4j.{name}")
        for constant, value in vars(module).items():
            if constant.isupper() and isinstance(value, str) and any(word in value for word in ("MATCH", "RETURN")):
                found.setdefault(value, f"{name}.{constant}")
    found |= {text: f"check: {name}" for name, text in {**check.RECORD, **check.INDEX}.items()}
    return {name: text for text, name in found.items()}


CATALOGUE = catalogue()
#: About the whole store: its version, its namespaces, its own counters.
OF_THE_STORE = {
    "connection.COMPONENTS", "engine.NAMESPACES", "engine.VERSION_OF",
    "check: nothing is left of generations that are gone",
}  # fmt: skip
SLOW = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "DirectedAllRelationshipsScan"}
ONE_ROW = ("NodeUniqueIndexSeek", "Argument")


@pytest.fixture(scope="module")
def opened(neo4j_address: str) -> str:
    store = Neo4jStore(neo4j_address, neo4j_server.auth())
    Ingest(store.space(DEFAULT), embedder(), count_tokens).threads([branched()])
    store.close()
    neo4j_server.forget_plans(neo4j_address)
    return neo4j_address


def operator(plan: Mapping[str, Any]) -> str:
    return str(plan["operatorType"]).split("@")[0]


def slow(plan: Mapping[str, Any]) -> Iterator[str]:
    """The operators of a plan that cost more with every node that has nothing to do with the question."""
    if operator(plan) in SLOW:
        yield operator(plan)
    if operator(plan) == "CartesianProduct" and sum(not finds_one(child) for child in plan["children"]) > 1:
        yield "CartesianProduct"
    for child in plan.get("children", ()):
        yield from slow(child)


def finds_one(plan: Mapping[str, Any]) -> bool:
    """Whether it is one node, found by its key, or none."""
    children = plan.get("children", ())
    if operator(plan) == "Filter":
        return all(map(finds_one, children))
    return operator(plan).startswith(ONE_ROW) and not children


def test_there_are_statements() -> None:
    assert len(CATALOGUE) > 120
    assert set(maintain.SWEEPS) <= set(CATALOGUE.values())


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_no_statement_reads_what_it_does_not_need(opened: str, name: str) -> None:
    with neo4j_server.driver(opened).session() as session:
        plan = session.run("EXPLAIN " + CATALOGUE[name]).consume().plan
    assert plan is not None
    assert list(slow(plan)) == []


@pytest.mark.parametrize("name", sorted(CATALOGUE.keys() - OF_THE_STORE))
def test_every_statement_says_whose_data_it_means(name: str) -> None:
    assert any(whose in CATALOGUE[name] for whose in ("$ns", "$space")), CATALOGUE[name]


def test_every_index_of_the_schema_is_there_and_online(opened: str) -> None:
    with neo4j_server.driver(opened).session() as session:
        found = {r["name"]: (r["type"], r["state"]) for r in session.run("SHOW INDEXES YIELD name, type, state")}
    wanted = {*UNIQUE, *RANGE, *FULL_TEXT}
    assert wanted <= set(found)
    assert {found[name][1] for name in wanted} == {"ONLINE"}


def test_no_vector_is_indexed(opened: str) -> None:
    with neo4j_server.driver(opened).session() as session:
        kinds = {r["type"] for r in session.run("SHOW INDEXES YIELD type")}
    assert "VECTOR" not in kinds
