"""A memory that holds an answer, without a model and with one on a server of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from tests.ask.asides import of_questions
from tests.model.conftest import model_of
from tests.model.wire_server import WireServer, wire_server


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine changes no answer."""
    monkeypatch.setattr("recollect.ask.understand.PATIENCE", 60.0)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        running.aside = of_questions
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(provider: str, server: WireServer) -> Any:
    return model_of(provider, server)


@pytest.fixture
def memory(home: Path, model: Any) -> Iterator[Memory]:
    """A memory with a model on the server."""
    with recollect.open(home / "memory.db", model=model, background=False) as opened:
        yield opened


@pytest.fixture
def quiet(home: Path) -> Iterator[Memory]:
    """A memory without a model."""
    with recollect.open(home / "memory.db", background=False) as opened:
        yield opened
