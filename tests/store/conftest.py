"""Every engine, for the contract suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.store import Store
from recollect.store.sqlite.engine import SQLiteStore
from tests.store import neo4j_server


@pytest.fixture(params=["sqlite", "neo4j"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the same store anew at each call, as another process would."""
    opened: list[Store] = []
    neo4j_uri = request.getfixturevalue("neo4j_uri") if request.param == "neo4j" else ""

    def open_one() -> Store:
        store: Store = SQLiteStore(tmp_path / "memory.db", wait=5.0)
        if neo4j_uri:
            from recollect.store.neo4j.engine import Neo4jStore

            store = Neo4jStore(neo4j_uri, neo4j_server.auth(), wait=5.0)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()
