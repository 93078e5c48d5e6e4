from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.comparison import APART, BASELINES, SYSTEMS, Result
from benchmarks.intervals import mean_with_bounds
from benchmarks.metrics import figures
from benchmarks.plot import svg
from benchmarks.report import markdown
from benchmarks.speed import Speed


@pytest.fixture
def quality() -> list[Result]:
    """The product finds everything, the baselines nothing."""
    found, missed = figures([(["a"], {"a"})]), figures([(["a"], {"b"})])
    sure = mean_with_bounds([100.0])
    return [
        Result("set & more", APART, system, missed if system in BASELINES else found, found, sure, 5.0, 9.0)
        for system in SYSTEMS
    ]


@pytest.fixture
def speed() -> list[Speed]:
    search = {"first_ms": 80.0, "p50_ms": 4.0, "p95_ms": 9.0, "p99_ms": 11.0}
    append = {"p50_ms": 3.0, "p95_ms": 6.0}
    return [
        Speed("SQLite", size, 0, 2**20, 2000.0, 2**28, 9000.0, append, search, 2**27, cold, 2**22)
        for size, cold in ((1000, 0.5), (10_000, None))
    ]


def test_the_report_holds_every_system_and_size(quality: list[Result], speed: list[Speed]):
    report = markdown({"cores": 2}, quality, speed, ["One set is missing."], {"Typed": "some table"})

    assert all(f"| {system} |" in report for system in SYSTEMS)
    assert "One set is missing." in report
    assert "| set & more | 100.0 [100-100] |" in report
    assert "## Typed\n\nsome table" in report
    assert "| import, messages/s | 2,000 | 2,000 |" in report
    assert "| `recollect search`, cold | 0.50 s | – |" in report
    assert "recollect, instant +100.0 points to the best baseline" in report


def test_a_report_without_measurements_of_a_kind_leaves_it_out(speed: list[Speed]):
    assert "Retrieval" not in markdown({}, [], speed, [], {})


def test_the_plot_is_well_formed_and_shows_both_panels(quality: list[Result], speed: list[Speed]):
    root = ElementTree.fromstring(svg(quality, speed))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]

    assert {"set & more", "1 questions"} <= set(texts)
    assert {"1,000", "10,000"} <= set(texts)
    assert any(text.startswith("search, p95") for text in texts)


def test_the_plot_of_one_kind_alone_has_one_panel(quality: list[Result], speed: list[Speed]):
    assert svg(quality, []).count("<g ") == svg([], speed).count("<g ") == 1
