"""The text of an answer as HTML: numbers are links, and nothing else is made of it than Markdown."""

from __future__ import annotations

from recollect.faces.web.cited import answer, extract

LINKS = {1: "/c/A#m-B", 2: "/c/C"}


def test_a_number_leads_to_what_it_stands_for() -> None:
    made = str(answer("It lost jobs [1][2].", LINKS))
    assert 'href="/c/A#m-B"' in made
    assert made.count('class="cite"') == 2


def test_while_it_is_written_a_number_leads_to_its_place_among_the_sources() -> None:
    assert 'href="#s7"' in answer("It lost jobs [7].")


def test_a_number_that_stands_for_nothing_stays_as_it_is() -> None:
    assert answer("An array [9].", LINKS) == "<p>An array [9].</p>\n"


def test_numbers_in_code_are_code() -> None:
    made = str(answer("Call `a[1]`:\n\n```python\nb = a[1]\n```\n", LINKS))
    assert "cite" not in made
    assert "a[1]" in made.replace("<wbr>", "")


def test_links_stay_links() -> None:
    assert 'href="https://example.org/"' in answer("[1](https://example.org/)", LINKS)


def test_what_was_said_is_no_html() -> None:
    made = str(extract('You: <img src=x onerror="alert(1)"> [1]\n- Ana, 2 May 2024: **so** [2]\nAlso near:', LINKS))
    assert "<img" not in made
    assert "<strong>You</strong>" in made
    assert "<strong>Ana, 2 May 2024</strong>" in made
    assert "<p>Also near:</p>" in made
