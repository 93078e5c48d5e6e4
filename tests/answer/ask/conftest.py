"""A memory that holds an answer, without a model and with one on a server of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.answer.ask.asides import of_questions
from tests.answering import memory, model, provider, quiet, store
from tests.models.language.wire_server import WireServer, wire_server

__all__ = ["memory", "model", "patient", "provider", "quiet", "server", "store"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine changes no answer."""
    monkeypatch.setattr("recollect.answer.ask.PATIENCE", 60.0)


@pytest.fixture
def server() -> Iterator[WireServer]:
    """A server that says of questions what changes nothing."""
    with wire_server() as running:
        running.aside = of_questions
        yield running
