from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.text.sentences import (
    Chunking,
    Span,
    chunk_spans,
    cut_sentences,
    passages,
    sentence_places,
    sentences,
    window_spans,
)
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


def words(text: str) -> int:
    """A tokenizer: a token for up to four letters, and one for each other sign."""
    return len(re.findall(r"\w{1,4}|[^\w\s]", text))


def cut(text: str, size: int = 40, overlap: int = 8) -> list[Span]:
    return chunk_spans(text, Chunking(size, overlap), count_tokens=words)


PIECES = st.sampled_from(
    ["word ", "sentence. ", "\n\n", "\n", "京都へ行く。", "👩‍👩‍👧‍👦", "é", "x" * 50, "   ", "\r\n"]
)


@given(st.lists(PIECES, max_size=120).map("".join))
def test_pieces_cover_the_text_without_gaps_and_none_is_too_long(text: str) -> None:
    spans = cut(text)
    assert bool(spans) == bool(text)
    if spans:
        assert (spans[0].start, spans[-1].end) == (0, len(text))
    assert all(span.tokens == words(text[span.start : span.end]) <= 40 for span in spans)
    assert all(before.start < after.start <= before.end < after.end for before, after in pairwise(spans))


@given(st.text(max_size=400))
def test_any_text_at_all_is_covered(text: str) -> None:
    spans = chunk_spans(text, Chunking(5, 2), count_tokens=len)
    ends = [0, *(span.end for span in spans[:-1])]
    assert "".join(text[end : span.end] for end, span in zip(ends, spans, strict=False)) == text
    assert all(span.start <= end for end, span in zip(ends, spans, strict=False))


def test_a_short_text_is_one_piece() -> None:
    assert cut("Hello there.") == [Span(0, 12, 5)]


def test_pieces_of_prose_share_about_the_overlap() -> None:
    text = "The quick brown fox jumps over the lazy dog near the river bank. " * 2000
    spans = chunk_spans(text, count_tokens=words)
    shared = [words(text[after.start : before.end]) for before, after in pairwise(spans)]
    assert len(spans) > 5
    assert all(150 <= tokens <= 250 for tokens in shared)
    assert all(span.tokens > 2800 for span in spans[:-1])


@pytest.mark.parametrize(("mark", "unit"), [("\n\n", "Some words in a paragraph\n\n"), (". ", "Words in a sentence. ")])
def test_pieces_end_where_the_text_pauses(mark: str, unit: str) -> None:
    text = unit * 60
    assert all(text[: span.end].endswith(mark) for span in cut(text))


@pytest.mark.parametrize("sign", ["👩‍👩‍👧‍👦", "🤷🏽‍♀️", "e\u0301", "ก็"])
def test_what_is_read_as_one_character_is_not_split(sign: str) -> None:
    text = sign * 300
    assert all(span.end % len(sign) == 0 for span in cut(text))
    assert all(not unicodedata.combining(text[span.start]) for span in cut(text))


def test_a_character_of_more_tokens_than_a_piece_does_not_stop_it() -> None:
    spans = chunk_spans("abc", Chunking(3, 1), count_tokens=lambda text: 10 * len(text))
    assert [(span.start, span.end) for span in spans] == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("unit", ["word ", "x", "京", "line\n", "👩‍👩‍👧‍👦"])
def test_each_part_of_a_long_text_is_counted_a_few_times_only(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    counted = 0

    def counting(piece: str) -> int:
        nonlocal counted
        counted += len(piece)
        return words(piece)

    chunk_spans(text, count_tokens=counting)
    assert counted < 3 * len(text)


@pytest.mark.parametrize("overlap", [-1, 5, 10, 11])
def test_pieces_cannot_share_half_of_themselves(overlap: int) -> None:
    with pytest.raises(InvalidInput, match=f"Chunks of 10 tokens cannot overlap by {overlap}"):
        Chunking(10, overlap)


@pytest.mark.parametrize(("size", "overlap"), [(10_000, 200), (4_000, 200), (500, 25), (1, 0)])
def test_without_an_overlap_it_is_a_twentieth_and_no_more_than_200(size: int, overlap: int) -> None:
    assert Chunking.of(size) == Chunking(size, overlap)
    assert Chunking.of(1_000, 0) == Chunking(1_000, 0)


@pytest.mark.parametrize("overlap", [0, 60, 190])
def test_pieces_share_what_is_asked_for(overlap: int) -> None:
    text = "The quick brown fox jumps over the lazy dog near the river bank. " * 200
    spans = cut(text, 400, overlap)
    shared = [words(text[after.start : before.end]) for before, after in pairwise(spans)]
    assert len(spans) > 5
    assert all(0.75 * overlap <= tokens <= 1.25 * overlap for tokens in shared)


def test_windows_are_ten_long_and_share_two() -> None:
    assert window_spans(26) == [(0, 9), (8, 17), (16, 25)]


@pytest.mark.parametrize(
    ("count", "spans"),
    [(0, []), (1, [(0, 0)]), (10, [(0, 9)]), (11, [(0, 9), (8, 10)]), (18, [(0, 9), (8, 17)])],
)
def test_the_window_that_reaches_the_end_is_the_last(count: int, spans: list[tuple[int, int]]) -> None:
    assert window_spans(count) == spans


def test_windows_follow_the_rule_of_the_seed_for_every_length() -> None:
    for count in range(200):
        starts = list(range(0, count, 8))
        enough = next((n for n, start in enumerate(starts, 1) if start + 10 >= count), len(starts))
        assert window_spans(count) == [(start, min(start + 10, count) - 1) for start in starts[:enough]]


def test_an_overlap_that_leaves_no_step_is_refused() -> None:
    with pytest.raises(InvalidInput):
        window_spans(20, size=5, overlap=5)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Mr. Ito came at 5 p.m. on foot. Why?", ["Mr. Ito came at 5 p.m. on foot.", "Why?"]),
        ("See art. 5 of it. Fine, art. Done", ["See art. 5 of it.", "Fine, art.", "Done"]),
        ('She asked "why?" and left. "Never!" He knew.', ['She asked "why?" and left.', '"Never!"', "He knew."]),
        ("我不知道。他说：“好！”走了。", ["我不知道。", "他说：“好！”", "走了。"]),
        ("Great 🎉 We won", ["Great 🎉", "We won"]),
        ("version 2.5 is out", ["version 2.5 is out"]),
        (" \n ", []),
    ],
)
def test_sentences_end_where_they_do(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


@given(st.text(st.sampled_from('aB .!?。"”)1\n🎉'), max_size=40))
def test_sentences_leave_out_blanks_alone(text: str) -> None:
    places = list(sentence_places(text))
    assert all(first < last for first, last in places)
    assert places == sorted(places)
    assert "".join("".join(text[first:last] for first, last in places).split()) == "".join(text.split())
