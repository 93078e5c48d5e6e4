from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.markdown import code_blocks, lines_of, without_code


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("a\n```py\nx\n```\nb", [("x\n", "py")]),
        ("~~~ Python of 2019\nfoo\n~~~\n", [("foo\n", "python")]),
        ("```\nnever closed", [("never closed", "")]),
        ("```\nnever closed\n\n", [("never closed\n\n", "")]),
        ("````\n```\n````", [("```\n", "")]),
        ("```\r\nx\r\n```\r\ny", [("x\r\n", "")]),
        ("- one\n  ```sh\n  ls\n  ```\n- two", [("  ls\n", "sh")]),
        ("> ```\n> x\n> ```\nthen", [("> x\n", "")]),
        ("    ```\n    pasted\n    ```\nok", [("    pasted\n", "")]),
        ("text ```inline``` more", []),
        ("    merely indented", []),
    ],
)
def test_blocks_of_code_are_found_with_their_language(text: str, codes: list[tuple[str, str]]) -> None:
    assert [(block.of(text), block.language) for block in code_blocks(text)] == codes


def test_prose_is_left_without_code_and_lines_say_what_they_are_of() -> None:
    text = "Try:\n```\nx\n```\nDone."
    assert without_code(text, "") == "Try:\nDone."
    assert [(line, is_code) for _, line, is_code in lines_of(text)] == [
        ("Try:", False),
        ("```", True),
        ("x", True),
        ("```", True),
        ("Done.", False),
    ]


@given(st.lists(st.sampled_from(["```", "~~~", "a", "\n", "> ", "- ", "    ", "\r\n", "\r", "\0", "\x85", "1. "])))
def test_blocks_of_any_text_lie_in_it_one_after_another(parts: list[str]) -> None:
    text, at = "".join(parts), 0
    for block in code_blocks(text):
        assert at <= block.start <= block.first <= block.last <= block.end <= len(text)
        at = block.end
    assert "\n".join(line for _, line, _ in lines_of(text)) == text
