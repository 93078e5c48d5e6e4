"""New stores of both engines, with a clock that the test holds, and so small that everything happens in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from recollect.engines.sqlite import maintain, source
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.index import corpus
from recollect.index.corpus import IndexCache
from recollect.store import Store
from tests.store import neo4j_server
from tests.store.planning import START

#: Sizes at which a few dozen passages are sealed into segments, kept in files, and written anew.
ROWS, BLOCK, SETTLED, DEATHS = 8, 16, 3, 4


class Clock:
    """The time, held by the test."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


#: Opens the store of one run, any number of times.
Opening = Callable[[Clock], Store]


@contextmanager
def sqlite(folder: Path) -> Iterator[Opening]:
    """A new file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "SEGMENT_ROWS", ROWS)
        patch.setattr(source, "SETTLED_ROWS", SETTLED)
        patch.setattr(source, "MOST_DEATHS", DEATHS)
        patch.setattr(corpus, "SEGMENT_ROWS", ROWS)
        patch.setitem(IndexCache.__init__.__kwdefaults__, "rows", BLOCK)
        patch.setattr(maintain, "_READERS", 0.02)
        yield lambda clock: SQLiteStore(folder / "memory.db", durable=False, wait=5.0, clock=clock)


@contextmanager
def neo4j(uri: str) -> Iterator[Opening]:
    """The server, emptied."""
    from recollect.engines.neo4j import maintain as upkeep
    from recollect.engines.neo4j.engine import Neo4jStore

    def opened(clock: Clock) -> Store:
        return Neo4jStore(uri, neo4j_server.auth(), wait=5.0, clock=clock)

    neo4j_server.empty(uri)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "SEGMENT_ROWS", ROWS)
        patch.setattr(upkeep, "SETTLED_ROWS", SETTLED)
        patch.setattr(upkeep, "_FEW_DEATHS", DEATHS)
        patch.setattr(corpus, "SEGMENT_ROWS", ROWS)
        patch.setitem(IndexCache.__init__.__kwdefaults__, "rows", BLOCK)
        yield opened
