"""How smoothly the picture of the graph moves, in a real browser: frames while it is moved and while it is zoomed.

python -m benchmarks.graph_frames --names 5000        (--gpu: with the machine's graphics, else drawn by the processor)
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright

import recollect
from benchmarks.machine import machine
from benchmarks.served import served
from recollect.faces.web.graphing.kinds import KINDS
from recollect.faces.web.graphing.layout import Placed, laid_out

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Notes the times between frames, in milliseconds, until it is asked for them.
_NOTE = """() => {
  window.frames_ = [];
  let last = performance.now();
  const step = now => { frames_.push(now - last); last = now; requestAnimationFrame(step); };
  requestAnimationFrame(step);
}"""
_SECONDS = 4.0


def main(arguments: list[str]) -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.graph_frames", description="Measures frames of the graph.")
    parser.add_argument("--names", type=int, default=5_000)
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args(arguments)
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        print("There is no Chromium on this machine.", file=sys.stderr)
        return 2
    picture = _picture(options.names)
    with TemporaryDirectory(prefix="recollect-bench-") as scratch:
        store = Path(scratch) / "memory.db"
        with recollect.open(store, durable=False, background=False) as memory:
            memory.store_message("Ana and Rui went to Sintra.")
            memory.upkeep.consolidate()
        with served(store, Path(scratch)) as server, sync_playwright() as playwright:
            drawn_by = [] if options.gpu else ["--disable-gpu"]
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", *drawn_by])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.route("**/graph?*", lambda route: _answer(route, picture))
            page.goto(f"{server.address}/graph?from=Ana")
            page.wait_for_selector("#canvas[data-ready]", timeout=120_000)
            page.wait_for_timeout(1_000)
            print(f"{options.names:,} names, {len(json.loads(picture)['relations']):,} links")
            for how in ("moved", "zoomed"):
                print(_row(how, _measured(page, how)))
            browser.close()
    print(machine())
    return 0


def _measured(page: Page, how: str) -> list[float]:
    """Drags the picture to and fro, or turns the wheel over it, as a hand does."""
    box = page.locator("#canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y + 3)
    page.evaluate(_NOTE)
    begun = time.monotonic()
    if how == "moved":
        page.mouse.down()
    turn = 0
    while time.monotonic() - begun < _SECONDS:
        turn += 1
        if how == "moved":
            page.mouse.move(x + 150 * math.sin(turn / 12), y + 80 * math.sin(turn / 9))
        else:
            page.mouse.wheel(0, 60 if turn % 40 < 20 else -60)
    if how == "moved":
        page.mouse.up()
    frames: list[float] = page.evaluate("frames_.slice(2)")
    return frames


def _row(name: str, frames: list[float]) -> str:
    ordered = sorted(frames)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    rate = 1000 / statistics.fmean(frames)
    return f"{name:<8} {rate:5.1f} frames a second   median {statistics.median(frames):5.1f} ms   95% {late:5.1f} ms"


def _answer(route: Route, picture: str) -> None:
    if "json" in (route.request.headers.get("accept") or ""):
        route.fulfill(content_type="application/json", body=picture)
    else:
        route.continue_()


def _picture(count: int) -> str:
    """Names around names, each with three links, as the server would place them."""
    chance = random.Random(20)
    parents = ["n0"] * min(150, count - 1) + [f"n{1 + i % 150}" for i in range(max(0, count - 151))]
    names = [
        Placed(f"n{i}", f"Name {i}", KINDS[i % len(KINDS)], parent, chance.random(), 5 + 10 * chance.random(), i < 20)
        for i, parent in enumerate(parents, 1)
    ]
    places = laid_out("n0", names, {})
    entities: list[dict[str, Any]] = [{"id": "n0", "name": "Ana", "kind": "person", "radius": 15, "labelled": True}]
    entities += [
        {"id": n.id, "name": n.label, "kind": n.kind.name, "radius": n.radius, "labelled": n.labelled} for n in names
    ]
    for one in entities:
        one |= {"x": places[one["id"]][0], "y": places[one["id"]][1], "side": "start", "leading": False}
    pairs = [(n.id, n.parent) for n in names]
    pairs += [(n.id, f"n{chance.randrange(count)}") for n in names for _ in range(2)]
    relations = [
        {"source": a, "source_id": a, "target": b, "target_id": b, "relation": "USES", "words": "uses", "weight": 1}
        for a, b in pairs
    ]
    return json.dumps({"entity": {"id": "n0"}, "focus": "n0", "entities": entities, "relations": relations})


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
