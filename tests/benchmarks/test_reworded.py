from __future__ import annotations

from benchmarks.asking import Outcome
from benchmarks.cost import Cost, cost_table
from benchmarks.reworded import report


def asked(*ranks: int) -> list[Outcome]:
    return [Outcome(f"q{n}", "s", "c", rank, 0, 1.0) for n, rank in enumerate(ranks)]


def test_each_form_is_told_with_its_difference_to_the_question_as_it_is():
    told = report({"s": [asked(1, 5), asked(1, 5), asked(1, 6)]})

    assert "| s | 100.0 | 100.0 (+0.0 [0.0, 0.0]) | 50.0 (-50.0 [" in told


def test_the_cost_of_a_mode_is_a_row():
    assert "| quality | 21 | 9.5 KiB | 30 / 41 ms |" in cost_table([Cost("quality", 21.2, 9728.0, 30.4, 41.0)])
