"""The sample archive in a memory of the test's own, without a model and with one on loopback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.answering import memory, model, provider, quiet, server
from tests.models.language.wire_server import Says, says

__all__ = ["memory", "model", "provider", "quiet", "server", "store"]

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
def store(home: Path, sample_store: Path) -> Path:
    """The sample archive, to be written to."""
    return Path(shutil.copy(sample_store, home / "memory.db"))
