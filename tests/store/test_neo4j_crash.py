"""Writers of every kind that are killed at any moment: what they acknowledged holds, what was forgotten is nowhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import recollect
from tests.coherent import assert_tree, passages_that_belong, threads_of
from tests.exports import chat, export, messages_of
from tests.store import neo4j_server
from tests.test_crash import ABSENT, Ledger, kill_writers, state_of, texts_in
from tests.working import KINDS

ORDER = [kind for kind in KINDS if kind != "backup"]  # that is the server's business


@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.long)])
def test_writers_of_every_kind_are_killed_and_what_they_acknowledged_holds(
    neo4j_uri: str, neo4j_place: str, tmp_path: Path, kills: int
) -> None:
    chance, ledger = random.Random(kills), Ledger()
    for number in range(4):
        talks = [chat(*(f"import {number} {n} {i}" for i in range(20)), name=f"x{number}c{n}") for n in range(6)]
        export(tmp_path / "exports" / str(number), talks)
    with recollect.open(neo4j_place) as memory:
        talks = [chat(*(f"tide {i} of {n}" for i in range(30)), name=f"c{n}") for n in range(10)]
        memory.import_file(export(tmp_path / "first", talks))
    while ledger.kills < kills:
        kinds = [ORDER[ledger.kills % len(ORDER)], *([chance.choice(ORDER)] if kills > 8 else [])]
        kill_writers(ledger, neo4j_place, tmp_path, kinds, chance)
    assert ledger.states
    assert_kept(ledger, neo4j_uri, neo4j_place)


def assert_kept(ledger: Ledger, uri: str, place: str) -> None:
    with recollect.open(place) as memory:
        assert memory.upkeep.check() == []
        states = state_of(memory, ledger.states)
        for own, allowed in ledger.states.items():
            assert states[own] in {ABSENT if state[0] == "forgotten" else state for state in allowed}, own
        wanted = {text for path in ledger.imported for text in texts_in(path)}
        assert wanted <= {message.content for message in messages_of(memory)}
        threads = threads_of(memory)
        for thread in threads:
            assert_tree(thread)
        assert memory.upkeep.stats().passages == passages_that_belong(memory, threads)
        memory.upkeep.reindex()
        memory.upkeep.maintain()
        assert memory.upkeep.check() == []
    data = neo4j_server.everything(uri)
    for allowed in ledger.states.values():
        if all(name == "forgotten" for name, _ in allowed):
            ((_, words),) = allowed
            assert words.split()[0].encode() not in data, words
