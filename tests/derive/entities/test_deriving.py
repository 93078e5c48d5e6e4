"""The same messages give the same entities, in whatever portions and order they come, and nothing of what is gone."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.derive.entities.deriver import Entities
from recollect.derive.tasks.base import Effects, Portion, Setting
from recollect.memory import Memory
from recollect.record import Edge, Message, NodeId
from recollect.store import View
from tests.derive.entities.talking import WORDS, derived, drain, say
from tests.properties import examples

TALK = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(WORDS)), min_size=1, max_size=14)
SETTINGS = settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return recollect.open(tmp_path / "memory.db", durable=False)


def fresh() -> Memory:
    return recollect.open(Path(tempfile.mkdtemp()) / "memory.db", durable=False)


@SETTINGS
@given(talk=TALK, when=st.sets(st.integers(0, 13)))
def test_portions_do_not_matter(talk: list[tuple[str, str]], when: set[int]) -> None:
    with fresh() as once, fresh() as often:
        for number, (conversation, words) in enumerate(talk):
            for memory in (once, often):
                say(memory, words, conversation, number)
            if number in when:
                drain(often)
        drain(once)
        drain(often)
        assert derived(once) == derived(often)


@SETTINGS
@given(talk=TALK, seed=st.integers(0, 9))
def test_the_order_of_conversations_does_not_matter(talk: list[tuple[str, str]], seed: int) -> None:
    with fresh() as one, fresh() as other:
        for memory, names in ((one, "ab"), (other, "ba")):
            for name in names:
                for number, (conversation, words) in enumerate(talk):
                    if conversation == name:
                        say(memory, words, conversation, number)
                drain(memory)
        assert derived(one) == derived(other)


@SETTINGS
@given(
    talk=TALK,
    changes=st.lists(
        st.tuples(
            st.integers(0, 13), st.sampled_from(["edit", "delete", "restore"]), st.sampled_from(WORDS), st.booleans()
        ),
        max_size=8,
    ),
)
def test_what_is_changed_is_as_if_it_had_always_been_so(
    talk: list[tuple[str, str]], changes: list[tuple[int, str, str, bool]]
) -> None:
    with fresh() as changed, fresh() as plain:
        ids = [say(changed, words, conversation, number) for number, (conversation, words) in enumerate(talk)]
        drain(changed)
        living: dict[str, str | None] = {i: words for i, (_, words) in zip(ids, talk, strict=True)}
        said = dict(living)
        for number, kind, words, at_once in changes:
            own = ids[number % len(ids)]
            if kind == "edit":
                changed.update_message(own, words)
                said[own] = words
                if living[own] is not None:
                    living[own] = words
            elif kind == "delete":
                changed.delete(own)
                living[own] = None
            else:
                changed.restore(own)
                living[own] = said[own]
            if at_once:
                drain(changed)
        drain(changed)
        for number, (conversation, _) in enumerate(talk):
            if (words_now := living[ids[number]]) is not None:
                say(plain, words_now, conversation, number)
        drain(plain)
        assert derived(changed) == derived(plain)


def test_counts_are_exact_and_evidence_is_named(memory: Memory) -> None:
    order = list(range(40))
    random.Random(1).shuffle(order)
    for number in order:
        say(memory, "We use PostgreSQL in Tidepool.", "a", number)
    drain(memory)
    nodes, edges = derived(memory)
    (node,) = (node for node in nodes.values() if node["text"] == "PostgreSQL")
    assert node["body"]["count"] == 40
    assert sum("USES" in edge for edge in edges) > 0


def test_nothing_of_what_was_forgotten_remains(memory: Memory) -> None:
    say(memory, "We use PostgreSQL in Tidepool.", "a", 1)
    own = say(memory, "Anton Zxcanary works at Zxcanary Labs, and we use Zxcanary.js for Tidepool.", "a", 2)
    drain(memory)
    assert any("Zxcanary" in str(node) for node in derived(memory)[0].values())
    memory.forget(own)
    drain(memory)
    nodes, edges = derived(memory)
    assert "zxcanary" not in str((nodes, edges)).lower()
    assert {node["text"] for node in nodes.values()} == {"PostgreSQL", "Tidepool", "you"}
    path = Path(memory.location)
    memory.close()
    assert b"zxcanary" not in path.read_bytes().lower()


def test_what_only_a_deleted_message_mentions_is_not_shown_from_then_on(memory: Memory) -> None:
    own = say(memory, "We met Kjell Berg in Lisbon.", "a", 1)
    say(memory, "Lisbon is warm, I hear, in Lisbon.", "b", 2)
    drain(memory)
    memory.delete(own)
    assert {entity.name for entity in memory.entities()} == {"Lisbon"}
    memory.restore(own)
    drain(memory)
    assert {entity.name for entity in memory.entities()} == {"Lisbon", "Kjell Berg"}
    memory.update_message(own, "We met Kjell Berg in Porto.")
    drain(memory)
    assert memory.knowledge.entity("Kjell Berg").mentions == 1


def test_namespaces_know_nothing_of_each_other(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", namespace="acme/rex", durable=False) as rex:
        say(rex, "We met Dr. Maria Lopez in Lisbon.", "a", 1)
        drain(rex)
        assert derived(rex)[0]
    with recollect.open(tmp_path / "m.db", namespace="acme/luna", durable=False) as luna:
        say(luna, "We use Redis in Porto.", "a", 1)
        drain(luna)
        assert {node["text"] for node in derived(luna)[0].values()} == {"Redis", "Porto", "you"}


def test_an_append_costs_the_same_however_often_a_name_was_mentioned(memory: Memory) -> None:
    read: list[int] = []
    for number in range(600):
        say(memory, "We use PostgreSQL in Tidepool, says Maria Lopez.", "ab"[number % 2], number)
        if number in (20, 599):
            drain(memory)
            say(memory, "We use PostgreSQL in Tidepool, says Maria Lopez.", "c", number)
            read.append(_edges_read(memory))
    assert read[1] <= read[0] + 2


def test_an_edit_in_the_midst_of_a_hub_does_not_count_it_anew(memory: Memory) -> None:
    ids = [say(memory, "We use PostgreSQL in Tidepool.", "a", number) for number in range(50)]
    drain(memory)
    with memory.handle.space.view() as view:
        order = sorted((m.timestamp, m.id) for m in view.get(Message, [NodeId(i) for i in ids]))
    memory.update_message(order[25][1], "We use Redis in Tidepool.")
    say(memory, "We use PostgreSQL in Tidepool.", "b", 1)
    assert _edges_read(memory, into=True) == 0


def _edges_read(memory: Memory, *, into: bool = False) -> int:
    """How many edges a draining reads, or only of those that enter entities."""
    read = 0

    class Counting(Entities):
        def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
            def edges(of: Any, types: Any = (), way: Any = "out", limit: int = 10_000) -> list[Edge]:
                nonlocal read
                found = view.edges(of, types, way, limit)
                read += len(found) if (way == "in" and "MENTIONS" in types) or not into else 0
                return found

            return super().derive(cast(View, Spied(view, edges)), portions, setting)

    drain(memory, [Counting()])
    return read


class Spied:
    """A view whose edges are counted."""

    def __init__(self, view: View, edges: Any) -> None:
        self._view, self.edges = view, edges

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)
