"""Reading what nobody documented: a value of the wrong type is an absent value."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from math import isfinite
from typing import Any

from recollect.record import parse_time
from recollect.text.clean import clean_metadata

_FORM = 40  # characters


#: The forms of times that could not be read, while somebody counts them.
_unread: ContextVar[Counter[str] | None] = ContextVar("unread times", default=None)


@contextmanager
def unread_times(into: Counter[str]) -> Iterator[None]:
    """Counts times that are in a form that is not read, by the form: 9 for a digit, a for a letter."""
    token = _unread.set(into)
    try:
        yield
    finally:
        _unread.reset(token)


def time_of(value: object) -> datetime | None:
    """The time that a value is, None where it is none; one that looks like a time is counted as unread."""
    time = parse_time(value)
    unread = _unread.get()
    if time is None and unread is not None and isinstance(value, str) and any("1" <= c <= "9" for c in value):
        unread["".join("9" if c.isdigit() else "a" if c.isalpha() else c for c in value.strip()[:_FORM])] += 1
    return time


def text_of(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def objects_of(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_text(value: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first string that is not empty under one of the keys."""
    return next((text for key in keys if (text := text_of(value.get(key)))), "")


def first_time(value: Mapping[str, Any], keys: Sequence[str]) -> datetime | None:
    """The first time that can be read under one of the keys."""
    return next((time for key in keys if (time := time_of(value.get(key)))), None)


def first_id(value: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """The first id under one of the keys: a string that is not empty, or a number as its digits."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
            return str(found)
    return None


def rest(value: Mapping[str, Any], known: Set[str]) -> dict[str, Any]:
    """What the source says besides, as it says it; null and empty values say nothing."""
    return {key: inner for key, inner in value.items() if key not in known and inner not in (None, "", [], {})}


def as_json(value: object) -> str:
    """Arguments and results as text: a string as it is, null as nothing, all else as JSON, "…" where it is too deep.
    Numbers that JSON cannot write are strings.
    """
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except RecursionError:
        return as_json(clean_metadata({"value": value})["value"])
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
