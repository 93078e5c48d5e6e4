from __future__ import annotations

from collections import Counter

from benchmarks.asking import Outcome
from benchmarks.datasets import typed_set
from benchmarks.typed import report


def test_the_list_holds_64_searches_of_five_kinds_for_as_many_conversations():
    (history,) = typed_set().histories
    kinds = Counter(search.category for search in history.questions)

    assert len(history.questions) == len({search.evidence for search in history.questions}) == 64
    assert len(kinds) == 5
    assert min(kinds.values()) >= 5


def test_the_report_counts_first_and_in_three_and_names_what_is_missed():
    searched = [Outcome(f"s{rank}", "typed", "keywords", rank, rank, 1.0) for rank in (1, 1, 3, 7, 0)]

    told = report(searched)

    assert "| keywords | 5 | 2 | 3 |" in told
    assert told.endswith("- s7 (7)\n- s0 (not in ten)")
