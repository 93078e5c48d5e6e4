from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.text.sentences import cut_sentences, passages
from tests.reference import all_texts, needs_shared, reference


def test_runs_are_three_sentences_long_and_share_one() -> None:
    assert passages("One. Two! Three? Four. Five. Six.") == ["One. Two! Three?", "Three? Four. Five.", "Five. Six."]


def test_one_sentence_is_its_own_run() -> None:
    assert passages("just this") == ["just this"]
    assert passages("") == [""]


def test_lines_end_sentences_and_single_characters_are_none() -> None:
    assert passages("first\n\n-\nsecond") == ["first second"]


@pytest.mark.parametrize("text", ["一二。三四！五六？七八。", "एक दो। तीन चार। पाँच छह। सात आठ।"])
def test_sentences_end_in_other_scripts_too(text: str) -> None:
    assert len(passages(text)) == 2


@given(st.text(st.sampled_from("ab.!?؟।。！ \t\n\r\x1c\u2003"), max_size=12))
def test_sentences_end_behind_stops_and_at_lines(text: str) -> None:
    ends = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！])|\n+")
    found = cut_sentences(text)
    told = [part for part in ends.split(text) if part.strip()]
    assert found.parts == ([part for part in told if len(part.strip()) > 1] or [text])


def test_a_long_text_is_covered_whole_by_longer_runs() -> None:
    sentences = [f"Sentence {i}." for i in range(1_000)]
    runs = passages(" ".join(sentences))
    assert len(runs) <= 40
    assert all(any(sentence in run for run in runs) for sentence in sentences)


@given(st.integers(1, 300), st.integers(1, 4), st.integers(0, 3), st.integers(1, 50))
def test_every_sentence_is_in_a_run_and_the_limit_holds(count: int, step: int, overlap: int, limit: int) -> None:
    runs = passages("\n".join(f"<{i}>" for i in range(count)), length=step + overlap, step=step, limit=limit)
    assert len(runs) <= limit
    assert all(any(f"<{i}>" in run for run in runs) for i in range(count))


def test_runs_that_would_leave_sentences_out_are_refused() -> None:
    for wrong in ({"length": 2, "step": 3}, {"step": 0}, {"limit": 0}):
        with pytest.raises(InvalidInput):
            passages("One. Two.", **wrong)


@needs_shared
def test_runs_within_the_limit_are_those_of_the_reference() -> None:
    windows = reference("ranker").windows
    texts = [text for text in all_texts() if text.isascii() and len(windows(text, 10**9)) <= 40]
    assert texts
    assert not [text for text in texts if passages(text) != windows(text)]
