"""Reading what nobody documented: a value of the wrong type is an absent value."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from math import isfinite
from typing import Any, TypeVar

from recollect.errors import ImportProblem
from recollect.importers.base import Draft, Entry, Importer, Piece, Problems, Record
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


# Reads what a format hands over piece by piece: what one conversation breaks, costs that conversation alone.

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


def drafts(importer: Importer, entries: Sequence[Entry], problems: Problems) -> Iterator[Draft | Record]:
    """All conversations and documents of these files, one at a time; each file is read as of this format.

    What cannot be read goes into `problems` with its place. Raises ImportProblem where nothing at all can be read.
    """
    pieces = importer.pieces(entries, problems)
    unread: dict[str, Counter[str]] = {}
    try:
        yield from _drafts(pieces, entries, problems, unread)
    finally:
        for file, forms in unread.items():
            form, _ = forms.most_common(1)[0]
            problems.partial(file, f"{forms.total():,} times are in a form that is not read, such as {form}")


def _drafts(
    pieces: Iterator[Piece], entries: Sequence[Entry], problems: Problems, unread: dict[str, Counter[str]]
) -> Iterator[Draft | Record]:
    while True:
        try:
            piece = next(pieces, None)
        except ImportProblem:
            raise
        except Exception as error:
            problems.lost(entries[0].container, _reason(error))
            return
        if piece is None:
            return
        forms = Counter[str]()
        with unread_times(forms):
            made = guarded(lambda piece=piece: list(piece.drafts()), piece.place, problems)  # type: ignore[misc]
        if forms:
            file = next((e.place for e in entries if piece.place.startswith(e.place)), entries[0].container)
            unread.setdefault(file, Counter()).update(forms)
        yield from made or ()


def guarded(work: Callable[[], T], place: str, problems: Problems) -> T | None:
    """What the work gives; None where it fails, which is then among the problems. The others go on."""
    try:
        return work()
    except Exception as error:
        problems.lost(place, _reason(error))
        return None


def _reason(error: Exception) -> str:
    """Without quoting: what stands in an export is private."""
    if isinstance(error, ImportProblem | OSError):
        return str(error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    _LOG.debug("a conversation could not be read", exc_info=error)
    return f"it cannot be read ({type(error).__name__}); please report it: recollect import --describe PATH"
