"""Which engine a place asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.engines import open_store
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import InvalidInput, StoreError


def test_a_path_is_a_sqlite_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "memory.db")
    assert isinstance(store, SQLiteStore)
    store.close()


def test_an_address_of_no_server_is_told_at_once() -> None:
    with pytest.raises(StoreError, match="localhost:1"):
        open_store("neo4j://localhost:1").namespaces()


def test_other_addresses_are_no_place_for_a_memory() -> None:
    with pytest.raises(InvalidInput, match="not a place"):
        open_store("https://localhost/memory")
