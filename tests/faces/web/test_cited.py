"""The text of an answer as HTML: numbers are links, and nothing else is made of it than Markdown."""

from __future__ import annotations

import pytest

from recollect.faces.web.views.citations import answer_html, extract_html

LINKS = {1: "/c/A#m-B", 2: "/c/C"}


def test_a_number_leads_to_what_it_stands_for() -> None:
    made = str(answer_html("It lost jobs [1][2].", LINKS))
    assert 'href="/c/A#m-B"' in made
    assert made.count('class="cite"') == 2


def test_while_it_is_written_a_number_leads_to_its_place_among_the_sources() -> None:
    assert 'href="#s7"' in answer_html("It lost jobs [7].")


def test_a_number_that_stands_for_nothing_stays_as_it_is() -> None:
    assert answer_html("An array [9].", LINKS) == "<p>An array [9].</p>\n"


def test_numbers_in_code_are_code() -> None:
    made = str(answer_html("Call `a[1]`:\n\n```python\nb = a[1]\n```\n", LINKS))
    assert "cite" not in made
    assert "a[1]" in made.replace("<wbr>", "")


def test_links_stay_links() -> None:
    assert 'href="https://example.org/"' in answer_html("[1](https://example.org/)", LINKS)


def test_what_was_said_is_no_html() -> None:
    made = str(
        extract_html('You: <img src=x onerror="alert(1)"> [1]\n- Ana, 2 May 2024: **so** [2]\nAlso near:', LINKS)
    )
    assert "<img" not in made
    assert "<strong>You</strong>" in made
    assert "<strong>Ana, 2 May 2024</strong>" in made
    assert "<p>Also near:</p>" in made


@pytest.mark.parametrize("cut", ["Use the `flag", "DO NOTHING`, and act", "a ``b` c", "run `a` or `b", "cost $5 or $x"])
def test_marks_that_a_quotation_was_cut_at_reach_no_other_line(cut: str) -> None:
    made = str(
        extract_html(f"You: {cut} [1]\nAna: then `bar` or $6 [2]\nAna: and the rest` x$ [3]", {**LINKS, 3: "/c/E"})
    )
    assert made.count('class="cite"') == 3
    assert made.count("<strong>") == 3
    assert "<code>bar</code>" in made


def test_code_over_several_lines_stays_code_in_an_extract() -> None:
    made = str(extract_html("You: this\n\n```py\na = `1`\nb = 2\n```\n[1]", LINKS))
    assert "codebox" in made
    assert "\\`" not in made
