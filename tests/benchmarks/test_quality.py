from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import quality
from benchmarks.asking import Outcome, first_of, load, save


def outcome(question: str, message: int, origin: str = "sample", category: str = "1") -> Outcome:
    """A question whose evidence came at this rank, 0: not at all."""
    return Outcome(question, origin, category, message, message, 5.0)


def test_ranks_count_from_one_and_zero_says_not_found():
    assert first_of(["a", "b"], {"b", "c"}) == 2
    assert first_of(["a", "b"], {"c"}) == 0


def test_outcomes_survive_a_file(tmp_path: Path):
    asked = {"sample": [outcome("why?", 3), outcome("为什么", 0)]}
    save(tmp_path / "kept.json", asked)

    assert load(tmp_path / "kept.json") == asked


def test_the_report_shows_shares_and_the_paired_difference():
    old = {"sample": [outcome(f"q{n}", 6) for n in range(40)]}
    new = {"sample": [outcome(f"q{n}", 1 if n < 30 else 6) for n in range(40)]}

    told = quality.report(new, old)

    assert "| sample | 40 | 75.0 | 75.0 [" in told
    assert "| +75.0* [" in told
    assert told.rstrip().endswith("| 30 | 0 |")


def test_a_set_of_several_is_also_told_by_origin():
    told = quality.report({"mix": [outcome("a", 1, "sample"), outcome("b", 0, "beam-dev")]}, {})

    assert "| mix: beam-dev | 1 | 0.0 |" in told
    assert "| mix: sample | 1 | 100.0 |" in told


def test_questions_that_are_asked_twice_are_paired_in_their_order():
    new, old = [outcome("a", 1), outcome("a", 2)], [outcome("a", 3), outcome("a", 4), outcome("b", 1)]

    assert [(n.message, o.message) for n, o in quality.paired(new, old)] == [(1, 3), (2, 4)]


def test_a_set_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert quality.main(["--sets", "mix,beam-dev", "--data", str(tmp_path)]) == 0

    assert capsys.readouterr().err.splitlines() == [
        f"Not measured, for these conversation sets are not in {tmp_path}: locomo-dev, beam-dev."
    ]
