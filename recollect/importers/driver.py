"""Reads what a format hands over piece by piece: what one conversation breaks, costs that conversation alone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from recollect.errors import ImportProblem
from recollect.importers.base import Draft, Entry, Importer, Piece, Problems, Record
from recollect.importers.reading.lenient import unread_times

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
