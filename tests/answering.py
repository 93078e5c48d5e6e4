"""Fixtures of what a model answers: both providers on a server of the test's own, a memory with one and one without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from tests.models.language.conftest import model, provider, server

__all__ = ["memory", "model", "provider", "quiet", "server", "store"]


@pytest.fixture
def store(home: Path) -> Path:
    """Where the memory is."""
    return home / "memory.db"


@pytest.fixture
def memory(store: Path, model: Any) -> Iterator[Memory]:
    """A memory with a model on the server."""
    with recollect.open(store, model=model, background=False) as opened:
        yield opened


@pytest.fixture
def quiet(store: Path) -> Iterator[Memory]:
    """A memory without a model."""
    with recollect.open(store, background=False) as opened:
        yield opened
