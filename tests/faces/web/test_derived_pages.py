"""Facts, timeline, topics, graph, names and stories, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2 as httpx
import pytest

from tests.faces.web.conftest import NARROW, Running, axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

_PAGES = {
    "facts": "/facts",
    "facts-edit": "/facts?about=Bruno",
    "timeline": "/timeline?in=2024-01",
    "topics": "/topics",
    "graph": "/graph?from=Tidepool",
    "between": "/graph/between?a=Mara&b=Inês",
    "names": "/entities",
    "name": "/entity?name=Postgres",
}


def story_of(running: Running, title: str = "Full Stack App Planning") -> str:
    return f"/story/{running.memory.resolve(title)[0].conversation.id}"


@pytest.mark.parametrize("name", [*_PAGES, "story"])
@pytest.mark.parametrize(("viewport", "scheme"), [(None, "light"), (NARROW, "dark")], ids=["wide-light", "narrow-dark"])
def test_pages_are_accessible(
    served: Running,
    open_page: Callable[..., Page],
    shot: Callable[..., Path],
    name: str,
    viewport: Any,
    scheme: str,
) -> None:
    page = open_page(served.url, **({"viewport": viewport} if viewport else {}), color_scheme=scheme)
    page.goto(_PAGES.get(name) or story_of(served))
    if name == "graph":
        page.wait_for_selector("#canvas[data-ready]")

    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
    shot(page, f"{name}-{scheme}-{'390' if viewport else '1280'}", full_page=True)


@pytest.mark.parametrize("name", _PAGES)
def test_pages_answer_json_too(served: Running, name: str) -> None:
    answer = httpx.get(served.url + _PAGES[name], headers={"Accept": "application/json"})

    assert answer.status_code == 200
    assert isinstance(answer.json(), dict)


@pytest.mark.parametrize("path", ["/facts", "/timeline", "/topics", "/graph", "/entities"])
def test_an_empty_memory_says_so_in_words(served_empty: Running, open_page: Callable[..., Page], path: str) -> None:
    page = open_page(served_empty.url)
    page.goto(path)

    assert page.get_by_role("status").first.inner_text()
    assert axe(page) == []


def test_a_fact_is_edited_by_hand_and_that_is_taken_back(served_copy: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served_copy.url)
    page.goto("/facts?about=Birgitta")
    fact = page.locator(".fact", has_text="69")
    fact.get_by_role("link", name="Edit").click()
    page.get_by_label("Your wording").fill("Birgitta is 70 years old.")
    page.get_by_role("button", name="Save").click()

    corrected = page.locator(".fact", has_text="70 years old")
    assert "corrected by you" in corrected.inner_text()
    assert "about=Birgitta" in page.url
    corrected.get_by_role("button", name="Undo").click()
    assert page.locator(".fact", has_text="69 years old").count() == 1


def test_a_fact_is_pinned_and_let_go(served_copy: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served_copy.url)
    page.goto("/facts?about=Priya")
    page.get_by_role("button", name="Pin").click()
    page.get_by_text("pinned", exact=True).wait_for()
    page.get_by_role("button", name="Unpin").click()
    page.get_by_role("button", name=re.compile("^Pin")).wait_for()
    assert page.get_by_text("pinned", exact=True).count() == 0


def test_a_forgotten_fact_can_be_had_back(served_copy: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served_copy.url)
    page.goto("/facts?about=Priya")
    page.get_by_role("button", name="Forget").click()
    assert "Forgotten." in page.get_by_role("status").first.inner_text()
    assert page.locator(".fact").count() == 0
    page.get_by_role("button", name="Undo").click()
    assert page.locator(".fact").count() == 1


def test_facts_are_merged(served_copy: Running, open_page: Callable[..., Page]) -> None:
    served_copy.memory.store_fact("Zoe likes tea.", "drink", entity="Zoe")
    served_copy.memory.store_fact("Zoe enjoys tea.", "habit", entity="Zoe")
    page = open_page(served_copy.url)
    page.goto("/facts?about=Zoe")
    assert page.locator(".fact").count() == 2
    page.get_by_role("link", name="Merge").first.click()
    page.get_by_role("button", name="Merge").click()

    assert page.locator(".fact").count() == 1


def test_what_held_before_stands_under_what_holds_now(page: Page) -> None:
    page.goto("/facts?about=In%C3%AAs")
    page.get_by_text("1 earlier value").click()

    assert "5 years old" in page.locator(".then").inner_text()
    page.goto("/facts?tab=then")
    assert "5 years old" in page.locator(".fact").first.inner_text()


def test_what_was_believed_at_a_time(page: Page) -> None:
    page.goto("/facts?as_of=2023-12-31&about=In%C3%AAs")

    assert "5 years old" in page.locator(".fact").first.inner_text()


def test_the_proof_of_a_fact_opens_its_message(page: Page) -> None:
    page.goto("/facts?about=Priya")
    page.locator(".fact .said a").click()

    assert re.search(r"/c/\w+.*#m-", page.url)
    assert "Priya hates gore" in page.inner_text("main")


def test_a_bar_of_the_timeline_opens_its_month(page: Page) -> None:
    page.goto("/timeline")
    page.get_by_role("link", name="January 2024: 86 messages").locator("visible=true").click()

    assert page.url.endswith("?in=2024-01")
    assert page.get_by_role("heading", name="January 2024").is_visible()
    page.get_by_role("link", name="Full Stack App Planning").click()
    assert "/c/" in page.url


def test_a_dot_opens_what_was_said_of_the_topic_then(page: Page) -> None:
    page.goto("/timeline")
    page.get_by_role("link", name="rows, Postgres, bookings, January 2024").locator("visible=true").click()

    assert page.locator(".talks").inner_text().count("Full Stack App Planning") == 1


def test_the_graph_grows_by_a_click_and_goes_back(page: Page) -> None:
    page.goto("/graph?from=Tidepool")
    page.wait_for_selector("#canvas[data-ready]")
    before = page.inner_text("#graph-count")
    x, y = page.evaluate(
        """() => {
            const graph = recollectGraph.getGraph();
            const id = graph.findNode((_, one) => one.name === "Mara");
            const at = recollectGraph.graphToViewport(graph.getNodeAttributes(id));
            const box = document.querySelector("#canvas").getBoundingClientRect();
            return [at.x + box.x, at.y + box.y];
        }"""
    )
    page.mouse.click(x, y)
    page.wait_for_url("**grow=Mara*")
    page.wait_for_function("before => document.querySelector('#graph-count').innerText !== before", arg=before)
    assert page.inner_text("#twin h2") == "Mara"

    page.go_back()
    page.wait_for_function("before => document.querySelector('#graph-count').innerText === before", arg=before)
    assert page.inner_text("#twin h2") == "Tidepool"


def test_the_graph_bears_being_out_of_sight(page: Page) -> None:
    page.goto("/graph?from=Tidepool")
    page.wait_for_selector("#canvas[data-ready]")
    redraw = """async display => {
        document.querySelector("#canvas").style.display = display;
        dispatchEvent(new Event("resize"));
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        return recollectGraph.getDimensions().width;
    }"""
    page.evaluate(redraw, "none")

    assert page.evaluate(redraw, "block") > 300


def test_a_picture_looks_the_same_tomorrow(served: Running) -> None:
    def places() -> dict[str, tuple[float, float]]:
        answer = httpx.get(f"{served.url}/graph?from=Mara", headers={"Accept": "application/json"}).json()
        return {one["name"]: (one["x"], one["y"]) for one in answer["entities"]}

    assert places() == places()


def test_the_graph_works_without_a_script(browser: Any, served: Running) -> None:
    context = browser.new_context(base_url=served.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/graph?from=Tidepool")
    page.get_by_role("link", name="Mara, person, animal").click()

    assert "grow=Mara" in page.url
    page.get_by_role("link", name=re.compile("messages? with Mara and Inês")).click()
    assert "Inês" in page.locator(".lines").first.inner_text()
    context.close()


def test_a_name_that_is_not_there_offers_others(page: Page) -> None:
    answer = page.goto("/graph?from=Tidepol")

    assert answer is not None
    assert answer.status == 404
    assert "Tidepool" in page.inner_text("main")


def test_a_name_is_corrected_and_merged_by_hand(served_copy: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served_copy.url)
    page.goto("/entity?name=Tidepool&edit=name")
    page.get_by_label("Kind").select_option("project")
    page.get_by_role("button", name="Save").click()
    assert "project" in page.locator("h1 + .meta").inner_text()

    page.goto("/entity?name=SwellDesk&edit=merge")
    page.get_by_label("Same as").fill("Tidepool")
    page.get_by_role("button", name="Merge").click()
    assert "SwellDesk" in page.locator(".aliases").inner_text()
    page.locator(".aliases li", has_text="SwellDesk").get_by_role("button", name="Not the same").click()
    page.goto("/entity?name=Tidepool")
    assert page.locator(".aliases", has_text="SwellDesk").count() == 0

    page.get_by_role("button", name="Forget").click()
    assert "no longer shown" in page.get_by_role("status").first.inner_text()
    page.get_by_role("button", name="Undo").click()
    assert page.get_by_role("heading", name="Tidepool", exact=True).is_visible()


def test_the_story_leads_to_its_messages(page: Page, served: Running) -> None:
    page.goto(story_of(served))
    assert page.locator(".part").count() == 4
    page.get_by_role("link", name="messages 11–20").click()

    assert re.search(r"/c/\w+.*#m-", page.url)


def test_a_short_conversation_has_no_parts(page: Page, served: Running) -> None:
    short = min(served.memory.conversations(limit=200), key=lambda row: row.messages)
    page.goto(f"/story/{short.conversation.id}")

    assert "not told yet" in page.get_by_role("status").first.inner_text() or page.locator(".gist").count()


_PAYLOAD = '<img src=x onerror=alert(1)>"><script>alert(2)</script>'


def test_what_was_said_is_never_run(served_copy: Running, open_page: Callable[..., Page]) -> None:
    memory = served_copy.memory
    for i in range(4):
        memory.store_message(
            f"{_PAYLOAD} My dog is called Luna. Luna met Rui in Sintra.", conversation_id="evil", title=_PAYLOAD
        )
        memory.store_message(f"Luna number {i}. {_PAYLOAD}", "assistant", conversation_id="evil")
    memory.upkeep.consolidate()
    memory.store_fact(f"Luna likes {_PAYLOAD}.", "taste", entity=_PAYLOAD, value=_PAYLOAD)
    memory.knowledge.edit_entity("Luna", _PAYLOAD)
    page = open_page(served_copy.url)
    for path in (
        "/facts",
        f"/facts?about={quote(_PAYLOAD)}",
        "/timeline",
        "/topics",
        "/entities",
        f"/entity?name={quote(_PAYLOAD)}",
        f"/graph?from={quote(_PAYLOAD)}",
        f"/graph/between?a={quote(_PAYLOAD)}&b=Rui",
        "/story/evil",
    ):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        assert page.locator("img[src=x]").count() == 0, path
