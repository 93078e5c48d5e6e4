"""Comparing a value with the file that holds what it was."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import time_machine

FILES = Path(__file__).parent / "files"
#: The day on which goldens are made: what is recent, and what "last week" means, depends on it.
TODAY = datetime(2026, 11, 23, 12, tzinfo=UTC)
_WRITING = os.environ.get("GOLDEN") == "write"
_CLOSE = 1e-3  # int8 models differ that much between processors

_TIMES = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_ULIDS = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: A list of words and numbers, which is written in one line.
_FLAT = re.compile(r"\[\s+(?:-?[\d.e-]+|\"[^\"\\ ]*\")(?:,\s+(?:-?[\d.e-]+|\"[^\"\\ ]*\"))*\s+\]")
_MEASURED = frozenset({"took_ms", "seconds", "bytes"})


def assert_golden(name: str, value: Any) -> None:
    """Compares JSON values with files/<name>.json; floats may differ by a thousandth."""
    found = differences(golden(name, value), json.loads(json.dumps(value)), name)
    assert not found, "\n".join(found[:20])


def golden(name: str, value: Any) -> Any:
    """What files/<name>.json holds; written from the value first where GOLDEN=write."""
    path = FILES / f"{name}.json"
    if _WRITING:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(value, ensure_ascii=False, indent=1)
        path.write_text(_FLAT.sub(lambda m: " ".join(m[0].split()), text) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def steady(value: Any, replaced: dict[str, str]) -> Any:
    """The value without what differs from run to run: times and ids of today, durations, sizes, `replaced` texts."""
    if isinstance(value, dict):
        return {
            key: 0 if key in _MEASURED and isinstance(inner, int | float) else steady(inner, replaced)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [steady(inner, replaced) for inner in value]
    if isinstance(value, str):
        for text, name in replaced.items():
            value = value.replace(text, name)
        value = _TIMES.sub(lambda m: "NOW" if _is_now(datetime.fromisoformat(m[0])) else m[0], value)
        return _ULIDS.sub(lambda m: "NEW-ID" if _is_now(_time_of(m[0])) else m[0], value)
    return value


def _is_now(time: datetime) -> bool:
    """By either clock: ids never go back behind an earlier one of the process."""
    clocks = datetime.now(UTC), time_machine.escape_hatch.datetime.datetime.now(UTC)
    return any(abs(now - time) < timedelta(hours=1) for now in clocks)


def _time_of(ulid: str) -> datetime:
    """The milliseconds in the first ten characters. Ids that are made of their source are of any time."""
    milliseconds = 0
    for character in ulid[:10]:
        milliseconds = milliseconds * 32 + _CROCKFORD.index(character)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=min(milliseconds, 10**14))


def differences(golden: Any, value: Any, place: str) -> list[str]:
    """Where two JSON values differ, a line each."""
    if isinstance(golden, dict) and isinstance(value, dict):
        missing = [f"{place}.{key} is missing" for key in golden.keys() - value.keys()]
        added = [f"{place}.{key} is new" for key in value.keys() - golden.keys()]
        same = [key for key in golden if key in value]
        return [*missing, *added, *(d for key in same for d in differences(golden[key], value[key], f"{place}.{key}"))]
    if isinstance(golden, list) and isinstance(value, list):
        inner = [
            d for n, (g, v) in enumerate(zip(golden, value, strict=False)) for d in differences(g, v, f"{place}[{n}]")
        ]
        return inner if len(golden) == len(value) else [f"{place} has {len(value)} items, not {len(golden)}", *inner]
    if type(golden) is float and isinstance(value, int | float):
        return [] if abs(golden - value) <= _CLOSE else [f"{place} is {value}, not {golden}"]
    return [] if golden == value else [f"{place} is {value!r}, not {golden!r}"]
