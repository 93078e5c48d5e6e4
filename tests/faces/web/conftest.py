"""A real server with the sample archive, consolidated; and a real browser in front of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recollect
from tests.faces.http.serving import serving as served_here

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from recollect.memory import Memory

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@dataclass(frozen=True)
class Running:
    """A server that answers: its address, and the memory behind it."""

    url: str
    memory: Memory


@contextmanager
def serving(memory: Memory, home: Path) -> Iterator[Running]:
    """A server on a free port of loopback, over a memory, which it closes at the end."""
    with served_here(memory, home) as there:
        yield Running(there.address, memory)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, derived_store: Path) -> Iterator[Running]:
    """A server with the consolidated sample, for the whole session. For reading."""
    memory = recollect.open(derived_store, durable=False, background=False)
    with serving(memory, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture
def served_copy(tmp_path: Path, derived_store: Path) -> Iterator[Running]:
    """A server with a copy of the sample, for a test that writes."""
    folder = tmp_path / "store"
    shutil.copytree(derived_store.parent, folder)
    memory = recollect.open(folder / derived_store.name, durable=False, background=False)
    with serving(memory, tmp_path / "home") as running:
        yield running


@pytest.fixture
def served_empty(tmp_path: Path) -> Iterator[Running]:
    """A server with nothing in its memory."""
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    with serving(memory, tmp_path / "home") as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium or Chrome, where the machine has one."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        assert not os.environ.get("RECOLLECT_REQUIRE_BROWSER"), "no Chromium on this machine"
        pytest.skip("no Chromium on this machine; CHROMIUM names another")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield launched
        launched.close()


@dataclass(frozen=True)
class Watched:
    """What a page did that no page may do: requests elsewhere, dialogs, errors of scripts and of the policy."""

    outside: list[str]
    dialogs: list[str]
    errors: list[str]

    def assert_clean(self) -> None:
        assert not self.outside, f"requests to elsewhere: {self.outside}"
        assert not self.dialogs, f"dialogs: {self.dialogs}"
        assert not self.errors, f"errors in the page: {self.errors}"


@contextmanager
def watched_page(browser: Browser, url: str, **options: Any) -> Iterator[tuple[Page, Watched]]:
    """A page in a context of its own, that is watched; at the end it must have been clean."""
    watched = Watched([], [], [])
    context = browser.new_context(base_url=url, viewport=options.pop("viewport", WIDE), **options)
    try:
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "request", lambda r: None if r.url.startswith((url, "data:", "blob:")) else watched.outside.append(r.url)
        )
        page.on("pageerror", lambda e: watched.errors.append(str(e)))
        page.on("console", lambda m: watched.errors.append(m.text) if m.type == "error" and _counts(m.text) else None)

        def refuse(dialog: Any) -> None:
            watched.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", refuse)
        yield page, watched
    finally:
        context.close()
    watched.assert_clean()


def _counts(text: str) -> bool:
    """Whether a message on the console is a fault: not that a test asked for what is not there."""
    return not re.search(r"status of (?:4\d\d|5\d\d)|net::ERR_FAILED|Failed to fetch", text)


@pytest.fixture
def page(browser: Browser, served: Running) -> Iterator[Page]:
    """A page on the sample, 1280 wide, light; nothing it does may go elsewhere or fail."""
    with watched_page(browser, served.url) as (page, _):
        yield page


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages on any server: `open_page(served_copy.url, viewport=NARROW, color_scheme="dark")`."""
    opened: list[Any] = []

    def opens(url: str, **options: Any) -> Page:
        context = watched_page(browser, url, **options)
        opened.append(context)
        return context.__enter__()[0]

    yield opens
    for context in opened:
        context.__exit__(None, None, None)


@pytest.fixture
def shot(request: pytest.FixtureRequest) -> Callable[..., Path]:
    """Keeps a screenshot of a page, in the folder that SCREENSHOTS names, else among pytest's own."""
    folder = Path(os.environ.get("SCREENSHOTS") or request.getfixturevalue("tmp_path"))
    folder.mkdir(parents=True, exist_ok=True)

    def taken(page: Page, name: str, **options: Any) -> Path:
        path = folder / f"{name}.png"
        page.screenshot(path=path, animations="disabled", **options)
        return path

    return taken


def axe(page: Page) -> list[str]:
    """What axe finds wrong with a page by WCAG 2.2 AA and good practice: rule, element, in a line each."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    script = "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})"
    found = page.evaluate(script, rules)["violations"]
    return [f"{v['id']}: {node['target'][0]} {json.dumps(node['html'])[:160]}" for v in found for node in v["nodes"]]
