"""Every term of the scorer does what it says, to whom it says, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recollect.search.question import Question, read_question
from recollect.search.ranker import coverage, own_coverage, pool_z, score
from recollect.search.weights import INSTANT, INSTANT_TOPIC, QUALITY
from recollect.store.passages import Features
from recollect.text.flags import Flag
from tests.search.signals_given import flags, pool

PLAIN = read_question("the heron by the river")


def order(signals: Features, question: Question = PLAIN, weights: object = INSTANT) -> list[int]:
    return [int(i) for i in np.argsort(-score(signals, question, weights).total, kind="stable")]  # type: ignore[arg-type]


def test_scores_are_the_sum_of_their_terms() -> None:
    signals = pool(flags(), flags("assistant"), bm25=[[1, 0, 2, 0, 0], [3, 0, 0, 0, 0]], windows=[0.2, 0.7])
    scores = score(signals, PLAIN, INSTANT)
    assert scores.total == pytest.approx(sum(scores.terms.values()))


def test_words_count_by_bm25_with_an_assistant_and_by_coverage_among_people() -> None:
    holds = np.zeros((2, 5, 1), np.float32)
    holds[1, 0] = 1
    bm25 = [[0, 0, 0, 0, 0], [2, 0, 0, 0, 0]]
    with_assistant = score(pool(flags(), flags(), bm25=bm25, holds=holds), PLAIN, INSTANT).terms["words"]
    assert with_assistant == pytest.approx([0, 2 * INSTANT.bm25_ua])
    among_people = pool(flags(people=True), flags(people=True), bm25=bm25, holds=holds)
    assert score(among_people, PLAIN, INSTANT).terms["words"] == pytest.approx(
        [-INSTANT.coverage_p, INSTANT.coverage_p], rel=1e-4
    )


def test_coverage_takes_each_term_where_it_counts_most() -> None:
    holds = np.zeros((1, 5, 2), np.float32)
    holds[0, 1, 0] = 1  # the first term in the message before: 0.8
    holds[0, 3, 0] = 1  # and two before: 0.4
    holds[0, 2, 1] = 1  # the second in the one after: 0.6
    signals = replace(pool(flags(), holds=holds), idf=np.array([3.0, 1.0], np.float32))
    assert coverage(signals) == pytest.approx([(3 * 0.8 + 1 * 0.6) / 4])
    assert own_coverage(signals) == pytest.approx([0])


def test_a_question_without_words_covers_nothing() -> None:
    signals = replace(pool(flags()), idf=np.zeros(0, np.float32), holds=np.zeros((1, 5, 0), np.float32))
    assert coverage(signals) == pytest.approx([0])
    assert order(signals) == [0]


def test_a_user_is_preferred_where_the_question_is_about_the_asker() -> None:
    signals = pool(flags("assistant"), flags("user"))
    assert order(signals, weights=INSTANT) == [1, 0]
    assert "role" not in score(signals, PLAIN, INSTANT_TOPIC).terms


def test_of_attachments_the_role_does_not_count() -> None:
    signals = replace(pool(flags("user"), flags("user")), kinds=np.array([1, 0], np.uint8))
    assert score(signals, PLAIN, INSTANT).terms["role"] == pytest.approx([0, INSTANT.user])


@pytest.mark.parametrize(
    ("question", "flag", "term"),
    [
        ("When did Anna go to Porto?", Flag.TIME, "time"),
        ("How many herons did Anna see?", Flag.NUMBER, "number"),
        ("Where does Anna live?", Flag.PLACE, "place"),
    ],
)
def test_what_kind_of_answer_is_asked_for(question: str, flag: Flag, term: str) -> None:
    signals = pool(flags(people=True), flags(people=True, has=flag))
    assert order(signals, read_question(question)) == [1, 0]
    assert term not in score(signals, PLAIN, INSTANT).terms


def test_the_assistants_words_are_sought_with_the_assistant() -> None:
    signals = pool(flags("user"), flags("assistant"))
    asked = read_question("Which library did you suggest for the calendar?")
    assert asked.asks_assistant
    assert order(signals, asked) == [1, 0]


def test_a_summary_is_not_drawn_from_a_users_message() -> None:
    signals = pool(flags("user"), flags("assistant"))
    assert order(signals, read_question("Can you give me a summary of my garden plans?")) == [1, 0]


def test_standing_instructions_and_preferences_come_up_when_advice_is_asked() -> None:
    advice = read_question("How should I format the code you write for me?")
    assert advice.is_how_to
    instruction = pool(flags(), flags(has=Flag.INSTRUCTION))
    preference = pool(flags(), flags(has=Flag.PREFERENCE))
    assert order(instruction, advice) == order(preference, advice) == [1, 0]
    assert "preference" not in score(preference, PLAIN, INSTANT).terms
    assert score(instruction, PLAIN, INSTANT).terms["instruction"] == pytest.approx([0, INSTANT.instruction])


def test_a_denial_answers_whether_something_ever_was() -> None:
    signals = pool(flags(), flags(has=Flag.NEVER))
    assert order(signals, read_question("Have I ever worked with Rust?")) == [1, 0]


def test_a_question_is_seldom_the_answer_among_people() -> None:
    assert order(pool(flags(people=True, has=Flag.QUESTION), flags(people=True))) == [1, 0]
    assert "question" not in score(pool(flags(has=Flag.QUESTION), flags()), PLAIN, INSTANT).terms


def test_who_answers_a_like_question_is_lifted_by_it() -> None:
    signals = pool(flags(people=True), flags(people=True), previous_asks=[False, True], previous_dense_z=[2, 2])
    assert score(signals, PLAIN, INSTANT).terms["answers"] == pytest.approx([0, 2 * INSTANT.previous_question])


def test_the_rules_of_english_are_left_out_for_other_languages() -> None:
    signals = pool(flags(has=Flag.INSTRUCTION), flags())
    german = read_question("Wie soll der Vermieter die Heizkosten abrechnen?")
    assert not german.is_english
    assert "instruction" not in score(signals, german, INSTANT).terms


def test_each_mode_and_kind_of_question_weighs_the_session() -> None:
    signals = pool(flags(), session_bm25=[1], session_dense=[1], session_similarity=[1])
    assert score(signals, PLAIN, INSTANT).terms["session"] == pytest.approx([0.20 + 0.14])
    assert score(signals, PLAIN, QUALITY).terms["session"] == pytest.approx([0.16 + 0.34])
    assert score(signals, PLAIN, INSTANT_TOPIC).terms["session"] == pytest.approx([0.20 + 0.44])


def test_z_of_a_pool_is_centred_and_survives_equal_values() -> None:
    assert pool_z(np.array([1, 3], np.float32)) == pytest.approx([-1, 1], rel=1e-5)
    assert pool_z(np.array([2, 2], np.float32)) == pytest.approx([0, 0])
    assert len(pool_z(np.zeros(0, np.float32))) == 0
