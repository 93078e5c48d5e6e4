"""Documents: files imported, kept and found by name."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.memory.handle import Handle, writes
from recollect.record import REPORTS, Document
from recollect.store import Where
from recollect.store.transfer import every

if TYPE_CHECKING:
    from recollect.ingest.documents.importing import DocumentProgress, DocumentReport


class Documents(Handle):
    """What is read from files beside the conversations."""

    @writes
    def import_documents(
        self,
        *paths: str | Path,
        again: bool = False,
        progress: Callable[[DocumentProgress], None] | None = None,
    ) -> DocumentReport:
        """Imports text, Markdown, HTML and PDF files and whole folders of them; searches find them beside messages [2].

        Importing again leaves alone what is unchanged, replaces what has changed, and reports what is gone. What was
        forgotten stays away under any name, unless `again` brings it back. Raises NotFound, ImportProblem, StoreError.
        """
        from recollect.ingest.documents.importing import DocumentImporting

        importing = DocumentImporting(self._space, self._ingest, progress, again=again)
        return importing([Path(path).expanduser() for path in paths])

    def documents(self) -> Generator[Document, None, None]:
        """The documents of the namespace, but for those that are hidden, and reports, which `reports` lists."""
        with self._space.view() as view:
            for found in every(view, Document, Where(deleted=False)):
                if not (found.hidden or found.source == REPORTS):
                    yield found

    def document(self, name: str, *, hidden_reports: bool = False) -> Document:
        """A document by its id, the end of one, its path or its title; with `hidden_reports` also research that is not
        finished, and reports that were made of something deleted. Raises NotFound, InvalidInput for several.
        """
        from recollect.ingest.documents.finding import named

        with self._space.view() as view:
            return named(view, name, hidden_reports=hidden_reports)
