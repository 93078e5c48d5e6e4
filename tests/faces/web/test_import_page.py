"""Import, status and forgetting in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faces.web.conftest import NARROW, Running, axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Shot = Callable[..., object]
_DROP = """async ([names, texts]) => {
    const data = new DataTransfer();
    names.forEach((name, at) => data.items.add(new File([texts[at]], name)));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
_CHAT = json.dumps(
    {
        "messages": [
            {"role": "user", "content": "Where is the spare key?"},
            {"role": "assistant", "content": "With Ana."},
        ]
    }
)


def test_a_file_is_sent_read_and_told(
    open_page: Callable[..., Page], served_empty: Running, sample_archive: list[Path], tmp_path: Path, shot: Shot
) -> None:
    page = open_page(served_empty.url)
    page.goto("/import")
    assert not axe(page)
    shot(page, "import-light-1280")
    page.set_input_files("#file", next(path for path in sample_archive if "chatgpt" in path.name))
    page.wait_for_selector(".figures")
    assert page.inner_text("h1") == "chatgpt-export.zip"
    assert page.inner_text(".figures dd >> nth=1") == "452"
    assert "reading back" in page.inner_text("#report")
    assert not axe(page)
    shot(page, "imported-light-1280")
    assert served_empty.memory.upkeep.stats().messages == 452
    assert not list((tmp_path / "home" / "uploads").iterdir())
    page.goto("/import")
    assert "chatgpt-export.zip" in page.inner_text("#lately ~ ul")


@pytest.mark.parametrize("path", ["/import", "/"])
def test_what_is_dropped_is_imported(open_page: Callable[..., Page], served_empty: Running, path: str) -> None:
    page = open_page(served_empty.url)
    page.goto(path)
    page.evaluate(_DROP, [["chat.jsonl"], [_CHAT]])
    page.wait_for_selector(".figures")
    assert served_empty.memory.search("spare key")


def test_a_file_that_is_no_export_is_said_to_be_none(
    open_page: Callable[..., Page], served_empty: Running, tmp_path: Path, shot: Shot
) -> None:
    other = tmp_path / "holiday.zip"
    other.write_bytes(b"no zip at all")
    page = open_page(served_empty.url, viewport=NARROW)
    page.goto("/import")
    page.set_input_files("#file", other)
    page.wait_for_selector(".note.bad >> visible=true")
    told = page.inner_text("#report")
    assert "holiday.zip" in told
    assert "uploads" not in told
    assert not axe(page)
    shot(page, "import-refused-390")


def test_it_works_without_a_script(
    open_page: Callable[..., Page], served_empty: Running, sample_archive: list[Path]
) -> None:
    page = open_page(served_empty.url, java_script_enabled=False)
    page.goto("/import")
    page.set_input_files("#file", sample_archive[0])
    page.click("main button:has-text('Import')")
    page.wait_for_selector(".figures")
    assert served_empty.memory.upkeep.stats().conversations


def test_status_says_how_things_are(
    open_page: Callable[..., Page], served: Running, served_empty: Running, shot: Shot
) -> None:
    page = open_page(served.url)
    page.goto("/status")
    page.wait_for_selector("text=A real search found a real message")
    assert page.inner_text(".figures dd >> nth=0") == "119"
    assert not axe(page)
    shot(page, "status-light-1280", full_page=True)
    page = open_page(served_empty.url, viewport=NARROW, color_scheme="dark")
    page.goto("/status")
    assert "The memory is empty" in page.inner_text("main")
    assert not axe(page)


def test_what_goes_is_shown_before_it_goes(open_page: Callable[..., Page], served_copy: Running, shot: Shot) -> None:
    memory = served_copy.memory
    title = "Job queue: Redis or Postgres"
    conversation = memory.conversations(title=title)[0].conversation.id
    page = open_page(served_copy.url)
    page.goto("/ask?q=why+postgres+and+not+redis+for+jobs")
    page.wait_for_selector(".source")
    page.goto(f"/forget?what={conversation}")
    assert page.inner_text("h1") == f"Forget “{title}”?"
    assert "1 conversation with" in page.inner_text("main")
    assert "summaries" in page.inner_text("main")
    assert not axe(page)
    shot(page, "forget-light-1280")
    page.click("button:has-text('Forget it')")
    page.wait_for_selector("h1:has-text('Forgotten')")
    assert not memory.conversations(title=title)
    page.goto("/ask")
    assert "why postgres" not in page.inner_text("main")
    page.goto("/ask?q=why+postgres+and+not+redis+for+jobs")
    page.wait_for_selector("#after >> text=Ask again")
    assert title not in page.inner_text("main")


def test_enter_in_the_question_whether_to_forget_forgets_nothing(
    open_page: Callable[..., Page], served_copy: Running
) -> None:
    memory = served_copy.memory
    conversation = memory.conversations(limit=1)[0].conversation.id
    page = open_page(served_copy.url)
    page.goto(f"/c/{conversation}")
    page.click("[aria-label=More]")
    page.focus("text=Forget …")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    assert page.evaluate("document.activeElement.textContent") == "Keep it"
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog:not(#palette)", state="detached")
    assert memory.integration.conversation_named(conversation) is not None
    assert page.evaluate("document.activeElement.ariaLabel") == "More"  # its menu is closed


def test_what_is_deleted_can_be_restored(open_page: Callable[..., Page], served_copy: Running, shot: Shot) -> None:
    memory = served_copy.memory
    conversation = memory.conversations(title="Weeknight")[:1] or memory.conversations(limit=1)
    named = conversation[0].conversation
    page = open_page(served_copy.url)
    page.goto(f"/forget?what={named.id}")
    page.click("button:has-text('Only hide it')")
    page.wait_for_selector("text=No search or list shows it any more.")
    assert memory.integration.conversation_named(named.id) is None
    assert not axe(page)
    shot(page, "deleted-light-1280")
    page.click("button:has-text('Undo')")
    page.wait_for_selector("text=It is found again.")
    assert memory.integration.conversation_named(named.id) is not None


def test_everything_goes_only_when_it_is_named(open_page: Callable[..., Page], served_copy: Running) -> None:
    page = open_page(served_copy.url)
    page.goto("/forget?everything=yes")
    page.click("button:has-text('Forget it')")
    assert served_copy.memory.upkeep.stats().messages == 984
    page.fill("[name=sure]", "default")
    page.click("button:has-text('Forget it')")
    page.wait_for_selector("h1:has-text('Forgotten')")
    assert served_copy.memory.upkeep.stats().messages == 0
