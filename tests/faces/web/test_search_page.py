"""The search page in a browser: what is typed is searched, filtered, opened, and found again when going back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.faces.web.conftest import NARROW, WIDE, Running, axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

QUERY = "stripe webhook"


def test_what_is_typed_is_searched_opened_and_there_again_when_one_goes_back(page: Page) -> None:
    page.goto("/search")
    page.wait_for_selector("#q:focus")
    page.keyboard.type(QUERY)
    page.wait_for_url(re.compile(r"q=stripe\+webhook$"))  # results of a part of it may come before
    page.wait_for_selector(".hit:has-text('Stripe webhook signature fails')")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".msg.now:focus")
    assert "/c/" in page.url
    page.keyboard.press("Escape")
    page.wait_for_selector(".hit")
    assert page.input_value("#q") == QUERY
    page.goto("/search")
    assert QUERY in page.inner_text("#searched")


def test_what_was_searched_stays_in_its_namespace(open_page: Callable[..., Page], served_copy: Running) -> None:
    page = open_page(served_copy.url)
    page.goto(f"/search?q={QUERY}")
    page.click(".hit a")
    page.goto("/search")
    assert QUERY in page.inner_text("#searched")
    page.goto("/search?namespace=acme/rex")
    assert not page.is_visible("#searched")
    page.goto("/search?namespace=default")
    assert QUERY in page.inner_text("#searched")


def test_when_something_is_forgotten_the_browser_forgets_what_was_searched(
    open_page: Callable[..., Page], served_copy: Running
) -> None:
    page = open_page(served_copy.url)
    page.goto(f"/search?q={QUERY}")
    page.click(".hit a")
    page.click("[aria-label=More]")
    page.click("text=Forget …")
    page.click("dialog[open] button:has-text('Forget it')")
    page.wait_for_selector("h1:has-text('Forgotten')")
    assert "stripe" not in page.evaluate("JSON.stringify(localStorage)")
    page.goto("/search")
    assert not page.is_visible("#searched")


def test_filters_are_links_with_counts(page: Page) -> None:
    page.goto(f"/search?q={QUERY}")
    before = int(page.inner_text("#count b").split()[0])
    page.click(".facet a:has-text('Claude')")
    page.wait_for_url(re.compile("source=claude"))
    assert int(page.inner_text("#count b").split()[0]) < before
    assert set(page.locator(".hit .meta span:first-child").all_inner_texts()) == {"Claude"}
    page.keyboard.press("/")
    page.keyboard.type("postgres")  # what was filtered stays so while one types on
    page.wait_for_url(re.compile("q=postgres&source=claude|source=claude&q=postgres"))
    page.click(".facet a[aria-current]:has-text('Claude')")
    page.wait_for_url(lambda url: "source" not in url)


def test_show_more_puts_further_results_below_until_that_is_everything(page: Page) -> None:
    page.goto("/search?q=water")
    titles = page.locator(".hit h2 a")
    before = titles.evaluate_all("them => them.map(one => one.href)")
    while page.locator("[data-further]").count():
        shown = titles.count()
        page.click("[data-further]")
        page.wait_for_selector(f".hit >> nth={shown}")
    after = titles.evaluate_all("them => them.map(one => one.href)")
    assert after[: len(before)] == before
    assert len(set(after)) == len(after) > len(before)
    assert "That is everything" in page.inner_text(".hits")
    assert page.url.endswith("q=water")


def test_the_focus_goes_on_to_what_show_more_brought(page: Page) -> None:
    page.goto("/search?q=water")
    shown = page.locator(".hit").count()
    page.focus("[data-further]")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".hit >> nth={shown}")
    assert (
        page.evaluate("[...document.querySelectorAll('.hit')].indexOf(document.activeElement.closest('.hit'))") == shown
    )


def test_a_bar_leads_to_its_month(page: Page) -> None:
    page.goto(f"/search?q={QUERY}")
    page.locator(".months .wide a:has(.hit-bar)").first.click(force=True)
    page.wait_for_url(re.compile(r"since=2023-10&until=2023-10"))
    assert "Stripe webhook signature fails" in page.inner_text(".hits")


def test_what_finds_nothing_says_where_was_looked_and_what_else_there_is(page: Page) -> None:
    page.goto("/search?q=zeppelinstein&source=claude")
    told = page.inner_text("#results")
    assert re.search(r"Nothing in \d+ Claude conversations for “zeppelinstein”", told)
    page.goto("/search?q=stripe&source=openai&role=system")
    assert "without filters" in page.inner_text("#results")


def test_what_cannot_be_searched_is_said_and_is_not_taken_for_nothing(page: Page) -> None:
    page.goto("/search?q=stripe&since=zweimal")
    assert page.locator(".note.bad").count() == 1
    assert "Nothing" not in page.inner_text("#results")


def test_a_server_that_is_gone_is_not_an_empty_memory(page: Page) -> None:
    page.goto("/search")
    page.route("**/search?**", lambda route: route.abort())
    page.keyboard.type("postgres")
    page.wait_for_selector(".note.warn")
    assert "Could not look" in page.inner_text("#results")
    page.unroute("**/search?**")
    page.click("text=Look again")
    page.wait_for_selector(".hit")


def test_all_of_it_works_without_a_script(open_page: Callable[..., Page], served: Running) -> None:
    page = open_page(served.url, java_script_enabled=False)
    page.goto("/search")
    page.fill("#q", QUERY)
    page.click("button.main")
    page.wait_for_selector(".hit")
    page.click(".lines a >> nth=0")
    page.wait_for_selector(".msg.now mark")
    page.click("[data-step=next]")
    page.wait_for_selector(".msg.now mark")
    page.click("[data-back]")
    page.wait_for_selector(".hit")


def test_the_palette_jumps_to_a_conversation(page: Page) -> None:
    page.goto("/search")
    page.keyboard.press("Control+k")
    page.wait_for_selector("#palette[open]")
    page.keyboard.type("full stack")
    # The options of all these words: those of fewer come first, and what is chosen of them is not chosen any longer.
    page.wait_for_selector("#jump-search:has-text('full stack') + [role=option]:has-text('Full Stack App Planning')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Full Stack App Planning')")


def test_letters_are_keys_unless_they_are_switched_off(page: Page) -> None:
    page.goto(f"/search?q={QUERY}")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('[data-row]')")
    page.keyboard.press("?")
    page.wait_for_selector("#keys:popover-open")
    page.uncheck("#letters")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.keyboard.press("/")
    page.wait_for_timeout(100)
    assert page.locator("#keys:popover-open").count() == 0
    assert page.evaluate("document.activeElement.id") != "q"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["1280", "390"])
@pytest.mark.parametrize(
    ("name", "address"),
    [("search", f"/search?q={QUERY}"), ("search-before", "/search"), ("search-nothing", "/search?q=zeppelinstein")],
)
def test_it_is_fit_for_everybody(
    open_page: Callable[..., Page],
    served: Running,
    shot: Callable[..., object],
    name: str,
    address: str,
    width: str,
    scheme: str,
) -> None:
    page = open_page(served.url, viewport=WIDE if width == "1280" else NARROW, color_scheme=scheme)
    page.goto(address)
    page.wait_for_selector(".found")
    shot(page, f"{name}-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert axe(page) == []
    if width == "390" and name == "search":
        page.click("text=Filters")
        shot(page, f"{name}-filters-{scheme}-{width}")
        assert axe(page) == []
