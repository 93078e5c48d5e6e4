"""Topics: the same messages give the same ones, they follow what changes, and hold nothing of what is gone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollect
from recollect.derive.topics.naming import clusters
from recollect.errors import NotFound
from recollect.memory import Memory
from recollect.record import Node, NodeKind
from recollect.record.wire import to_wire
from recollect.store import Where
from recollect.store.transfer import every

SUBJECTS = {
    "nginx": "How do I configure the nginx reverse proxy with TLS certificates for my web server?",
    "bread": "My sourdough bread needs more rye flour, a longer rise and a hotter oven, says Ana.",
    "surf": "The waves in Ericeira are high and the wind is offshore, good for surfing with Rui.",
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return recollect.open(tmp_path / "memory.db", durable=False)


def talk(memory: Memory, order: list[int] | None = None, words: dict[int, str] | None = None) -> None:
    subjects = list(SUBJECTS.values())
    for number in order or range(15):
        said = (words or {}).get(number) or f"{subjects[number % 3]} Number {number}."
        memory.store_message(said, conversation_id=f"c{number:02}", id=f"m{number:02}")


def found(memory: Memory) -> tuple[dict[str, Any], set[str]]:
    with memory.handle.space.view() as view:
        kinds = (NodeKind.TOPIC.value, NodeKind.SEGMENT.value)
        nodes = {n.id: to_wire(n) for n in every(view, Node, Where(kinds=kinds, states=("live",)))}
        edges = {str(to_wire(e)) for e in view.edges(None, ("BELONGS_TO", "DERIVES_FROM", "COVERS"))
                 if e.source_id in nodes or e.target_id in nodes}  # fmt: skip
    for node in nodes.values():
        node.pop("valid_from"), node.pop("valid_to")  # the time of the test
    return nodes, edges


def test_each_subject_is_a_topic_with_its_messages(memory: Memory) -> None:
    talk(memory)
    memory.upkeep.consolidate()
    topics = memory.topics()
    assert sorted(topic.messages for topic in topics) == [5, 5, 5]
    for topic in topics:
        said = {message.content.partition(" Number")[0] for message in memory.toolbox().get_topic_messages(topic.label)}
        assert len(said) == 1
        assert [m.id for m in memory.toolbox().get_cluster(topic.id)] == [
            m.id for m in memory.toolbox().get_topic_messages(topic.label)
        ]
        assert len(memory.toolbox().get_cluster(topic.id, limit=2)) == 2
    assert any("nginx" in topic.terms for topic in topics)
    with pytest.raises(NotFound, match="No topic"):
        memory.toolbox().get_topic_messages("astronomy")


def test_order_and_portions_do_not_matter(tmp_path: Path) -> None:
    results = []
    for seed in range(3):
        with recollect.open(tmp_path / f"{seed}.db", durable=False) as memory:
            order = list(range(15))
            random.Random(seed).shuffle(order)
            # Which segment was first depends on the time: topics are compared by their members.
            talk(memory, order[: seed * 5])
            memory.upkeep.consolidate()
            talk(memory, order[seed * 5 :])
            memory.upkeep.consolidate()
            results.append(sorted(sorted(m.id for m in memory.toolbox().get_cluster(t.id)) for t in memory.topics()))
    assert results[0] == results[1] == results[2]


def test_what_is_edited_or_deleted_leaves_its_topic(memory: Memory) -> None:
    talk(memory)
    memory.upkeep.consolidate()
    memory.update_message("m00", SUBJECTS["bread"])
    memory.delete("m03")
    memory.upkeep.consolidate()
    by_words = {
        memory.toolbox().get_cluster(t.id)[0].content.partition(" Number")[0]: t.messages for t in memory.topics()
    }
    assert by_words == {SUBJECTS["nginx"]: 3, SUBJECTS["bread"]: 6, SUBJECTS["surf"]: 5}
    for number in (6, 9):
        memory.delete(f"m{number:02}")
    memory.upkeep.consolidate()
    assert len(memory.topics()) == 2


def test_what_is_said_on_is_counted_in_its_topic(memory: Memory) -> None:
    talk(memory)
    counted = []
    for number in range(4):  # of the second and fourth message on, a segment is about something else
        said = memory.store_message(f"{SUBJECTS['bread']} More, {number}.", conversation_id="c01")
        memory.upkeep.consolidate()
        (topic,) = [one for one in memory.topics() if said.id in {m.id for m in memory.toolbox().get_cluster(one.id)}]
        counted.append(topic.messages)
        assert topic.last == said.timestamp
        assert said.id in {i for one in memory.summaries(kind="topic") for i in one.covers}
    assert counted == [6, 7, 8, 9]
    before = [memory.topics(), memory.summaries(kind="topic")]
    memory.upkeep.consolidate(again=True)
    assert [memory.topics(), memory.summaries(kind="topic")] == before


def test_nothing_of_what_was_forgotten_remains(memory: Memory) -> None:
    canary = "The Zxcanary nginx proxy of zxcanary.example serves Zxcanary, says Zxcanary of zxcanarian nginx."
    talk(memory, words={0: canary, 3: canary, 6: canary})
    memory.upkeep.consolidate()
    assert "zxcanary" in str(found(memory)).lower()
    memory.forget("m00", "m03", "m06")
    memory.upkeep.consolidate()
    assert "zxcanar" not in str(found(memory)).lower()
    path = Path(memory.location)
    memory.close()
    assert b"zxcanar" not in path.read_bytes().lower()


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("before", ["", "deleted", "derived"])
def test_what_is_forgotten_is_in_no_topic_at_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, before: str, large: bool
) -> None:
    talk(memory, words={0: "The Zxcanary nginx reverse proxy with TLS certificates serves zxcanary for my web server."})
    memory.upkeep.consolidate()
    assert "zxcanary" in str(memory.summaries(kind="topic")).lower()
    if large:
        monkeypatch.setattr("recollect.derive.topics.work.SMALL", 0)
    if before:
        memory.delete("m00")
        assert "zxcanary" not in str([memory.topics(), memory.summaries(kind="topic")]).lower()
    if before == "derived":
        memory.upkeep.consolidate(limit=1)
    memory.forget("m00")
    with memory.handle.space.view() as view:
        assert "zxcanary" not in str([to_wire(node) for node in every(view, Node)]).lower()
    memory.upkeep.consolidate()
    assert sorted(topic.messages for topic in memory.topics()) == [4, 5, 5]
    assert len(memory.summaries(kind="topic")) == 3


def test_segments_are_shown_in_order_with_their_topic(memory: Memory) -> None:
    talk(memory)
    for subject in ("nginx", "nginx", "surf"):
        memory.store_message(SUBJECTS[subject], conversation_id="long")
        memory.store_message("I see, go on.", "assistant", conversation_id="long")
    memory.upkeep.consolidate()
    segments = memory.knowledge.segments("long")
    assert [segment.messages for segment in segments] == [4, 2]
    assert [segment.message_id for segment in segments] == [
        m.id for m in memory.conversation("long").messages if m.position in (0, 4)
    ]
    assert all(segment.topic for segment in segments)
    with pytest.raises(NotFound):
        memory.knowledge.segments("nothing")


def test_clusters_do_not_depend_on_the_order_of_what_is_no_sample() -> None:
    generator = np.random.default_rng(1)
    centres = generator.normal(size=(4, 32))
    rows = np.concatenate([centre + 0.2 * generator.normal(size=(20, 32)) for centre in centres]).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    members = {frozenset(cluster.rows) for cluster in clusters(rows, 0.3, 3)}
    assert members == {frozenset(range(start, start + 20)) for start in (0, 20, 40, 60)}
    assert clusters(rows[:2], 0.3, 3) == []
