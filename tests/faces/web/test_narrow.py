"""What a phone shows: nothing cut off, nothing torn from what it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from recollect.ingest.requested import Given
from recollect.record import NodeId
from tests.faces.web.conftest import NARROW, WIDE, Running, watched_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

#: Notes every text that is drawn on a canvas, with where it begins and ends and how wide the canvas is.
_NOTING = """
(() => {
  window.drawn = [];
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const wide = this.measureText(text).width;
    const left = x - ({ center: wide / 2, end: wide, right: wide }[this.textAlign] || 0);
    window.drawn.push([text, left, left + wide, this.canvas.width / this.getTransform().a]);
    return fill.apply(this, arguments);
  };
})();
"""


@pytest.mark.parametrize("viewport", [NARROW, None], ids=["390", "1280"])
def test_names_in_the_graph_are_whole(
    served: Running, open_page: Callable[..., Page], viewport: dict[str, int] | None
) -> None:
    page = open_page(served.url, **({"viewport": viewport} if viewport else {}))
    page.add_init_script(_NOTING)
    page.goto("/graph?from=Inês")
    for _ in range(50):
        page.wait_for_timeout(200)
        if any(text == "Inês" for text, *_ in page.evaluate("window.drawn")):
            break
    assert len(page.evaluate("window.drawn")) > 5
    cut = [text for text, left, right, wide in page.evaluate("window.drawn") if left < 0 or right > wide]
    assert cut == []


def test_names_in_the_drawn_graph_are_whole(browser: Browser, served: Running) -> None:
    with watched_page(browser, served.url, viewport=NARROW, java_script_enabled=False) as (page, _):
        page.goto("/graph?from=Inês")
        frame = page.locator(".canvas").bounding_box()
        names = [name.bounding_box() for name in page.locator(".canvas svg .node.top text").all()]
    assert frame is not None
    shown = [name for name in names if name is not None]
    assert len(shown) > 5
    assert all(frame["x"] <= name["x"] for name in shown)
    assert all(name["x"] + name["width"] <= frame["x"] + frame["width"] for name in shown)


def test_a_table_is_as_wide_as_the_page(served: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served.url, viewport=NARROW)
    page.goto("/entities")
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.names'))")


def test_a_field_stands_beside_its_name(served: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served.url, viewport=NARROW)
    for path in ("/facts", "/graph?from=Inês"):
        page.goto(path)
        torn = page.evaluate(
            """() => [...document.querySelectorAll('main label[for]:not(.vh)')].filter(label => {
                const field = document.getElementById(label.htmlFor).getBoundingClientRect();
                const name = label.getBoundingClientRect();
                return name.height && (name.bottom < field.top || name.top > field.bottom);
            }).map(label => label.textContent)"""
        )
        assert torn == [], path


@pytest.mark.parametrize("path", ["/entities", "/status", "/graph?from=Inês"])
def test_dates_and_numbers_stand_in_one_line(served: Running, open_page: Callable[..., Page], path: str) -> None:
    page = open_page(served.url, viewport=NARROW)
    page.goto(path)
    broken = page.evaluate(
        """() => [...document.querySelectorAll('main td')].filter(cell => /\\d/.test(cell.textContent) &&
            !cell.querySelector('progress')).filter(cell => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              const boxes = [...range.getClientRects()].filter(box => box.width);
              const lines = new Set(boxes.map(box => Math.round(box.bottom / 4)));
              return lines.size > 1;
            }).map(cell => cell.textContent).slice(0, 5)"""
    )
    assert broken == []


@pytest.mark.parametrize("path", ["/", "/ask", "/research"])
def test_what_a_box_asks_for_ends_in_an_ellipsis(served: Running, open_page: Callable[..., Page], path: str) -> None:
    page = open_page(served.url, viewport=NARROW)
    page.goto(path)
    assert page.evaluate("getComputedStyle(document.querySelector('main .box input')).textOverflow") == "ellipsis"


@pytest.mark.parametrize("viewport", [NARROW, WIDE], ids=["390", "1280"])
def test_no_name_is_wider_than_the_page(
    served_copy: Running, open_page: Callable[..., Page], viewport: dict[str, int]
) -> None:
    name = "N" * 500
    for text in ("The kiln is hot.", "The kiln is cold.", "The glaze runs."):
        served_copy.memory.store_message(text, speaker=name, conversation_id="long", title=name)
    served_copy.memory.upkeep.consolidate()
    page = open_page(served_copy.url, viewport=viewport)
    for path in (
        "/c/long",
        "/story/long",
        "/search?q=kiln+glaze",
        "/ask?q=How+hot+is+the+kiln?",
        f"/scope?namespace={'n' * 190}",
    ):
        page.goto(path)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.parametrize("viewport", [NARROW, WIDE], ids=["390", "1280"])
def test_no_fact_is_wider_than_the_page(
    served_copy: Running, open_page: Callable[..., Page], viewport: dict[str, int]
) -> None:
    memory, name = served_copy.memory, "N" * 300
    for _ in range(2):
        memory.store_message(f"My dog is called {name}. I live in {name}.", conversation_id="long", speaker="Ada")
    memory.store_fact(f"Ada likes {name}", "likes", entity="Ada")
    memory.upkeep.consolidate()
    parts = [Given("facts", 9, tuple(NodeId(fact.id) for fact in memory.facts()))]
    memory.integration.record_request("mcp", parts, text=name)
    page = open_page(served_copy.url, viewport=viewport)
    for path in ("/given", "/c/long", "/facts"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_code_is_written_from_left_to_right_in_any_script(served_copy: Running, open_page: Callable[..., Page]) -> None:
    said = "شرح الخزف بالعربية\n\n```\nkiln(1);\n```\n\n`glaze[0]`"
    served_copy.memory.store_message(said, "assistant", conversation_id="rtl")
    page = open_page(served_copy.url)
    page.goto("/c/rtl")
    code = page.locator(".messages pre, .messages p code")
    assert code.evaluate_all("them => them.map(one => getComputedStyle(one).direction)") == ["ltr", "ltr"]
    assert code.evaluate_all("them => them.map(one => getComputedStyle(one).unicodeBidi)")[1] == "isolate"
