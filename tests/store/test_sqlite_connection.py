"""The file of the embedded engine: who may read it, and what is said of one that is no store."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from recollect.errors import StoreError
from recollect.store.sqlite.engine import SQLiteStore
from tests.store.builders import talk, write


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps permissions otherwise")
def test_the_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.db"
    store = SQLiteStore(path)
    write(store, talk("a", "one"))
    files = list(path.parent.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "memory.db")
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.namespaces()
