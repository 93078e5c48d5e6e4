"""Whatever is written, read and maintained through two handles, both engines hold what the reference model says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from recollect.store import Store
from recollect.store.index import corpus
from recollect.store.index.cache import IndexCache
from recollect.store.sqlite import maintain, segments
from recollect.store.sqlite.engine import SQLiteStore
from tests.store import neo4j_server
from tests.store.rules import Clock, Opening, Rules

#: Sizes at which a few dozen passages are sealed into segments, kept in files, and written anew.
ROWS, BLOCK, SETTLED, DEATHS = 8, 16, 3, 4


def runs(examples: int, steps: int, *, same: bool) -> settings:
    """So many runs of so many steps; the same ones each time, or others, then shrunk where one fails."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=same,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,) if same else (Phase.generate, Phase.shrink),
    )


@contextmanager
def sqlite(folder: Path) -> Iterator[Opening]:
    """A new file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT_ROWS", ROWS)
        patch.setattr(segments, "SETTLED_ROWS", SETTLED)
        patch.setattr(segments, "MOST_DEATHS", DEATHS)
        patch.setattr(corpus, "SEGMENT_ROWS", ROWS)
        patch.setitem(IndexCache.__init__.__kwdefaults__, "rows", BLOCK)
        patch.setattr(maintain, "_READERS", 0.02)
        yield lambda clock: SQLiteStore(folder / "memory.db", durable=False, wait=5.0, clock=clock)


@contextmanager
def neo4j(uri: str) -> Iterator[Opening]:
    """The server, emptied."""
    from recollect.store.neo4j import maintain as upkeep
    from recollect.store.neo4j.engine import Neo4jStore

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


class Neo4jRules(Rules):
    """A view keeps what it has read; other questions see later commits."""

    still = False


def run_on_sqlite(folder: Path, chosen: settings) -> None:
    numbers = count()

    def machine() -> Rules:
        own = folder / str(next(numbers))
        own.mkdir()
        return Rules(sqlite(own))

    run_state_machine_as_test(machine, settings=chosen)


def test_sqlite_keeps_the_rules(tmp_path: Path) -> None:
    run_on_sqlite(tmp_path, runs(10, 35, same=True))


@pytest.mark.long
def test_sqlite_keeps_the_rules_however_long(tmp_path: Path) -> None:
    run_on_sqlite(tmp_path, runs(400, 80, same=False))


def test_neo4j_keeps_the_rules(neo4j_uri: str) -> None:
    run_state_machine_as_test(lambda: Neo4jRules(neo4j(neo4j_uri)), settings=runs(2, 25, same=True))


@pytest.mark.long
def test_neo4j_keeps_the_rules_however_long(neo4j_uri: str) -> None:
    run_state_machine_as_test(lambda: Neo4jRules(neo4j(neo4j_uri)), settings=runs(40, 60, same=False))
