"""A memory for each test of the gateway, and a proxy that goes on or is started anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        yield memory


@pytest.fixture
def endless(memory: Memory) -> Callable[[], Endless]:
    """The proxy over all namespaces of a memory."""
    return restarted(memory.beside)


def restarted(beside: Callable[[str], Memory]) -> Callable[[], Endless]:
    """A proxy that goes on, beside one that is started anew for every second request."""
    one, asked = Endless(beside), count()
    return lambda: Endless(beside) if next(asked) % 2 else one
