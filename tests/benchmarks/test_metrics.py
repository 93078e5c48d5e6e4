from __future__ import annotations

from math import log2

import pytest

from benchmarks.metrics import figures, first_seen, found, ndcg


def test_recall_asks_whether_any_evidence_is_among_the_first_k():
    ranking = ["a", "b", "c"]

    assert found(ranking, {"c", "x"}, 3)
    assert not found(ranking, {"c", "x"}, 2)


def test_ndcg_of_a_ranking_worked_out_by_hand():
    # Evidence at the places 1 and 3 of what could have stood at 1 and 2.
    gain, best = 1 + 1 / log2(4), 1 + 1 / log2(3)

    assert ndcg(["hit", "miss", "hit 2"], {"hit", "hit 2"}) == pytest.approx(gain / best)
    assert ndcg(["hit", "miss", "hit 2"], {"hit", "hit 2"}) == pytest.approx(0.9197, abs=1e-4)


def test_ndcg_is_one_when_all_evidence_stands_first_and_zero_when_none_is_found():
    assert ndcg(["a", "b", "c"], {"a", "b"}) == 1
    assert ndcg(["a", "b", "c"], {"x"}) == 0
    assert ndcg([], {"x"}) == 0


def test_more_evidence_than_the_depth_can_still_be_perfect():
    items = [str(number) for number in range(20)]

    assert ndcg(items[:10], set(items), k=10) == pytest.approx(1)


def test_figures_are_means_over_questions_in_percent():
    measured = figures([(["a", "b"], {"a"}), (["a", "b"], {"b"}), (["a", "b"], {"c"}), ([], {"c"})])

    assert measured.questions == 4
    assert measured.recall == {1: 25, 5: 50, 10: 50}
    assert measured.to_json() == {"questions": 4, "recall@1": 25, "recall@5": 50, "recall@10": 50, "ndcg@10": 40.8}


def test_a_ranking_keeps_each_item_where_it_stands_first():
    assert first_seen(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]
