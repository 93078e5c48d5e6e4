"""Conversations of every shape open, at their beginning where nothing was sought; and going back finds the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2 as httpx
import pytest

import recollect
from tests.faces.web.conftest import NARROW, WIDE, Running, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

LONG_TITLE = "Donaudampfschifffahrt" * 12
ROOTS = r"$$\sqrt{\pi}$$ and $$\begin{pmatrix} a \\ b \\ c \\ d \end{pmatrix}$$"
#: How wide the sign of a root is, how high a parenthesis, and how high the matrix in it.
DRAWN = """() => {
    const size = (element) => element.getBoundingClientRect();
    const root = document.querySelector("msqrt");
    const matrix = document.querySelector("mtable");
    const bracket = matrix.previousElementSibling;
    return [size(root).width - size(root.firstElementChild).width, size(bracket).height, size(matrix).height];
}"""
PATHS = ("/", "/search", "/ask", "/timeline", "/graph", "/facts", "/import", "/status", "/forget", "/scope", "/given")
LONG_NAMESPACE = "client-" + "x" * 90
LONG_NAME = "N" * 5_000
LONG_CALL = "git add . && git commit -m 'Add the words of the night to the output of the worker' && git push " * 4


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Conversations without a question, with tools, thought and attachments, and with long titles."""
    folder = tmp_path_factory.mktemp("shapes")
    memory = recollect.open(folder / "memory.db", durable=False, background=False)
    memory.store_message("Good evening.", "assistant", conversation_id="unasked", title="Unasked")
    memory.store_message("Still there?", "assistant", conversation_id="unasked")
    for n in range(12):
        memory.store_message(f"Question {n} about the boiler?", conversation_id="tools", title=LONG_TITLE)
        thought = memory.store_message(f"Thought {n}.", "assistant", kind="reasoning", conversation_id="tools")
        said = memory.store_message(f"Answer {n}. " + "More of it. " * 30, "assistant", parent_id=thought.id)
        memory.store_tool_call("Bash", {"command": LONG_CALL}, LONG_CALL, said.id)
        memory.store_message(f"Context {n}: {LONG_CALL}", "assistant", kind="context", conversation_id="tools")
    hidden = memory.store_message("My only question, about the heron?", conversation_id="hidden", title="Hidden")
    memory.store_message("It stands in the reeds.", "assistant", conversation_id="hidden")
    memory.delete(hidden.id)
    memory.store_message("The otter sleeps.", speaker=LONG_NAME, conversation_id="named", title="Named")
    memory.store_message("It does.", "assistant", speaker="Ana", model=LONG_NAME, conversation_id="named")
    memory.upkeep.consolidate()
    with serving(memory, folder / "home") as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("conversation", ["unasked", "hidden"])
def test_a_conversation_without_a_question_opens(shapes: Running, conversation: str) -> None:
    answer = httpx.get(f"{shapes.url}/c/{conversation}", timeout=30)
    assert answer.status_code == 200
    assert "Your questions" not in answer.text
    assert ">Questions<" not in answer.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "first=99999&last=100000",
        "first=99999&last=5&way=earlier",
        "first=-5&last=-9",
        "at={message}&span=²-³",
        "at={message}&span=0-" + "9" * 5_000,
    ],
)
def test_a_part_that_is_not_there_is_no_fault_of_the_server(shapes: Running, query: str) -> None:
    message = shapes.memory.conversation("tools").messages[0].id
    answer = httpx.get(f"{shapes.url}/c/tools?{query.format(message=message)}", timeout=30)
    assert answer.status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("query", ["", "?q=xylophone"])
def test_a_conversation_with_tools_opens_at_its_beginning(shapes: Running, query: str) -> None:
    answer = httpx.get(f"{shapes.url}/c/tools{query}", timeout=30)
    assert 'class="msg you now' not in answer.text
    assert " now" not in "".join(part[:40] for part in answer.text.split('<li class="msg')[1:])
    told = httpx.get(f"{shapes.url}/c/tools{query}", headers={"Accept": "application/json"}, timeout=30).json()
    assert told["at"] is None


@pytest.mark.browser
@pytest.mark.parametrize("viewport", [NARROW, WIDE], ids=["390", "1280"])
def test_nothing_makes_a_conversation_wider_than_the_screen(
    shapes: Running, open_page: Callable[..., Page], viewport: dict[str, int]
) -> None:
    page = open_page(shapes.url, viewport=viewport)
    named = ("/c/named", "/search?q=otter", "/entities")
    sought = (f"/{path}={LONG_NAME}" for path in ("search?q", "ask?q", "graph?from", "entity?name", "facts?about"))
    for path in ("/c/tools", *named, *sought, *(f"{path}?namespace={LONG_NAMESPACE}" for path in PATHS)):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], path


@pytest.mark.browser
def test_back_from_a_citation_leads_to_the_answer(served: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served.url)
    page.goto("/ask?q=When did we drop Redis?")
    page.wait_for_selector(".source a[data-row]")
    answer = page.url
    page.click(".source a[data-row] >> nth=0")
    page.wait_for_selector(".find [data-back]")
    assert page.inner_text(".find [data-back]") == "‹ When did we drop Redis?"
    page.keyboard.press("Escape")
    page.wait_for_url(answer)


@pytest.mark.browser
def test_back_from_the_timeline_leads_to_the_timeline(served: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served.url)
    page.goto("/timeline")
    page.click("a[href*='/c/'] >> nth=0")
    page.wait_for_selector(".find [data-back]")
    assert page.inner_text(".find [data-back]").endswith("Timeline")
    page.click(".find [data-back]")
    page.wait_for_url("**/timeline*")


@pytest.mark.browser
def test_going_back_focuses_the_row_that_was_left(served: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served.url)
    page.goto("/search?q=redis")
    row = page.locator("a[data-row]").nth(2)
    left = row.get_attribute("href")
    row.click()
    page.wait_for_selector(".find [data-back]")
    page.keyboard.press("Escape")
    page.wait_for_url("**/search?q=redis*")
    page.wait_for_function("document.activeElement.matches('[data-row]')")
    assert page.evaluate("document.activeElement.getAttribute('href')") == left


@pytest.mark.browser
def test_finding_within_a_conversation_does_not_lose_the_way_back(
    served: Running, open_page: Callable[..., Page]
) -> None:
    page = open_page(served.url)
    page.goto("/search?q=redis")
    page.click("a[data-row] >> nth=0")
    page.wait_for_selector("#in")
    page.fill("#in", "queue")
    page.press("#in", "Enter")
    page.wait_for_url("**/c/**q=queue*")
    assert page.inner_text(".find [data-back]") == "‹ redis"
    page.click(".find [data-back]")
    page.wait_for_url("**/search?q=redis*")


@pytest.mark.browser
def test_going_back_to_a_conversation_keeps_its_own_way_back(served: Running, open_page: Callable[..., Page]) -> None:
    page = open_page(served.url)
    page.goto("/search?q=redis")
    page.click("a[data-row] >> nth=0")
    page.wait_for_selector(".find [data-back]")
    page.goto("/timeline")
    page.go_back()
    page.wait_for_selector(".find [data-back]")
    assert page.inner_text(".find [data-back]") == "‹ redis"


@pytest.mark.browser
def test_a_key_finds_within_the_conversation_and_keeps_the_place(
    served: Running, open_page: Callable[..., Page]
) -> None:
    page = open_page(served.url)
    page.goto("/search?q=redis")
    page.click("a[data-row] >> nth=0")
    page.wait_for_selector("#in")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    place = page.evaluate("scrollY")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "in"
    assert page.evaluate("scrollY") == place


@pytest.mark.browser
def test_back_from_a_document_leads_to_the_search(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    (tmp_path / "birds.md").write_text("# Birds\n\nThe heron stands in the reeds.\n")
    memory.import_documents(tmp_path / "birds.md")
    with serving(memory, tmp_path / "home") as running:
        page = open_page(running.url)
        page.goto("/search?q=heron")
        page.click("a[href*='/document/']")
        page.wait_for_selector("main [data-back]")
        assert page.inner_text("main [data-back]") == "‹ heron"
        page.keyboard.press("Escape")
        page.wait_for_url("**/search?q=heron*")


@pytest.mark.browser
def test_formulas_are_drawn_with_a_font_for_them(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    memory.store_message(ROOTS, "assistant", conversation_id="roots", title="Roots")
    with serving(memory, tmp_path / "home") as running:
        page = open_page(running.url)
        page.goto("/c/roots")
        page.wait_for_function("document.fonts.status === 'loaded'")
        loaded = page.evaluate(
            "[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)"
        )
        root, bracket, matrix = page.evaluate(DRAWN)
    assert [name.strip('"') for name in loaded] == ["Noto Sans Math"]
    assert root > 5, "the sign of the root takes room"
    assert bracket > 0.8 * matrix, "a parenthesis is as high as its matrix"
