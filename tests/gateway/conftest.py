"""A memory for each test of the gateway, and a proxy that goes on or is started anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        yield memory


@pytest.fixture(params=["on", "restarted"])
def endless(request: pytest.FixtureRequest, memory: Memory) -> Callable[[], Endless]:
    """The proxy, which is started anew for each request, or goes on."""
    one = Endless(memory.beside)
    return lambda: Endless(memory.beside) if request.param == "restarted" else one
