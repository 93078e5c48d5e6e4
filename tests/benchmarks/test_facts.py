"""The rules that draw facts without a model: what they draw is right, on the half that they were not tuned on too."""

from __future__ import annotations

import pytest

from benchmarks.facts.__main__ import figures, interval, run
from benchmarks.facts.sentences import PARTS, examples


def test_the_set_is_large_and_half_of_it_are_traps() -> None:
    counted = [figures(run(part)) for part in PARTS]
    sentences, traps = sum(n["sentences"] for n in counted), sum(n["traps"] for n in counted)
    assert sentences >= 300
    assert 2 * traps >= sentences
    words = [example.message.content for part in PARTS for example in examples(part)]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("part", PARTS)
def test_nine_of_ten_facts_are_right(part: str) -> None:
    n = figures(run(part))
    low, _ = interval(n["right"], n["right"] + n["wrong"])
    assert low >= 0.9, "the lower end of the interval of the precision"
    assert n["right"] / (n["right"] + n["missed"]) >= 0.8
