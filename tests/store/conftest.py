"""Every engine, for the contract suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.store import Store
from recollect.store.sqlite.engine import SQLiteStore


@pytest.fixture(params=["sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the same store anew at each call, as another process would."""
    opened: list[Store] = []

    def open_one() -> Store:
        store = SQLiteStore(tmp_path / "memory.db", wait=5.0)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()
