"""Every engine, for the contract suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.store import Space, Store
from tests.store import neo4j_server
from tests.store.builders import DEFAULT, Clock


@pytest.fixture
def clock() -> Clock:
    """What the stores of a test take for the time."""
    return Clock()


@pytest.fixture(params=["sqlite", "neo4j"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Callable[[], Store]]:
    """Opens the same store anew at each call, as another process would."""
    opened: list[Store] = []
    neo4j_uri = request.getfixturevalue("neo4j_uri") if request.param == "neo4j" else ""

    def open_one() -> Store:
        store: Store
        if neo4j_uri:
            from recollect.engines.neo4j.engine import Neo4jStore

            store = Neo4jStore(neo4j_uri, neo4j_server.auth(), wait=5.0, clock=clock)
        else:
            store = SQLiteStore(tmp_path / "memory.db", wait=5.0, clock=clock)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()


@pytest.fixture
def space(store: Store) -> Space:
    """The namespace "default"."""
    return store.space(DEFAULT)
