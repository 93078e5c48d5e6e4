"""Every term of the score is what the table says, of the messages that it says, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recollect.search.query.question import Question, read_question
from recollect.search.query.wants import TimeOrder
from recollect.search.scoring import (
    TERMS,
    ScoreInput,
    Spread,
    coverage,
    in_order,
    matrix,
    own_coverage,
    pool_z,
    weighed,
)
from recollect.search.weights import INSTANT, QUALITY
from recollect.store.passages import Features
from recollect.text.language import Flag
from tests.search.features_made import flags, pool

PLAIN = read_question("the heron by the river")


def evidence(features: Features, question: Question = PLAIN, **more: Any) -> ScoreInput:
    return ScoreInput(question, features, **{"titles": np.zeros(len(features), np.float32)} | more)


def column(name: str, features: Features, question: Question = PLAIN, **more: Any) -> list[float]:
    """A term's feature of each passage."""
    place = [term.name for term in TERMS].index(name)
    return [float(value) for value in matrix(evidence(features, question, **more))[:, place]]


def order(features: Features, question: Question = PLAIN) -> list[int]:
    total = weighed(matrix(evidence(features, question)), INSTANT).total
    return [int(i) for i in np.argsort(-total, kind="stable")]


def test_names_are_distinct_and_every_weight_has_its_term() -> None:
    names = [term.name for term in TERMS]
    assert len(set(names)) == len(names)
    assert set(INSTANT) | set(QUALITY) == set(names)
    assert all(term.says and term.whose for term in TERMS)


def test_a_score_is_the_sum_of_its_terms() -> None:
    features = pool(flags(), flags("assistant"), windows=[0.2, 0.7], session_bm25=[1, 2], sought=[True, False])
    scores = weighed(matrix(evidence(features)), INSTANT)
    for at in range(2):
        assert scores.total[at] == pytest.approx(sum(scores.terms(at).values()), abs=1e-5)
    assert scores.terms(0)["as typed"] == pytest.approx(INSTANT["as typed"])


def test_an_empty_pool_has_an_empty_matrix() -> None:
    assert matrix(evidence(pool())).shape == (0, len(TERMS))


def test_words_take_each_term_where_it_counts_most() -> None:
    holds = np.zeros((1, 5, 2), np.float32)
    holds[0, 1, 0] = 1  # the first term in the message before: 0.8
    holds[0, 3, 0] = 1  # and two before: 0.4
    holds[0, 2, 1] = 1  # the second in the one after: 0.6
    features = replace(pool(flags(), holds=holds), idf=np.array([3.0, 1.0], np.float32))
    assert coverage(features) == pytest.approx([(3 * 0.8 + 1 * 0.6) / 4])
    assert own_coverage(features) == pytest.approx([0])


def test_a_question_without_words_covers_nothing() -> None:
    features = replace(pool(flags()), idf=np.zeros(0, np.float32), holds=np.zeros((1, 5, 0), np.float32))
    assert coverage(features) == pytest.approx([0])
    assert order(features) == [0]


def test_words_count_alone_where_the_vectors_cannot_read_the_question() -> None:
    bm25 = [[2, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    assert column("words alone", pool(flags(), flags(), bm25=bm25)) == [2, 0]
    assert column("words alone", pool(flags(), flags(), bm25=bm25, dense=[0.1, 0.2])) == [0, 0]


def test_who_speaks_counts_by_the_place_of_the_name_in_the_question() -> None:
    features = pool(flags(people=True), flags(people=True), flags(people=True), who=[1, 2, 0])
    assert column("speaker", features, named=1) == pytest.approx([1, 0.4, 0])
    assert column("speaker", features, named=2) == pytest.approx([0.85, 0.4, 0])


def test_of_people_present_two_count() -> None:
    assert column("present", pool(flags(), flags(), flags(), present=[0, 1, 5])) == [0, 1, 2]


def test_a_users_words_count_where_the_question_speaks_of_the_asker() -> None:
    features = pool(flags("assistant"), flags("user"), flags("user", people=True))
    assert column("asker", features, read_question("What did I decide about the lease?")) == [0, 1, 0]
    assert column("asker", features) == [0, 0, 0]
    assert column("asker", features, read_question("Which library did you suggest for it?")) == [1, 0, 0]


def test_of_attachments_the_role_does_not_count() -> None:
    features = replace(pool(flags("user"), flags("user")), kinds=np.array([1, 0], np.uint8))
    assert column("asker", features, read_question("What did I decide about the lease?")) == [0, 1]


@pytest.mark.parametrize(
    ("question", "flag"),
    [
        ("When did Anna go to Porto?", Flag.TIME),
        ("How many herons did Anna see?", Flag.NUMBER),
        ("Where does Anna live?", Flag.PLACE),
    ],
)
def test_what_kind_of_answer_is_asked_for(question: str, flag: Flag) -> None:
    features = pool(flags(people=True), flags(people=True, has=flag))
    assert column("answer type", features, read_question(question)) == [0, 1]
    assert column("answer type", features) == [0, 0]


def test_a_summary_is_not_drawn_from_a_users_message_but_what_the_user_said_is() -> None:
    features = pool(flags("user"), flags("assistant"))
    assert column("request", features, read_question("Can you give me a summary of my garden plans?")) == [-1, 0]
    assert column("request", features, read_question("overview of what I said about the lease")) == [0, 0]


def test_standing_instructions_and_preferences_count_where_advice_is_asked() -> None:
    advice = read_question("How should I format the code you write for me?")
    assert advice.is_how_to
    features = pool(flags(), flags(has=Flag.INSTRUCTION), flags(has=Flag.PREFERENCE), flags("assistant", has=255))
    assert column("request", features, advice) == [0, 1, 1, 0]
    assert column("request", features) == [0, 0, 0, 0]


def test_a_question_is_seldom_the_answer() -> None:
    assert order(pool(flags(people=True, has=Flag.QUESTION), flags(people=True))) == [1, 0]


def test_who_answers_a_like_question_is_lifted_by_it() -> None:
    features = pool(flags(), flags(), previous_asks=[False, True], previous_dense_z=[2, 2])
    assert column("answers", features) == pytest.approx([0.4, 2])


def test_length_counts_among_people_alone() -> None:
    assert column("length", pool(flags(people=True), flags(), length_z=[2, 2])) == [2, 0]


def test_dates_count_on_the_day_and_near_it() -> None:
    assert column("date", pool(flags(), flags(), inside=[1, 0], near=[1, 0.5])) == [2, 0.5]


def test_few_typed_words_count_squared_where_all_are_there() -> None:
    holds = np.zeros((2, 5, 2), np.float32)
    holds[0, 0] = 1
    holds[1, 0, 0] = 1
    features = replace(pool(flags(), flags(), holds=holds), idf=np.ones(2, np.float32))
    assert column("all words", features, typed=True) == pytest.approx([1, 0.25])
    assert column("all words", features) == [0, 0]


def test_a_quotation_in_a_sentence_counts_less_than_an_identifier() -> None:
    features = pool(flags(), sought=[True])
    assert column("as typed", features) == [1]
    assert column("as typed", features, quoted=True) == pytest.approx([1 / 3])


def test_the_session_counts_by_its_quality_vectors_where_there_are_any() -> None:
    features = pool(flags(), session_dense=[1], session_similarity=[2])
    assert column("session meaning", features) == [1]
    assert column("session meaning", replace(features, quality=True)) == [2]


def test_late_interaction_counts_where_it_was_made() -> None:
    assert column("late", pool(flags())) == [0]
    assert column("late", pool(flags()), late=np.array([3], np.float32)) == [3]
    assert column("late around", pool(flags()), around=np.array([4], np.float32)) == [4]


def test_z_of_a_pool_is_centred_and_survives_equal_values() -> None:
    assert pool_z(np.array([1, 3], np.float32)) == pytest.approx([-1, 1], rel=1e-5)
    assert pool_z(np.array([2, 2], np.float32)) == pytest.approx([0, 0])
    assert len(pool_z(np.zeros(0, np.float32))) == 0


def _day(number: int) -> float:
    return number * 86_400e6


def test_the_first_or_the_last_of_what_matches_is_preferred() -> None:
    found = pool(0, 0, 0)
    times, talks = np.array([_day(9), _day(5), _day(1)], np.int64), np.array([1, 2, 3])
    found = replace(found, times=times, conversations=talks)
    total = np.array([7.0, 6.5, 0.0], np.float32)  # the third does not match
    assert in_order(found, total, TimeOrder.FIRST).tolist() == [0.5, 1.0, 0.0]
    assert in_order(found, total, TimeOrder.LAST).tolist() == [1.0, 0.5, 0.0]


def test_pools_together_spread_as_one() -> None:
    few, many = np.array([5, 1], np.float32), np.linspace(0, 1, 40, dtype=np.float32)
    both = np.concatenate([few, many])
    together = Spread.of(few) + Spread.of(many)
    assert together.count == 42
    assert [together.mean, together.deviation] == pytest.approx([both.mean(), both.std()])
    assert pool_z(few, Spread.of(many)) == pytest.approx(pool_z(both)[:2], rel=1e-4)
    assert Spread() + Spread.of(few) == Spread(2, 3.0, 2.0)
    assert Spread.of(np.zeros(0, np.float32)) + Spread() == Spread()
