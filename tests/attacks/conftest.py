"""A memory for each file of attacks, in either engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import recollect
from recollect.memory import Memory
from recollect.testing import FakeModel


@pytest.fixture(scope="module", params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    if request.param == "sqlite":
        place = str(tmp_path_factory.mktemp("attacked") / "memory.db")
    else:
        from tests.store import neo4j_server

        address = request.getfixturevalue("neo4j_address")
        neo4j_server.empty(address)
        place = neo4j_server.with_auth(address)
    with recollect.open(place, model=FakeModel("ok [1]"), background=False) as opened:
        yield opened
