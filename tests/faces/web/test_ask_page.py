"""Ask and research in a browser: steps and words as they come, sources that lead to their messages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

import recollect
from tests.faces.web.conftest import NARROW, Running, axe, serving
from tests.faces.web.slow_model import SlowModel

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

QUESTION = "Why did we choose Postgres over Redis for the job queue?"
ASKED = "/ask?q=Why+did+we+choose+Postgres+over+Redis+for+the+job+queue%3F"
Shot = Callable[..., object]


@pytest.fixture
def model() -> SlowModel:
    return SlowModel("You chose Postgres. ", "A booking and its job are saved together [1]. ", "Load was small [2].")


@pytest.fixture
def with_model(tmp_path: Path, derived_store: Path, model: SlowModel) -> Iterator[Running]:
    folder = tmp_path / "store"
    shutil.copytree(derived_store.parent, folder)
    memory = recollect.open(folder / derived_store.name, durable=False, background=False, asked_model=model)
    with serving(memory, tmp_path / "home") as running:
        yield running


def test_a_question_is_answered_in_the_words_that_were_said(page: Page, shot: Shot) -> None:
    page.goto("/ask")
    page.fill("main [name=q]", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".source")
    assert page.inner_text("h1") == QUESTION
    assert "Postgres with SKIP LOCKED" in page.inner_text("#answer")
    assert page.inner_text(".source >> nth=0").startswith("1")
    assert page.inner_text("#s1 mark").startswith("Decision as of today")
    assert "Ask again" in page.inner_text("#after")
    assert not axe(page)
    shot(page, "ask-light-1280")


def test_a_number_lifts_its_source_and_opens_the_sentence(page: Page, served: Running) -> None:
    page.goto(ASKED)
    page.wait_for_selector(".source")
    page.focus("#answer a.cite >> nth=1")
    assert page.get_attribute("#s2", "class") == "source lit"
    target = urlsplit(page.get_attribute("#answer a.cite >> nth=1", "href") or "")
    assert target.path.startswith("/c/")
    at = parse_qs(target.query)["at"][0]
    start, end = map(int, parse_qs(target.query)["span"][0].split("-"))
    assert served.memory.messages([at])[0].content[start:end].startswith("The transaction row is what matters most")
    assert target.fragment == f"m-{at}"


def test_words_come_while_they_are_written_and_are_not_paid_for_twice(
    open_page: Callable[..., Page], with_model: Running, model: SlowModel, shot: Shot
) -> None:
    page = open_page(with_model.url)
    page.goto(ASKED)
    page.wait_for_selector("text=Gave them to test:slow")
    model.go()
    page.wait_for_selector("#answer >> text=You chose Postgres.")
    assert page.get_attribute("#live", "aria-busy") == "true"
    assert page.is_visible(".caret")
    model.go()
    page.wait_for_selector("#answer a.cite")
    assert not axe(page)
    shot(page, "ask-streaming-1280")
    page.reload()
    page.wait_for_selector("#answer >> text=saved together")
    model.go()
    page.wait_for_selector(".source")
    assert page.get_attribute("#live", "aria-busy") is None
    assert "2,140 + 196 tokens" in page.inner_text("#after")
    assert page.inner_text("#announced")
    page.reload()
    page.wait_for_selector(".source")
    assert model.talks == 1


def test_an_answer_can_be_stopped(open_page: Callable[..., Page], with_model: Running, model: SlowModel) -> None:
    page = open_page(with_model.url)
    page.goto(ASKED)
    model.go()
    page.wait_for_selector("#answer >> text=You chose Postgres.")
    page.click("button:has-text('Stop')")
    model.go()
    page.wait_for_selector("#after >> text=Stopped.")
    assert not axe(page)
    assert "You chose Postgres." in page.inner_text("#answer")
    assert model.left


def test_an_answer_is_there_without_a_script(open_page: Callable[..., Page], served: Running) -> None:
    page = open_page(served.url, java_script_enabled=False)
    page.goto(ASKED.replace("queue", "table"))
    page.wait_for_selector(".source")
    assert "Postgres" in page.inner_text("#answer")


def test_what_is_not_in_the_conversations_is_a_full_answer(
    open_page: Callable[..., Page], served: Running, shot: Shot
) -> None:
    page = open_page(served.url, viewport=NARROW, color_scheme="dark")
    page.goto("/ask?q=which+dentist+does+In%C3%AAs+go+to%3F")
    page.wait_for_selector(".source")
    assert page.inner_text("#answer").startswith("Your conversations do not say.")
    assert page.inner_text("#sources h2").startswith("Nearest: 3 sources")
    assert not axe(page)
    shot(page, "ask-unknown-dark-390", full_page=True)


def test_research_is_followed_kept_and_found_again(
    open_page: Callable[..., Page], served_copy: Running, shot: Shot
) -> None:
    page = open_page(served_copy.url)
    page.goto("/research")
    assert not axe(page)
    page.fill("main [name=q]", "compare my database design decisions with my deployment strategy")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer h2")
    page.wait_for_url("**/research/0*")
    assert page.inner_text("h1") == "Database design decisions and deployment strategy"
    assert page.locator(".source").count() >= 5
    assert not axe(page)
    shot(page, "research-light-1280", full_page=True)
    page.click("text=All reports")
    page.click("text=Database design decisions and deployment strategy")
    assert (page.get_attribute("#answer a.cite", "href") or "").startswith("/c/")


def test_interrupted_research_goes_on(open_page: Callable[..., Page], with_model: Running, model: SlowModel) -> None:
    page = open_page(with_model.url)
    page.goto("/research")
    page.fill("main [name=q]", "compare my database design decisions with my deployment strategy")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Gave it to test:slow")
    assert not axe(page)
    page.click("button:has-text('Stop')")
    model.go(3)
    page.wait_for_selector("text=What was learned is saved.")
    assert not axe(page)
    page.goto("/research")
    assert not axe(page)
    model.go(3)
    page.click("button:has-text('Continue')")
    page.wait_for_url("**/research/0*")
    assert "You chose Postgres" in page.inner_text("#answer")
