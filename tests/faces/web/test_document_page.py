"""A document in a browser: found beside messages, opened at the place that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import recollect
from tests.faces.web.conftest import NARROW, Running, axe, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def with_notes(tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kiln.md").write_text(
        "# Kiln\n\n" + "The shelves are stacked from below, the tall pots last.\n\n" * 40
        + "## Glaze\n\nFire the celadon to 1,240 °C and hold it for twenty minutes.\n",
        "utf-8",
    )  # fmt: skip
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    memory.import_documents(folder)
    with serving(memory, tmp_path / "home") as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_document_opens_at_the_place_that_was_found(
    open_page: Callable[..., Page], with_notes: Running, shot: Callable[..., Path], scheme: str
) -> None:
    page = open_page(with_notes.url, viewport=NARROW, color_scheme=scheme)
    page.goto("/search?q=celadon+temperature")
    page.locator("a[href*='/document/']").first.click()
    mark = page.locator("mark#at")
    mark.wait_for()
    assert page.inner_text("h1")
    assert mark.inner_text().startswith("Fire the celadon to 1,240 °C")
    page.wait_for_function("scrollY > 200")  # its beginning is far above
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, f"document-{scheme}-390")
