"""The sample archive in a memory of the test's own, without a model and with one on loopback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from tests.model.conftest import model_of
from tests.model.wire_server import Says, WireServer, says, wire_server

QUESTION = "compare my database design decisions with my deployment strategy"


def planned(*queries: tuple[str, str], title: str = "Database against deployment") -> Says:
    """A plan, as a model gives it: searches with their headings."""
    return says({"title": title, "queries": [{"query": query, "heading": heading} for query, heading in queries]})


def missing(*what: str, queries: tuple[tuple[str, str], ...] = ()) -> Says:
    """What a model finds missing, and the searches that it wants."""
    found = [{"query": query, "heading": heading} for query, heading in queries]
    return says({"missing": list(what), "queries": found})


PLAN = planned(("database schema", "The database"), ("nginx reverse proxy", "The deployment"))


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def model(request: pytest.FixtureRequest, server: WireServer) -> Any:
    return model_of(str(request.param), server)


@pytest.fixture
def store(home: Path, sample_store: Path) -> Path:
    """The sample archive, to be written to."""
    return Path(shutil.copy(sample_store, home / "memory.db"))


@pytest.fixture
def quiet(store: Path) -> Iterator[Memory]:
    """A memory without a model."""
    with recollect.open(store, background=False) as opened:
        yield opened


@pytest.fixture
def memory(store: Path, model: Any) -> Iterator[Memory]:
    """A memory with a model on the server."""
    with recollect.open(store, model=model, background=False) as opened:
        yield opened
