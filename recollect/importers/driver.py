"""Reads what a format hands over piece by piece: what one conversation breaks, costs that conversation alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from recollect.errors import ImportProblem
from recollect.importers.base import Draft, Entry, Importer, Problems, Record

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


def drafts(importer: Importer, entries: Sequence[Entry], problems: Problems) -> Iterator[Draft | Record]:
    """All conversations and documents of these files, one at a time; each file is read as of this format.

    What cannot be read goes into `problems` with its place. Raises ImportProblem where nothing at all can be read.
    """
    pieces = importer.pieces(entries, problems)
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
        yield from guarded(lambda piece=piece: list(piece.drafts()), piece.place, problems) or ()  # type: ignore[misc]


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
