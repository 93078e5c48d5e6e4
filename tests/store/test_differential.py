"""Both engines, driven by the same random operations, hold and find the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.record import Conversation, Message, Node
from recollect.store import Space, View, Where
from recollect.store.passages import CandidateQuery, Features, Filter, Partition
from recollect.store.transfer import dump_lines
from recollect.text.terms import terms
from tests.store.builders import embedder
from tests.store.driving import EVERYTHING, LISTED, OPERATIONS, Driven
from tests.store.opening import Clock, neo4j, sqlite

#: What both compute alike; numbers of passages, messages and conversations are each engine's own.
ALIKE = (
    "kinds", "flags", "idf", "holds", "there", "bm25", "dense", "dense_z", "previous_dense_z", "previous_asks",
    "windows", "length_z", "who", "present", "inside", "near", "session_bm25", "session_dense",
    "session_similarity", "similarity", "sought", "size", "frequencies", "quality",
)  # fmt: skip
QUESTIONS: tuple[tuple[str, Partition, dict[str, Any]], ...] = (
    ("heron tide proxy", Partition.SAID, {"phrases": (("heron",),)}),
    ("error_42 重跑 Straße", Partition.SAID, {"filter": Filter(roles=("user",)), "sought": (("error", "42"),)}),
    ("lighthouse mooring", Partition.OTHER, {"excluded": (("nginx",),)}),
    ("about the heron", Partition.TITLE, {}),
    ("sourdough tide", Partition.SAID, {"similarity": True, "pieces": (1, 7, 30)}),
    (
        "Ada",
        Partition.SAID,
        {"named": ("Ada",), "spans": ((20148, 20150),)},
    ),
)


def assert_same(ours: Space, theirs: Space) -> None:
    assert list(dump_lines(ours)) == list(dump_lines(theirs))
    assert ours.check() == theirs.check() == []
    with ours.view() as own, theirs.view() as other:
        assert own.counts() == other.counts()
        assert own.index() == other.index()
        for state in ("due", "leased", "dead"):
            assert own.tasks(state) == other.tasks(state)  # type: ignore[arg-type]
        for kind in LISTED:
            where = Where(order="newest")
            assert own.find(kind, where, limit=EVERYTHING) == other.find(kind, where, limit=EVERYTHING), kind  # type: ignore[type-var]
        conversations = [c.id for c in own.find(Conversation, Where(), limit=EVERYTHING).items]
        revised = [*conversations, *(node.id for node in own.find(Node, Where(), limit=EVERYTHING).items)]
        assert own.revisions(revised).keys() == other.revisions(revised).keys()
        assert own.sizes(conversations) == other.sizes(conversations)
        for conversation_id in conversations:
            ends = [replace(end, revision=0) for view in (own, other) if (end := view.end(conversation_id))]
            assert ends[0] == ends[1]
        assert_same_edges(own, other, revised)
        assert own.speakers() == other.speakers()
        assert own.years() == other.years()
        assert own.vocabulary().compounds("light") == other.vocabulary().compounds("light")
        assert own.vocabulary().near("mooringg") == other.vocabulary().near("mooringg")
        assert own.scan(["heron", "STRASSE", "重跑"], 7) == other.scan(["heron", "STRASSE", "重跑"], 7)
        assert [t.text for t in own.unembedded(EVERYTHING)] == [t.text for t in other.unembedded(EVERYTHING)]
        for text, partition, more in QUESTIONS:
            assert_same_features(own, other, text, partition, more)


def assert_same_edges(own: View, other: View, ids: list[Any]) -> None:
    ids = ids + [message.id for message in own.find(Message, Where(), limit=20).items]
    assert own.edges(ids) == other.edges(ids)
    assert own.edges(ids, way="in") == other.edges(ids, way="in")


def ask(view: View, text: str, partition: Partition, more: dict[str, Any]) -> Features:
    groups = tuple(((term, 1.0),) for term in dict.fromkeys(terms(text)))
    if "similarity" in more:
        more = {**more, "similarity": np.ones(384, np.float32) / np.float32(384**0.5)}
    return view.candidates(CandidateQuery(partition, groups, embedder().embed([text])[0], **more))


def assert_same_features(own: View, other: View, text: str, partition: Partition, more: dict[str, Any]) -> None:
    ours, theirs = ask(own, text, partition, more), ask(other, text, partition, more)
    assert texts(own, ours.passages) == texts(other, theirs.passages)
    for name in ALIKE:
        # Sums over other segments differ in the last digits.
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4, atol=1e-4), (text, name)
    for name in ("messages", "conversations"):
        assert np.array_equal(groups_of(getattr(ours, name)), groups_of(getattr(theirs, name))), (text, name)
    assert np.array_equal(ours.neighbours < 0, theirs.neighbours < 0)
    beside = ours.neighbours[ours.neighbours >= 0], theirs.neighbours[theirs.neighbours >= 0]
    assert texts(own, beside[0]) == texts(other, beside[1])
    assert ours.piece_idf == theirs.piece_idf


def texts(view: View, numbers: NDArray[Any]) -> list[Any]:
    """Passages with their tokens, whatever their numbers."""
    found = view.passages(numbers.tolist(), tokens=True)
    tokens = [t.tokens and (t.tokens.pieces.tolist(), t.tokens.tokens.tolist()) for t in found]
    return list(zip([replace(text, number=0, tokens=None) for text in found], tokens, strict=True))


def groups_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """Which rows belong together; 0 stays 0."""
    known = {0: 0}
    return np.array([known.setdefault(number, len(known)) for number in numbers.tolist()])


def same_operations(examples: int, *, same: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with so many runs of operations, the same ones each time."""

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        runs = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 999)), min_size=16, max_size=30)
        chosen = settings(
            max_examples=examples,
            derandomize=same,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate,),
        )
        return chosen(given(runs)(test))

    return decorated


@same_operations(2)
def test_on_neo4j_the_same_operations_leave_the_same(
    neo4j_uri: str, tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int]]
) -> None:
    run_on_both(neo4j_uri, tmp_path_factory.mktemp("same"), operations)


@pytest.mark.long
@same_operations(60, same=False)
def test_on_neo4j_the_same_operations_leave_the_same_however_many(
    neo4j_uri: str, tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int]]
) -> None:
    run_on_both(neo4j_uri, tmp_path_factory.mktemp("same"), operations)


def run_on_both(neo4j_uri: str, folder: Path, operations: list[tuple[str, int]]) -> None:
    with sqlite(folder) as open_ours, neo4j(neo4j_uri) as open_theirs:
        clock = Clock()
        engines = [Driven(opened(clock)) for opened in (open_ours, open_theirs)]
        for operation, seed in [("import", 3), *operations]:
            for engine in engines:
                engine.run(operation, seed)
            clock.now = engines[0].now()
        assert_same(engines[0].space, engines[1].space)
        for engine in engines:
            engine.store.close()
