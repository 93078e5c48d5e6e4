import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.text.chunks import Chunking, Span, chunk_spans


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
