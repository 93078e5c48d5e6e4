"""Secrets of what is stored: listed, and taken out for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from recollect.memory.handle import writes
from recollect.memory.reading import Reading, several
from recollect.runtime.tracing import records, traced

if TYPE_CHECKING:
    from recollect.ingest.secrets import StoredSecret, TakenOut


class Secrets(Reading):
    """What is known of keys, tokens and passwords."""

    def secrets(self, *, sources: str | Sequence[str] = ()) -> list[StoredSecret]:
        """Where keys, tokens and passwords stand in everything that is stored, or in what came from some sources: which
        kind, in what, how often. None is told itself; `messages` and `document` show what holds it.

        All of it is read, deleted messages and earlier wordings too. Raises InvalidInput for a source that is none.
        """
        from recollect.ingest.secrets import stored_secrets

        self._written()
        named = self._sources(several(sources))
        with self._space.view() as view:
            return list(stored_secrets(view, named))

    @traced("delete_memory", lambda gone: records(gone.messages))
    @writes
    def forget_secrets(
        self,
        *,
        sources: str | Sequence[str] = (),
        dry_run: bool = False,
        confirm: Callable[[TakenOut], bool] | None = None,
    ) -> TakenOut:
        """Takes keys, tokens and passwords out for good, those of everything or of what came from some sources; the
        text around them stays, with `[secret: …]` in their place.

        No table, index or file of the namespace holds the strings any longer, and what comes in later does not bring
        them back, but for an import that is told to (`again`). Returns what goes; `confirm` is shown it before anything
        does. Raises InvalidInput for a source that is none, StoreError.
        """
        from recollect.ingest.secrets import TakenOut

        named = self._sources(several(sources))
        if dry_run or confirm is not None:
            found = self._ingest.take_out(named, dry_run=True)
            if dry_run or not found.secrets or (confirm is not None and not confirm(found)):
                return found if dry_run else TakenOut()
        return self._ingest.take_out(named)
