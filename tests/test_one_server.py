"""Workers of pytest share one Neo4j server: one of them has every test that needs it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.one_server import OneServer, require_sign


def test_a_file_goes_to_one_worker_and_so_does_all_that_needs_the_server() -> None:
    scope = OneServer._split_scope
    scheduler = object.__new__(OneServer)
    assert scope(scheduler, "tests/a/test_x.py::test_one[1]") == scope(scheduler, "tests/a/test_x.py::test_two")
    assert scope(scheduler, "tests/a/test_x.py::test_one") != scope(scheduler, "tests/a/test_y.py::test_one")
    assert scope(scheduler, "tests/a/test_x.py::test_one[neo4j]") == scope(scheduler, "tests/b/test_neo4j.py::test_two")


def item(nodeid: str, *fixtures: str) -> Any:
    return cast(Any, SimpleNamespace(nodeid=nodeid, fixturenames=fixtures))


def test_a_test_that_needs_the_server_has_to_say_so_in_its_name() -> None:
    require_sign([item("test_x.py::test_one"), item("test_x.py::test_on_neo4j", "neo4j_uri", "neo4j_address")])
    with pytest.raises(pytest.UsageError, match=r"test_x\.py::test_one"):
        require_sign([item("test_x.py::test_one", "neo4j_uri", "neo4j_address")])
