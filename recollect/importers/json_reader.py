"""Runs a format of JSON values (`base.JsonFormat`) as an importer: files, places, problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from recollect.importers.base import (
    Draft,
    DraftConversation,
    DraftDocument,
    DraftNotes,
    Entry,
    JsonFormat,
    Piece,
    Problems,
)
from recollect.importers.reading.json_items import Item, glimpse, items


class JsonReader:
    """An importer of a format that says of a value whether it fits, and what conversation it is."""

    def __init__(self, format: JsonFormat) -> None:
        self._format = format
        self.name, self.label = format.name, format.label
        self.recognised, self.about = format.recognised, format.about

    def recognises(self, entry: Entry) -> bool:
        """Whether the beginning of the file holds a value that fits."""
        return glimpse(entry, self._format.fits) is not None

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """One for each value, in the order of the files."""
        for entry in entries:
            for item in items(entry, self._format.fits, problems):
                yield Piece(item.place, partial(self._drafts, item, problems))

    def _drafts(self, item: Item, problems: Problems) -> Iterator[Draft]:
        told = DraftNotes()
        made = self._format.draft(item.value, told)
        drafts = [made] if isinstance(made, DraftConversation | DraftDocument) else list(made or ())
        if not drafts:
            problems.note("entries without messages")
        title = next((draft.title for draft in drafts), "")
        place = f'{item.place} "{title[:60]}"' if title else item.place
        for reason in told.partly:
            problems.partial(place, reason)
        for note in told.notes:
            problems.note(note)
        for draft in drafts:
            yield replace(draft, source=draft.source or self.name, place=draft.place or place)
