"""The rules that are heard without a model: how many of them are, and how many more."""

from __future__ import annotations

from benchmarks.rules.__main__ import score, sentences


def test_two_thirds_of_the_messages_say_no_rule() -> None:
    for name in ("seen", "kept"):
        told = [one["rule"] for one in sentences(name)]
        assert len(told) == len({one["text"] for one in sentences(name)}) == 240
        assert told.count(True) == 80


def test_few_are_offered_and_most_of_them_rightly() -> None:
    seen, kept = score("seen"), score("kept")
    assert seen.precision >= 0.99
    assert seen.recall >= 0.83
    assert kept.precision >= 0.87  # nothing was tuned on it
    assert kept.recall >= 0.36
