"""Words of messages as HTML: Markdown, formulas, excerpts; and what is marked in them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.faces.web.text.markdown import html, marked_html, quoted
from recollect.faces.web.views.messages import path_through
from recollect.faces.web.views.search_results import month_bars
from recollect.faces.web.wording import inline
from recollect.record import Message, NodeId, Role

HARMFUL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](http://elsewhere.example/x.png)",
    r"$\text{<script>alert(1)</script>}$",
    r"$$\href{javascript:alert(1)}{x}$$",
    r"\(\text{</math><img src=x onerror=alert(1)>}\)",
    '```"><script>alert(1)</script>\nx\n```',
    "\ue0100\ue011",
    "<a href='javascript:alert(1)'>x</a>",
)


class Tags(HTMLParser):
    """All tags and attributes of some HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def harmless(text: str) -> bool:
    for tag, attributes in Tags(text).found:
        if tag in ("script", "img", "iframe", "style", "link", "meta", "base", "form", "object", "svg", "input"):
            return False
        if any(name.startswith("on") or name == "style" for name in attributes):
            return False
        if re.match(r"\s*(javascript|data|vbscript):", attributes.get("href") or "", re.IGNORECASE):
            return False
    return True


@pytest.mark.parametrize("text", HARMFUL)
def test_what_could_do_harm_is_text(text: str) -> None:
    assert harmless(html(text))
    assert harmless(html(f"before {text} after", breaks=True))
    assert harmless(str(inline(text)))


@given(st.text(alphabet="<>&\"'`*_$\\()[]{}|#~!:/ \nabc\ue010\ue0110129=javscript", max_size=120))
def test_no_text_becomes_a_harmful_tag(text: str) -> None:
    assert harmless(html(text))
    assert harmless(str(inline(text, [(0, len(text) // 2)])))


def test_prices_and_shell_variables_are_no_formulas() -> None:
    assert "<math" not in html("It costs $5 and then $10, in $HOME/$USER, for US$20.")
    assert html(r"But $x^2$ and \(y_1\) are.").count("<math") == 2


def test_a_formula_that_nobody_can_read_is_shown_as_it_was_written() -> None:
    assert r"\text{&lt;b&gt;}" in html(r"$\text{<b>}$")


@pytest.mark.parametrize("name", ["aligned", "aligned}[t]", "alignedat}{2}", "gathered", "align*", "split", "cases"])
def test_lines_of_a_formula_are_a_table(name: str) -> None:
    begin, _, more = name.partition("}")
    drawn = html(rf"$$\begin{{{begin}}}{more} a &= b \\ c &= d \end{{{begin}}}$$")
    assert drawn.count("<mtr>") == 2
    assert "&amp;" not in drawn


def test_headings_stand_below_those_of_the_page() -> None:
    assert re.findall(r"<(h\d)>", html("### a\n\n##### b\n\n### c")) == ["h2", "h3", "h2"]


def test_a_line_that_somebody_typed_ends_where_it_ended() -> None:
    assert "<br>" in html("one\ntwo", breaks=True)
    assert "<br>" not in html("one\ntwo")


def test_a_quotation_is_found_across_tags_and_signs() -> None:
    drawn = html("Say **hold back** the `water`, [late](http://a.example/b). Then wait.")
    shown = marked_html(drawn, quoted(["hold back** the `water`, [late](http://a.example/b)"]))
    assert "".join(re.findall(r"<mark>(.*?)</mark>", shown)) == "hold back the water, late"
    assert re.sub(r"</?mark>", "", shown) == drawn


@given(st.text(alphabet="ab <>&*`|\n", max_size=80), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80))))
def test_marks_change_nothing_but_marks(text: str, ranges: list[tuple[int, int]]) -> None:
    drawn = html(text)
    shown = marked_html(drawn, lambda plain: [(a, b) for a, b in ranges if a < b <= len(plain)])
    assert re.sub(r"</?mark>", "", shown) == drawn.replace('"', "&#34;") or re.sub(r"</?mark>", "", shown) == drawn


def test_an_excerpt_shows_bold_code_and_tables() -> None:
    text = "| a | b |"
    assert str(inline(text)) == "a · b"
    assert str(inline("a **b** `c`", [(4, 5)])) == "a <b><mark>b</mark></b> <code>c</code>"


def test_bars_are_months_until_there_are_too_many() -> None:
    def link(first: str, last: str) -> str:
        return f"{first}/{last}"

    few = month_bars({"2024-02": 1}, {"2024-01": 4, "2024-02": 2, "2024-03": 1}, link)
    assert few is not None
    assert [(bar.label, bar.matching, bar.all, bar.href) for bar in few.bars] == [
        ("Jan 2024", 0, 4, "2024-01/2024-01"),
        ("Feb 2024", 1, 2, "2024-02/2024-02"),
        ("Mar 2024", 0, 1, "2024-03/2024-03"),
    ]
    many = month_bars({}, {"1990-01": 1, "2024-12": 1}, link)
    assert many is not None
    assert [bar.href for bar in many.bars] == ["1990-01/1990-12", "2024-01/2024-12"] or many.bars[0].label.startswith(
        "Jan to Mar"
    )
    assert month_bars({}, {"2024-01": 3}, link) is None


def _message(name: str, parent: str | None, *, active: bool) -> Message:
    above = NodeId(parent) if parent else None
    return Message(NodeId(name), NodeId("c"), Role.USER, name, parent_id=above, active=active)


def test_the_way_through_a_tree_leads_over_the_message_that_is_opened() -> None:
    tree = [
        _message("a", None, active=True),
        _message("b1", "a", active=False),
        _message("c1", "b1", active=False),
        _message("b2", "a", active=True),
    ]
    shown = path_through(tree, None)
    assert [m.id for m in shown.messages] == ["a", "b2"]
    fork = shown.fork(shown.messages[1])
    assert fork is not None
    assert (fork.number, fork.among, fork.previous, fork.next) == (2, 2, "b1", None)
    assert [m.id for m in path_through(tree, NodeId("b1")).messages] == ["a", "b1", "c1"]


def test_messages_that_follow_nothing_are_no_branches() -> None:
    flat = [_message(name, None, active=True) for name in "abc"]
    shown = path_through(flat, None)
    assert all(shown.fork(message) is None for message in shown.messages)


@pytest.mark.parametrize(
    "text",
    [
        "> " * 60 + "deep\n\nafter",
        "\n".join("  " * i + f"- item{i}" for i in range(40)) + "\n\nafter",
        "\n".join("   " * i + f"1. item{i}" for i in range(40)),
        "> - " * 30 + "deep\n\nafter",
    ],
)
def test_no_word_of_a_deeply_nested_message_is_lost(text: str) -> None:
    shown = re.sub(r"<[^>]*>", "", html(text))
    assert set(re.findall(r"\w{2,}", text)) <= set(re.findall(r"\w{2,}", shown))
