"""The reference ranker and the conversations that it was measured on, read where they lie (tests.paths.SHARED)."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import pytest

from tests.paths import SHARED

#: What the reference was written for: English, with and without an assistant.
_SETS = ("beam", "locomo")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


@dataclass(frozen=True)
class Talk:
    """One conversation set: the texts of its messages, who speaks, and what is asked about it."""

    messages: tuple[str, ...]
    names: tuple[str, ...]
    questions: tuple[str, ...]


@cache
def talks() -> tuple[Talk, ...]:
    files = (SHARED / "data" / f"{name}-dev.json" for name in _SETS)
    return tuple(_talk(talk) for file in files for talk in json.loads(file.read_text("utf-8"))["conversations"])


@cache
def all_texts() -> tuple[str, ...]:
    return tuple(text for talk in talks() for text in talk.messages + talk.questions)


@cache
def reference(module: str) -> ModuleType:
    """`qa` (rules on the question) or `ranker`."""
    pytest.importorskip("scipy", reason="the reference ranker wants scipy")
    sys.path.insert(0, str(SHARED / "reference"))
    try:
        return importlib.import_module(module)
    finally:
        sys.path.pop(0)


def _talk(talk: dict[str, list[dict[str, str]]]) -> Talk:
    return Talk(
        messages=tuple(message["content"] or "" for message in talk["messages"]),
        names=tuple(sorted({message["speaker"] for message in talk["messages"] if message["speaker"]})),
        questions=tuple(question["question"] for question in talk["questions"]),
    )
