"""Citations are checked as an answer streams: what stands for nothing goes, code stays as it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.answer.citations import Checked, renumbered


def fed(text: str, known: set[int], size: int = 1) -> tuple[str, Checked]:
    check = Checked(known)
    shown = "".join(check.feed(text[start : start + size]) for start in range(0, len(text), size))
    return shown + check.end(), check


@pytest.mark.parametrize(
    ("said", "shown", "cited", "removed"),
    [
        ("Postgres [2], not Redis [1].", "Postgres [1], not Redis [2].", [2, 1], 0),
        ("Both [1, 3] and [3].", "Both [1][2] and [2].", [1, 3], 0),
        ("A run [1-3].", "A run [1][2][3].", [1, 2, 3], 0),
        ("Chinese brackets 【2】 and 【3†source】.", "Chinese brackets [1] and [2].", [2, 3], 0),
        ("A lie [9] and half a lie [1; 8].", "A lie and half a lie [1].", [1], 2),
        ("Two lies [8] [9]. And  two blanks", "Two lies. And  two blanks", [], 2),
        ("Twice the same lie [9, 9].", "Twice the same lie.", [], 1),
        ("An absurd run [1-999].", "An absurd run [1].", [1], 1),
        ("Words [sic] and [see below] stay, and [3.5].", "Words [sic] and [see below] stay, and [3.5].", [], 0),
        ("Named each [Message 1, Message 9] and [Source 2; Source 3].", "Named each [1] and [2][3].", [1, 2, 3], 1),
        ("[Message 1, Message 2, Message 3, Message 9] and [msg 1 to msg 3]", "[1][2][3] and [1][2][3]", [1, 2, 3], 1),
        ("Listed [3, 2, and 9] or [2 & 3].", "Listed [1][2] or [2][1].", [3, 2], 1),
        ("Named [Message 2], [#3], [Sources: 8, 9] and [see 2].", "Named [1], [2], and [1].", [2, 3], 2),
        ("In pairs [[2]], [[9]] and [[wiki link]].", "In pairs [1], and [[wiki link]].", [2], 1),
        ("Wide brackets ［2］ and ［9］.", "Wide brackets [1] and.", [2], 1),
        ("A pair [[2](http://evil.example)] is none.", "A pair [[1]] is none.", [2], 0),
        ("`a[9]` and ```\nb[8]\n``` stay.", "`a[9]` and ```\nb[8]\n``` stay.", [], 0),
        ("An open ` tick ends with its line\n[9]", "An open ` tick ends with its line\n", [], 1),
        ("Never closed [1", "Never closed [1", [], 0),
        ("Twice opened [[1]", "Twice opened [[1]", [1], 0),
        ("```py\na[9]\n```\nAfter code [2].", "```py\na[9]\n```\nAfter code [1].", [2], 0),
        ("On two lines [1\n]", "On two lines [1\n]", [], 0),
        ("[0] is nobody's.", " is nobody's.", [], 1),
        ("A link [2](http://evil.example/x?q=[1]) is none.", "A link [1] is none.", [2], 0),
        ('A lie [9](https://evil.example) too, [2](<//evil> "t").', "A lie too, [1].", [2], 1),
        (
            "Words [2](which was in May) stay, [1](see [3]).",
            "Words [1] (which was in May) stay, [2] (see [3]).",
            [2, 1, 3],
            0,
        ),
        ("[2]: http://evil.example\nIt holds [2].", "[1] : http://evil.example\nIt holds [1].", [2], 0),
        ("Told [2]: since May.", "Told [1]: since May.", [2], 0),
        ("Cut [2](http://evil", "Cut [1]", [2], 0),
        ("Three ticks ``` in a line\n[9] end with it.", "Three ticks ``` in a line\n end with it.", [], 1),
        ("   ```\na[9]\n   ```\n[2]", "   ```\na[9]\n   ```\n[1]", [2], 0),
        ("```a[9]``` [2]", "```a[9]``` [1]", [2], 0),
        ("``a`[9]`` [2]", "``a`[9]`` [1]", [2], 0),
        ("Open `` two and ` one [9]\n", "Open `` two and ` one\n", [], 1),
        ("At the end ` [9]", "At the end `", [], 1),
    ],
)
def test_what_stands_in_brackets(said: str, shown: str, cited: list[int], removed: int) -> None:
    for size in (1, 2, 5, 100):
        text, check = fed(said, {1, 2, 3}, size)
        assert (text, check.cited, check.removed) == (shown, cited, removed)


def test_a_model_can_say_that_it_does_not_know_but_not_after_it_has_cited() -> None:
    text, check = fed("[none] It only says where the cat slept [1].", {1})
    assert (text, check.unknown) == (" It only says where the cat slept [1].", True)
    text, check = fed("Postgres [1]. [None]", {1})
    assert (text, check.unknown) == ("Postgres [1].", False)


def test_code_that_is_never_closed_hides_no_citation() -> None:
    text, check = fed("Set it:\n```sh\nexport A=1\n\nThis holds [2], and this does not [9].", {1, 2})
    assert check.open_code == "```"
    whole = check.reread(text)
    assert whole == "Set it:\n```sh\nexport A=1\n\nThis holds [1], and this does not."
    assert (check.cited, check.removed) == ([2], 1)


def test_numbers_before_code_that_is_never_closed_stay_what_they_are() -> None:
    text, check = fed("Both [3] and [1].\n```\nx\nThen [1], [2].", {1, 2, 3})
    assert check.reread(text) == "Both [1] and [2].\n```\nx\nThen [2], [3]."
    assert check.cited == [3, 1, 2]


def test_code_that_is_closed_is_not_read_again() -> None:
    _, check = fed("```\na[9]\n```\n", {1})
    assert not check.open_code


_TEXT = st.text(alphabet=st.sampled_from("ab 123[]【】,-`\n†none(:/)"), max_size=60)


@given(_TEXT, st.lists(st.integers(1, 7), max_size=20))
def test_how_a_stream_is_cut_changes_nothing_and_no_number_stands_for_nothing(text: str, cuts: list[int]) -> None:
    known = {1, 2, 3}
    whole, check = fed(text, known, max(len(text), 1))
    again, pieces, start = Checked(known), list[str](), 0
    for cut in [*cuts, len(text)]:
        pieces.append(again.feed(text[start : start + cut]))
        start += cut
    assert ("".join(pieces) + again.end(), again.cited, again.removed) == (whole, check.cited, check.removed)
    assert set(check.cited) <= known
    assert len(set(check.cited)) == len(check.cited)


def test_numbers_are_moved_and_code_is_left_as_it_was_written() -> None:
    code = "````md\n```py\nx = items[1]\n```\ny[2]\n````"
    assert renumbered(f"See [1].\n{code}\nAnd [2][7].", {1: 4, 2: 1}) == f"See [4].\n{code}\nAnd [1][7]."


@pytest.mark.parametrize("said", ["[1" + " , 1" * 19 + "x]", "[1" + " " * 77 + "x]", "[1" + "   and   1" * 7 + " x]"])
def test_what_is_almost_a_citation_is_read_at_once(said: str) -> None:
    began = time.process_time()
    assert Checked({1}).feed(said) == said
    assert time.process_time() - began < 0.5
