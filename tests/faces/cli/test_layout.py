"""Lines that fit, with their marks in place."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from recollect.faces.cli.output import Flow, Output, harmless, shortened, within, wrapped

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


@given(st.lists(LINES, max_size=4), st.integers(min_value=12, max_value=60), st.integers(min_value=1, max_value=30))
def test_a_flow_fits_and_loses_nothing_but_blanks(lines: list[str], width: int, size: int) -> None:
    text = "\n".join(lines).replace("`", "").replace("~", "")
    flow = Flow(width)
    pieces = [flow.feed(text[at : at + size]) for at in range(0, len(text), size)]
    flown = "".join([*pieces, flow.end()])
    assert all(cell_len(line.rstrip()) <= width for line in flown.split("\n"))
    assert "".join(flown.split()) == "".join(text.split())


def test_a_flow_ends_lines_at_words_below_where_the_text_begins() -> None:
    flow = Flow(26)
    text = "7Q2KAB  You live in a house near Leeds."
    assert flow.feed(text) + flow.end() == "7Q2KAB  You live in a\n        house near Leeds."
    assert flow.feed("  indented as the text is here") + flow.end() == "  indented as the text is\n  here"


def test_a_flow_keeps_commands_and_code_whole() -> None:
    flow = Flow(30)
    text = "To undo it: recollect show 7Q2KAB --full"
    assert flow.feed(text) + flow.end() == "To undo it:\nrecollect show 7Q2KAB --full"
    code = "```python\nreturn one + two + three + four\n```"
    assert flow.feed(code) + flow.end() == code
    assert flow.feed("words after it that are wrapped") + flow.end() == "words after it that are\nwrapped"


def test_a_flow_closes_a_style_at_the_end_of_a_line() -> None:
    flow = Flow(16)
    text = "\033[1mone two three four\033[0m five"
    assert flow.feed(text) + flow.end() == "\033[1mone two three\033[0m\n\033[1mfour\033[0m five"


def test_marks_follow_the_text_into_its_lines() -> None:
    out = Output(io.StringIO(), io.StringIO(), styled=False, width=None)
    text = "find the needle here\nand the needle there"
    marks = [(9, 15), (29, 35)]
    lines = [marked for _, marked in out.marked_lines(text, marks, 12)]
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
