"""Lines that fit, with their marks in place."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recollect.faces.cli.terminal.layout import marked_lines, shortened, within, wrapped
from recollect.faces.cli.terminal.output import Output, harmless

LINES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=200)


@given(LINES, st.integers(min_value=4, max_value=60))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text: str, width: int) -> None:
    spans = wrapped(text, width)
    pieces = [text[start:end] for start, end in spans]
    assert all(cell_len(piece) <= width for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(LINES, st.integers(min_value=2, max_value=60))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(shortened(text, width)) <= width


def test_marks_follow_the_text_into_its_lines() -> None:
    out = Output(io.StringIO(), io.StringIO(), styled=False, width=None)
    text = "find the needle here\nand the needle there"
    marks = [(9, 15), (29, 35)]
    lines = [marked for _, marked in marked_lines(text, marks, 12, out)]
    assert lines == ["find the", "[needle]", "here", "and the", "[needle]", "there"]


def test_a_mark_across_a_line_end_is_cut() -> None:
    assert within([(2, 8)], 0, 5) == [(2, 5)]
    assert within([(2, 8)], 5, 9) == [(0, 3)]


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert harmless("a\033[2Jb\x9bc\td\n") == "a\ufffd[2Jb\ufffdc\td\n"


def test_a_word_too_long_is_broken_behind_a_sign() -> None:
    text = "nginx.ingress.kubernetes.io/proxy-buffer-size"
    assert [text[a:b] for a, b in wrapped(text, 34)] == ["nginx.ingress.kubernetes.io/proxy-", "buffer-size"]
    assert wrapped("a" * 25, 10) == [(0, 10), (10, 20), (20, 25)]


def test_a_shortened_text_ends_with_a_whole_word() -> None:
    assert shortened("the trick for adding water late", 20) == "the trick for…"
