"""How quick the pages are, in a real browser, beside many messages.

python -m benchmarks.pages --messages 100000        (--store FILE: a memory that is there already)
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import recollect
from benchmarks.machine import machine
from benchmarks.queries import queries
from benchmarks.served import made, served

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TYPED, _OPENED = 40, 10
#: When the results changed last, and when the request for them was sent; both of the page's own clock.
_WATCH = """() => {
  window.changed = 0;
  const seen = () => requestAnimationFrame(() => { window.changed = performance.now(); });
  new MutationObserver(seen).observe(document.querySelector('#results'), {childList: true, subtree: true});
}"""
_TOLD = """() => {
  const sent = performance.getEntriesByType('resource').filter(e => e.name.includes('/search?'));
  return {sent: sent.length ? sent[sent.length - 1].startTime : 0, requests: sent.length, changed: window.changed};
}"""
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def main(arguments: list[str]) -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.pages", description="Measures the pages in a real browser.")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--store", type=Path, help="a memory that is there already")
    options = parser.parse_args(arguments)
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        print("There is no Chromium on this machine.", file=sys.stderr)
        return 2
    with TemporaryDirectory(prefix="recollect-bench-") as scratch:
        store = options.store or made(Path(scratch), options.messages)
        with served(store, Path(scratch)) as server, sync_playwright() as playwright:
            address = server.address
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            print(f"{_count(store):,} messages")
            print(_row("first page shown", _opened(browser, address, ["/"] * _OPENED)))
            asked, whole = _searched(browser, address)
            print(_row("results, from the request to the frame", asked))
            print(_row("results, from the last key (150 ms of it is waiting for another)", whole))
            print(_row("a conversation opened at its match", _opened(browser, address, _matches(browser, address))))
            browser.close()
    print(json.dumps(machine()))
    return 0


def _count(store: Path) -> int:
    with recollect.open(store, background=False) as memory:
        return memory.upkeep.stats().messages


def _opened(browser: Browser, address: str, places: list[str]) -> list[float]:
    """Milliseconds until something is painted, each in a browser that knows nothing yet."""
    taken = []
    for place in places:
        with _page(browser, address) as page:
            page.goto(place)
            page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
            taken.append(page.evaluate(_PAINTED))
    return taken


def _searched(browser: Browser, address: str) -> tuple[list[float], list[float]]:
    asked, whole = [], []
    with _page(browser, address) as page:
        page.goto("/search")
        page.evaluate(_WATCH)
        box = page.locator("#q")
        for query in queries(_TYPED):
            box.fill(query.text[:-1])
            page.wait_for_timeout(1_000)
            before = page.evaluate(_TOLD)["requests"]
            began = page.evaluate("() => performance.now()")
            box.press_sequentially(query.text[-1])
            told = _changed(page, before)
            if told:
                asked.append(told["changed"] - told["sent"])
                whole.append(told["changed"] - began)
    return asked, whole


def _changed(page: Page, before: int) -> dict[str, float] | None:
    """When the next results were asked for and shown; None where none come within 5 seconds."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        told: dict[str, float] = page.evaluate(_TOLD)
        if told["requests"] > before and told["changed"] > told["sent"]:
            return told
        page.wait_for_timeout(10)
    return None


def _matches(browser: Browser, address: str) -> list[str]:
    with _page(browser, address) as page:
        found = []
        for query in queries(_OPENED):
            page.goto("/search")
            page.locator("#q").fill(query.text)
            page.locator("#q").press("Enter")
            page.wait_for_load_state("networkidle")
            link = page.locator("#results a[href*='/c/']").first
            if link.count():
                found.append(str(link.get_attribute("href")))
        return found


@contextmanager
def _page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    try:
        yield context.new_page()
    finally:
        context.close()


def _row(what: str, taken: list[Any]) -> str:
    if not taken:
        return f"{what}: nothing was measured"
    p50, p95 = np.percentile(taken, (50, 95))
    return f"{what}: p50 {p50:.0f} ms, p95 {p95:.0f} ms ({len(taken)})"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
