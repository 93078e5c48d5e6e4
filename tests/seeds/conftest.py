"""Memories for the promises of the seed documents: an empty one, one on each engine, and the sample archive."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from recollect.record import Message

START = datetime(2025, 3, 3, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Empty, without a model."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "neo4j"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a memory of each engine is."""
    return str(tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("neo4j_place"))


@pytest.fixture
def on_both(place: str) -> Iterator[Memory]:
    """Empty, without a model, on each engine."""
    with recollect.open(place, durable=False, background=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def archive(sample_store: Path) -> Iterator[Memory]:
    """The sample archive, which has the conversation of the first seed in it. Read only."""
    with recollect.open(sample_store, background=False) as opened:
        yield opened


@pytest.fixture
def writable(sample_store: Path, tmp_path: Path) -> Iterator[Memory]:
    """A copy of it, to be written to."""
    with recollect.open(shutil.copy(sample_store, tmp_path), durable=False, background=False) as opened:
        yield opened


def say(
    memory: Memory,
    lines: Sequence[str],
    conversation: str = "talk",
    start: datetime = START,
    apart: timedelta = timedelta(minutes=1),
) -> list[Message]:
    """Stores what a person and an assistant say in turn."""
    return memory.store_messages(
        [
            {"content": line, "role": "assistant" if number % 2 else "user", "timestamp": start + number * apart}
            for number, line in enumerate(lines)
        ],
        conversation_id=conversation,
    )
