"""The sources that somebody names, checked against those that are there."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.errors import InvalidInput
from recollect.record import Conversation, Document
from recollect.store import View, Where


def checked_sources(view: View, named: Sequence[str]) -> tuple[str, ...]:
    """The sources as they are stored. Raises InvalidInput with those there are, where one of them is not."""
    wanted = tuple(dict.fromkeys(name.lower() for name in named))
    for name in wanted:
        if not _is_there(view, name):
            known = sorted(view.counts().by_source)
            if known:
                raise InvalidInput(
                    f"There is no source {name!r}.", hint=f"{_meant(name, known)}Sources: {', '.join(known)}."
                )
    return wanted


def _is_there(view: View, name: str) -> bool:
    where = Where(sources=(name,))
    return bool(view.find(Conversation, where, limit=1).items or view.find(Document, where, limit=1).items)


def _meant(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"Did you mean {near[0]}? " if near else ""
