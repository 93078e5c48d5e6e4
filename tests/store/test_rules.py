"""Whatever is written, read and maintained through two handles, both engines hold what the reference model says."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.store.opening import neo4j, sqlite
from tests.store.rules import Rules


def runs(examples: int, steps: int, *, same: bool) -> settings:
    """So many runs of so many steps; the same ones each time, or others, then shrunk where one fails."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=same,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,) if same else (Phase.generate, Phase.shrink),
    )


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
