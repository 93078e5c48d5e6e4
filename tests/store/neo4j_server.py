"""A Neo4j server for the tests: the one at RECOLLECT_TEST_NEO4J_URI, or one of our own for as long as they run.

Without Java or Maven the tests are left out with one line; RECOLLECT_REQUIRE_NEO4J=1 makes that a failure.
A server that is given must be empty, or have been filled by these tests alone: they take everything out of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import quote

import neo4j
import pytest

from tools.neo4j_server import Server, Unavailable

GIVEN = os.environ.get("RECOLLECT_TEST_NEO4J_URI", "")
_USER, _PASSWORD = os.environ.get("NEO4J_USER", "neo4j"), os.environ.get("NEO4J_PASSWORD", "")
NEEDED = "Neo4j tests are left out: {} With Java 17 and Maven they run here, with RECOLLECT_TEST_NEO4J_URI elsewhere."

#: The emptying between two tests changes the statistics, and statements would be planned anew for each test: most of
#: what the server does then. A plan that depends on them is looked at after `forget_plans`.
PLANNED_ONCE = {"dbms.cypher.min_replan_interval": "1d"}

_FOREIGN = "MATCH (n) WHERE NOT n:RecollectTest RETURN count(n) AS foreign"
_MARKED = "MATCH (n:RecollectTest) RETURN count(n) AS marked"
_NODES = "MATCH (n) RETURN properties(n) AS properties"
_RELATIONSHIPS = "MATCH ()-[x]->() RETURN properties(x) AS properties"
_MARK = "MERGE (:RecollectTest)"
_EVERYTHING = """
MATCH (n) WHERE NOT n:RecollectTest CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS
"""


def started(home: Path, password: str | None = None, settings: Mapping[str, str] | None = None) -> Server:
    """A server of our own, running. Leaves the test out where there can be none."""
    try:
        server = Server(home, password=password, settings={**PLANNED_ONCE, **(settings or {})})
        server.start()
    except Unavailable as problem:
        reason = NEEDED.format(str(problem).splitlines()[0])
        if os.environ.get("RECOLLECT_REQUIRE_NEO4J"):
            pytest.fail(f"RECOLLECT_REQUIRE_NEO4J is set. {reason}")
        pytest.skip(reason)
    return server


def auth() -> tuple[str, str] | None:
    """The user of the server that is given."""
    return (_USER, _PASSWORD) if GIVEN and _PASSWORD else None


def with_auth(uri: str) -> str:
    """The address with the user in it."""
    user = auth()
    scheme, _, rest = uri.partition("://")
    return f"{scheme}://{quote(user[0], '')}:{quote(user[1], '')}@{rest}" if user else uri


def claim(uri: str) -> None:
    """Makes sure that nobody's data is there but that of these tests."""
    with driver(uri).session() as session:
        marked = session.run(_MARKED).single(strict=True)["marked"]
        if not marked and session.run(_FOREIGN).single(strict=True)["foreign"]:
            pytest.fail(f"{uri} holds data, and these tests would delete it.")
        session.run(_MARK).consume()


def empty(uri: str) -> None:
    """Takes everything out; the schema stays."""
    with driver(uri).session() as session:
        session.run(_EVERYTHING).consume()


def forget_plans(uri: str) -> None:
    """Statements are planned anew, by what there is now."""
    with driver(uri).session() as session:
        session.run("CALL db.clearQueryCaches()").consume()


def everything(uri: str) -> bytes:
    """Every property of every node and relationship there, blobs too."""
    with driver(uri).session() as session:
        found = [r["properties"] for r in session.run(_NODES)] + [r["properties"] for r in session.run(_RELATIONSHIPS)]
    values = [value for properties in found for value in properties.values()]
    return b"\n".join(bytes(v) if isinstance(v, bytes | bytearray) else str(v).encode() for v in values)


@cache
def driver(uri: str) -> neo4j.Driver:
    """One for all tests."""
    return neo4j.GraphDatabase.driver(
        uri,
        auth=auth(),
        notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        telemetry_disabled=True,
    )
