"""Questions without an answer: made as they say, and what is judged of them counted rightly."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.absent import CASES, EASY, HERE, HONEST, foreign, put
from benchmarks.datasets import DataSet, History, Question, Said, Session
from benchmarks.intervals import auroc, auroc_of_groups
from benchmarks.prepared import Prepared
from benchmarks.unanswered import fitted, judge, report
from recollect.record import Message
from recollect.store import Where


def history(name: str, talks: dict[str, str]) -> History:
    moment = datetime(2024, 5, 1, 9, tzinfo=UTC)
    sessions = tuple(
        Session(f"{name}/{key}", key, moment, (Said(f"{name}-{key}-1", "user", None, text, moment),))
        for key, text in talks.items()
    )
    questions = tuple(
        Question(f"What about {text}?", "one", frozenset({f"{name}-{key}-1"}), "tiny") for key, text in talks.items()
    )
    return History(name, sessions, questions)


TINY = DataSet(
    "tiny",
    (
        history("harbour", {"boat": "the keel of the Petrel", "crane": "the crane at the quay", "fish": "smoked eel"}),
        history("garden", {"apple": "apples in the cellar", "bee": "bees on the meadow"}),
    ),
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(TINY, tmp_path_factory.mktemp("tiny"))


def test_every_question_is_put_three_times(prepared: Prepared) -> None:
    cases = [one.case for one in put(TINY, prepared, ())]
    assert {case: cases.count(case) for case in CASES} == {HERE: 5, EASY: 5, HONEST: 5}


def test_honest_ones_lack_their_answer_and_nothing_else(prepared: Prepared) -> None:
    for one in put(TINY, prepared, (), [HONEST]):
        left = {message.source_id for message in one.view.find(Message, Where(deleted=False)).items}
        own = next(h for h in TINY.histories if one.question in h.questions)
        assert left == {message.id for message in own.messages} - one.question.evidence
    for one in put(TINY, prepared, (), [HERE]):
        assert one.question.evidence <= {m.source_id for m in one.view.find(Message, Where(deleted=False)).items}


def test_easy_ones_are_of_another_archive() -> None:
    assert all(question not in own.questions for own, question in foreign(TINY, ()))
    alone = DataSet("alone", TINY.histories[:1])
    asked = foreign(alone, [alone, TINY])
    assert len(asked) == 3
    assert {own.id for own, _ in asked} == {"harbour"}


def test_auroc_counts_pairs_in_order() -> None:
    assert auroc([3, 2], [1, 0]) == 1
    assert auroc([1, 0], [1, 0]) == 0.5
    found = auroc_of_groups([([3, 2, 1], [2, 1, 0]), ([1.0] * 4, [0.0] * 4)])
    assert found.mean == pytest.approx((7 / 9 + 1) / 2)
    assert found.low <= found.mean <= found.high


def test_the_tables_tell_every_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECT_BENCH_CACHE", str(tmp_path))
    judged = {"tiny-a": judge(TINY, (), "instant"), "other-b": judge(TINY, (), "instant")}
    assert "tiny-a" in report(judged)
    assert "| mean | 10 |" in report(judged)
    assert "Fitted on all: known" in fitted(judged)
    assert "two sets" in fitted({"tiny-a": judged["tiny-a"], "tiny-b": judged["tiny-a"]})
