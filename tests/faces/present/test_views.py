"""Each record is shown by one view, and what its own `to_json` gives is what its view says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.faces.present.views import VIEWS, as_json
from recollect.faces.rest.openapi import schema
from recollect.memory import Memory

PACKAGE = Path(__file__).resolve().parents[3] / "recollect"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        first = memory.store_message("Which bread rises overnight?", title="Bread")
        memory.store_message("A sourdough.", "assistant", conversation_id=first.conversation_id)
        yield memory


def test_each_view_is_of_a_class_that_is_there() -> None:
    classes = {
        name
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for name in (node.name, f"{file.stem}.{node.name}")
    }
    assert [name for name, view in VIEWS.items() if not {view.of or name, f"{name}View"} & classes] == [
        "DayCount"
    ]  # of a pair


def test_what_a_search_gives_is_described_as_it_is(memory: Memory) -> None:
    found = memory.search("bread", facets=True)
    shown = found.to_json()
    assert shown["results"]
    described = schema(type(found)).model_validate(shown | {"next": None}).model_dump()
    assert_described(shown, described)


def assert_described(shown: Any, described: Any) -> None:
    """Whether nothing of a document is missing in what the schema keeps of it."""
    if isinstance(shown, dict):
        assert set(shown) <= set(described)
        for name, value in shown.items():
            assert_described(value, described[name])
    elif isinstance(shown, list) and shown and isinstance(shown[0], dict):
        for one, kept in zip(shown, described, strict=True):
            assert_described(one, kept)


def test_what_has_no_view_is_not_shown() -> None:
    with pytest.raises(TypeError, match="has no view"):
        as_json(object())


def test_of_a_deleted_message_only_the_place_is_shown(memory: Memory) -> None:
    message = memory.messages([memory.search("bread")[0].best.message.id])[0]
    assert as_json(message)["content"] == "Which bread rises overnight?"
    memory.delete(message.id)
    deleted = as_json(memory.messages([message.id])[0])
    assert (deleted["id"], deleted["index"], deleted["content"]) == (message.id, 0, "")
