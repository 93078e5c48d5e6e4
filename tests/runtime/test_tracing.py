"""Spans: none unless asked for, none with words unless those are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from recollect.runtime import tracing
from tests.models.language.wire_server import Says, wire_server
from tests.test_import_time import loaded_by

CHICKEN = "Rex may eat no chicken."


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What was told, oldest first."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    tracing._wanted.cache_clear()
    yield exporter.get_finished_spans
    tracing._wanted.cache_clear()


def worked(folder: Path) -> None:
    with recollect.open(folder / "memory.db", namespace="acme/rex", background=False) as memory:
        said = memory.store_message(CHICKEN)
        memory.store_messages([{"content": "Nor turkey."}, {"content": "Nor duck."}], conversation_id="c-1")
        memory.search("chicken")
        memory.update_message(said.id, "Rex may eat no chicken at all.")
        memory.store_fact("Rex is a dog")
        memory.forget(said.id)
        with pytest.raises(NotFound):
            memory.delete("nobody")


def test_nothing_is_told_unless_asked_for(spans: Any, tmp_path: Path) -> None:
    worked(tmp_path)
    assert not spans()
    loaded = loaded_by("import recollect; m = recollect.open(':' + 'x'); m.store_message('a'); m.close()".replace(
        "':' + 'x'", repr(str(tmp_path / "other.db"))
    ))  # fmt: skip
    assert not {name for name in loaded if name.startswith("opentelemetry")}


def test_operations_are_told_by_their_conventional_names(
    spans: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(tracing.VARIABLE, "on")
    worked(tmp_path)
    told = [(s.attributes["gen_ai.operation.name"], s.attributes.get("gen_ai.memory.record.count")) for s in spans()]
    assert told == [
        ("create_memory", 1),
        ("create_memory", 2),
        ("search_memory", 2),
        ("update_memory", 1),
        ("upsert_memory", 1),
        ("delete_memory", 1),
        ("delete_memory", None),
    ]
    assert {span.attributes["gen_ai.memory.store.id"] for span in spans()} == {"acme/rex"}
    assert spans()[1].attributes["gen_ai.conversation.id"] == "c-1"
    assert spans()[-1].attributes["error.type"] == "not_found"
    assert not any(word in span.to_json() for span in spans() for word in ("chicken", "turkey", "nobody"))


def test_content_is_told_only_where_it_is_asked_for(
    spans: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(tracing.VARIABLE, "content")
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        memory.search("chicken")
        memory.prepare_context("And turkey?")
    assert [span.attributes["gen_ai.memory.query.text"] for span in spans()] == ["chicken", "And turkey?"]


def test_calls_of_models_tell_their_tokens(spans: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tracing.VARIABLE, "on")
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    with wire_server() as server:
        server.otherwise = lambda _: Says("No chicken.")
        model = f"openai:m@{server.root}/v1"
        with recollect.open(tmp_path / "memory.db", background=False, asked_model=model) as memory:
            memory.chat(None, "What must Rex not eat?")
    called = [span.attributes for span in spans() if span.attributes["gen_ai.operation.name"] == "chat"]
    assert [
        (a["gen_ai.request.model"], a["gen_ai.usage.input_tokens"], a["gen_ai.usage.output_tokens"]) for a in called
    ] == [("m", 100, 20)]


def test_a_value_that_is_none_is_said(spans: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tracing.VARIABLE, "loud")
    with recollect.open(tmp_path / "memory.db", background=False) as memory, pytest.raises(InvalidInput, match="loud"):
        memory.search("chicken")
