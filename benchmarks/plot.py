"""The results as one SVG: bars of recall@5 by set and system, lines of latency by size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

from benchmarks.comparison import APART, BM25, HYBRID, INSTANT, QUALITY, VECTORS, Result
from benchmarks.speed import Speed

_WIDTH, _PANEL, _TOP, _LEFT, _RIGHT = 960, 300, 56, 60, 20
#: What is drawn; the tables have all systems.
_DRAWN = (INSTANT, QUALITY, BM25, HYBRID, VECTORS)
_COLOURS = ("#1f5fbf", "#0b2f66", "#b98a2f", "#9a9a9a", "#cfcfcf", "#2a9d6f", "#7a4fb0")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:15px;font-weight:600}"
    ".small{font-size:11px;fill:#555}.grid{stroke:#e3e3e3}.line{fill:none;stroke-width:2.5}"
)


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    colour: str
    value: Callable[[Speed], float | None]


_LATENCIES = (
    _Line("search, p95", _COLOURS[0], lambda speed: speed.search["p95_ms"]),
    _Line("search, p50", "#7aa7e6", lambda speed: speed.search["p50_ms"]),
    _Line("append, p50", "#b98a2f", lambda speed: speed.append["p50_ms"]),
    _Line("cold recollect search", "#8a3ffc", lambda s: None if s.cold_seconds is None else 1000 * s.cold_seconds),
)


def svg(quality: Sequence[Result], speed: Sequence[Speed]) -> str:
    """The picture: a panel for quality where there is any, one for speed where there is any."""
    panels: list[Iterable[str]] = []
    apart = [result for result in quality if result.arrangement == APART and result.system in _DRAWN]
    if apart:
        panels.append(_bars(apart))
    panels += (
        _lines(engine, [s for s in speed if s.engine == engine and s.messages > s.beside])
        for engine in dict.fromkeys(s.engine for s in speed)
    )
    return _page(panels)


def _page(panels: Sequence[Iterable[str]]) -> str:
    height = (_PANEL + 2 * _TOP) * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += [f'<g transform="translate(0,{number * (_PANEL + 2 * _TOP) + _TOP})">', *panel, "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart."""

    name: str
    values: Sequence[float]


def chart(*panels: tuple[str, Sequence[int], Sequence[Series]]) -> str:
    """Panels below each other, each with a title, what its lines go along, and its lines; both axes begin at zero."""
    return _page([_plain(*panel) for panel in panels])


def _plain(title: str, along: Sequence[int], series: Sequence[Series]) -> Iterable[str]:
    yield _text(_LEFT, -32, title, "title")
    yield from _legend([(one.name, colour) for one, colour in zip(series, _COLOURS, strict=False)])
    top = _ceiling(max(value for one in series for value in one.values))
    wide = (_WIDTH - _LEFT - _RIGHT - 40) / along[-1]
    for step in range(6):
        y = _PANEL * (1 - step / 5)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 8, y + 4, f"{top * step / 5:,.4g}", "small", "end")
        yield _text(_LEFT + wide * along[-1] * step / 5, _PANEL + 20, f"{along[-1] * step // 5:,}", "", "middle")
    for one, colour in zip(series, _COLOURS, strict=False):
        path = " ".join(
            f"{_LEFT + wide * x:.1f},{_PANEL * (1 - value / top):.1f}"
            for x, value in zip(along, one.values, strict=True)
        )
        yield f'<polyline class="line" stroke="{colour}" points="{path}"/>'


def _ceiling(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 …"""
    power = 10.0 ** math.floor(math.log10(value or 1))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)


def _bars(results: Sequence[Result]) -> Iterable[str]:
    yield _text(_LEFT, -32, "An answering message among the first five, percent of questions", "title")
    systems = [system for system in _DRAWN if any(result.system == system for result in results)]
    yield from _legend([(system, _COLOURS[i]) for i, system in enumerate(systems)])
    yield from _percent_grid()
    groups = [(data, list(rows)) for data, rows in groupby(results, key=lambda result: result.data)]
    step = (_WIDTH - _LEFT - _RIGHT) / len(groups)
    for g, (data, rows) in enumerate(groups):
        width = step * 0.8 / len(rows)
        start = _LEFT + g * step + step * 0.1
        for i, row in enumerate(rows):
            value = row.messages.recall[5]
            height = _PANEL * value / 100
            x, y = start + i * width, _PANEL - height
            colour = _COLOURS[systems.index(row.system)]
            yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height:.1f}" fill="{colour}"/>'
            yield _text(x + width / 2 - 1, y - 5, f"{value:.0f}", "small", "middle")
        yield _text(_LEFT + (g + 0.5) * step, _PANEL + 20, data, "", "middle")
        yield _text(_LEFT + (g + 0.5) * step, _PANEL + 36, f"{rows[0].messages.questions} questions", "small", "middle")


def _percent_grid() -> Iterable[str]:
    for percent in range(0, 101, 20):
        y = _PANEL * (1 - percent / 100)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>'
        yield _text(_LEFT - 8, y + 4, str(percent), "small", "end")


def _lines(engine: str, speed: Sequence[Speed]) -> Iterable[str]:
    yield _text(_LEFT, -32, f"{engine}: milliseconds by number of messages (both axes logarithmic)", "title")
    drawn = [(line, points) for line in _LATENCIES if (points := _points(line, speed))]
    yield from _legend([(line.name, line.colour) for line, _ in drawn])
    values = [value for _, points in drawn for _, value in points]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    sizes = [math.log10(s.messages) for s in speed]

    def at(size: int, value: float) -> tuple[float, float]:
        share = (math.log10(size) - sizes[0]) / ((sizes[-1] - sizes[0]) or 1)
        x = _LEFT + 40 + share * (_WIDTH - _LEFT - _RIGHT - 120)
        return x, _PANEL * (1 - (math.log10(value) - low) / ((high - low) or 1))

    for power in range(low, high + 1):
        y = at(speed[0].messages, 10.0**power)[1]
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 8, y + 4, f"{10.0**power:g}", "small", "end")
    for s in speed:
        yield _text(at(s.messages, 10.0**low)[0], _PANEL + 20, f"{s.messages:,}", "", "middle")
    for line, points in drawn:
        places = [at(size, value) for size, value in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline class="line" stroke="{line.colour}" points="{path}"/>'
        for (x, y), (_, value) in zip(places, points, strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{line.colour}"/>'
            yield _text(x + 8, y - 6, f"{value:,.0f}" if value >= 10 else f"{value:.1f}", "small")


def _points(line: _Line, speed: Sequence[Speed]) -> list[tuple[int, float]]:
    found = ((s.messages, line.value(s)) for s in speed)
    return [(size, value) for size, value in found if value is not None and value > 0]


def _legend(entries: Sequence[tuple[str, str]]) -> Iterable[str]:
    x = float(_LEFT)
    for name, colour in entries:
        yield f'<rect x="{x:.0f}" y="-22" width="11" height="11" fill="{colour}"/>'
        yield _text(x + 16, -12, name, "small")
        x += 34 + 6.3 * len(name)


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>'
