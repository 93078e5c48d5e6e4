"""The first ten messages for 300 questions of the development sets, in both modes: ids alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
import time_machine

from benchmarks.datasets import PUBLIC, DataSet, sets_named
from benchmarks.prepared import Prepared
from tests.golden.golden import TODAY, golden

pytestmark = pytest.mark.slow

#: Histories of each set, and questions of each history: 300 in all.
_ASKED = {"locomo-dev": (4, 56), "beam-dev": (2, 18), "lifebench-en-dev": (1, 32), "qmsum-dev": (1, 13)}
_MESSAGES = 400  # of a history
_FIRST = 10
_TIED = 1e-4  # a hit may change its place with another whose score is this close: int8 differs between processors


@pytest.fixture(scope="module", params=_ASKED)
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[DataSet, Prepared]:
    """A set with its quality vectors."""
    found, missing = sets_named([request.param], PUBLIC)
    if missing:
        pytest.skip(missing[0])
    data = _shortened(found[0].head(*_ASKED[request.param]))
    made = Prepared(data, tmp_path_factory.mktemp("golden"))
    made.make_quality()
    return data, made


@pytest.mark.parametrize("mode", ["instant", "quality"])
def test_the_first_ten_hits(prepared: tuple[DataSet, Prepared], mode: str) -> None:
    data, made = prepared
    name = f"hits/{data.name}-{mode}"
    with time_machine.travel(TODAY):  # "last week" in a question is relative to it
        found = {f"{history}: {number}": hits for history, number, hits in _asked(data, made, mode)}
    kept = golden(name, found)
    assert found.keys() == kept.keys()
    assert not [question for question, hits in found.items() if not _same(hits, kept[question])]


def test_hits_of_the_same_score_may_change_places() -> None:
    kept: Hits = [["a", 3.0], ["b", 2.00005], ["c", 2.0]]
    assert _same([["a", 3.0], ["c", 2.00004], ["b", 2.00001]], kept)
    assert _same([["a", 3.0], ["b", 2.0], ["d", 2.0]], kept)  # the last may change with the first that is left out
    assert not _same([["b", 2.0], ["a", 3.0], ["c", 2.0]], kept)
    assert not _same([["a", 3.0], ["b", 2.0]], kept)


Hits = list[list[Any]]  # [id, score], best first


def _shortened(data: DataSet) -> DataSet:
    """Each history with its first sessions alone: whether hits stay the same needs no more."""
    histories = []
    for history in data.histories:
        counts = accumulate(len(session.messages) for session in history.sessions)
        kept = sum(count <= _MESSAGES for count in counts)
        histories.append(replace(history, sessions=history.sessions[: max(kept, 1)]))
    return replace(data, histories=tuple(histories))


def _asked(data: DataSet, prepared: Prepared, mode: str) -> Iterator[tuple[str, int, Hits]]:
    for history in data.histories:
        with prepared.memory(history) as memory:
            for number, question in enumerate(history.questions):
                results = memory.search(question.text, group_by="message", limit=_FIRST, mode=mode)
                yield history.id, number, [[hit.messages[0].message.source_id, round(hit.score, 6)] for hit in results]


def _same(found: Hits, kept: Hits) -> bool:
    """Whether each place has the message that it had, or one whose score was the same."""
    scores = dict(kept)
    last = kept[-1][1] if kept else 0.0
    return len(found) == len(kept) and all(
        message == kept_message or abs(scores.get(message, last) - score) < _TIED
        for (message, _), (kept_message, score) in zip(found, kept, strict=True)
    )
