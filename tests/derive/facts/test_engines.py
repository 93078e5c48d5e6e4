"""The same story on both engines."""

from __future__ import annotations

import pytest

from recollect.memory import Handle, Memory
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Namespace
from recollect.store import Store
from tests.derive.facts.conftest import contents, drain
from tests.derive.facts.test_facts import day, say
from tests.store.conftest import clock, open_store, store  # noqa: F401


@pytest.fixture
def either(store: Store) -> Memory:  # noqa: F811
    return Memory(Handle(store, StaticEmbedder(), Namespace("acme/luna"), clock=lambda: day(12)))


def test_facts_are_derived_corrected_and_forgotten(either: Memory) -> None:
    say(either, "I live in York. My dog Luna is allergic to chicken.", day(1), "a")
    moved = say(either, "We moved to Leeds in May.", day(6), "b")
    say(either, "I own a small sailboat.", day(6), "b")
    drain(either)
    assert contents(either) == [
        "Luna is allergic to chicken.",
        "The user has a small sailboat.",
        "The user lives in Leeds.",
        "The user's dog is Luna.",
    ]
    (home,) = [fact for fact in either.facts("me") if fact.attribute == "home"]
    assert [fact.value for fact in home.history] == ["York"]
    assert contents(either, as_of="2025-03") == [
        "Luna is allergic to chicken.", "The user lives in York.", "The user's dog is Luna."
    ]  # fmt: skip
    either.knowledge.edit_fact(home.id, value="Lees")
    say(either, "I sold my sailboat.", day(7), "c")
    drain(either)
    assert "The user lives in Lees." in contents(either)
    assert "The user has a small sailboat." not in contents(either)
    either.forget(moved)
    drain(either)
    assert [fact.value for fact in either.facts(include_past=True) if fact.attribute == "home"] == ["York"]
    assert either.upkeep.check() == []
