"""An import of documents: each file becomes one document, known by where it lies; what is unchanged is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from recollect.errors import InvalidInput, NotFound
from recollect.importers.base import Entry, Problem, Problems
from recollect.importers.documents.plain import DocumentReader
from recollect.importers.documents.reading import contents, fingerprint, reader_of
from recollect.importers.reading.archive import walk
from recollect.importers.reading.lenient import guarded
from recollect.importers.records.forgotten import Tombstones
from recollect.ingest import Ingest
from recollect.record import REPORTS, Document, NodeId, stable_id
from recollect.store import Space, View, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_metadata, clean_title

#: The source of documents that are files.
SOURCE = "documents"

#: What a file's document says of it in its metadata.
PATH, FINGERPRINT = "path", "fingerprint"

_BATCH_CHARACTERS = 1_000_000
_BATCH_FILES = 50
_SKIPPED_SHOWN = 1000
_MAINTENANCE = timedelta(milliseconds=500)  # between two batches


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """Where an import of documents stands."""

    done: int  # files
    total: int
    name: str


@dataclass(slots=True)
class DocumentReport:
    """What an import of documents did. `stored` is counted by reading the store back.

    `removed` are documents that were imported from these folders and are files no longer: they stay until they are
    forgotten. `skipped` are files of other kinds (at most a thousand are named; the note "other files" counts all).
    """

    stored: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    forgotten: int = 0
    removed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """Whether none of the files is in."""
        return not (self.stored or self.forgotten)

    def __repr__(self) -> str:
        lost = sum(problem.lost for problem in self.problems)
        return (
            f"<import of documents: {self.stored} in (new {self.new}, changed {self.changed},"
            f" unchanged {self.unchanged}); {len(self.removed)} no longer there, {lost} not read>"
        )


@dataclass(frozen=True, slots=True)
class _File:
    """A file to be read: what a person calls it, where it lies, the id of its document."""

    entry: Entry
    reader: DocumentReader
    location: str
    id: NodeId


class DocumentImporting:
    """Imports files into a space."""

    def __init__(
        self,
        space: Space,
        ingest: Ingest,
        progress: Callable[[DocumentProgress], None] | None = None,
        *,
        again: bool = False,
    ) -> None:
        self._space, self._ingest, self._progress, self._again = space, ingest, progress, again
        self._report, self._problems = DocumentReport(), Problems()
        self._tombstones = Tombstones()
        self._met: set[NodeId] = set()
        self._made: list[Document] = []
        self._changed: set[NodeId] = set()

    def __call__(self, paths: Sequence[Path]) -> DocumentReport:
        """Imports folders and files; an interrupted import is simply run again. Raises NotFound, ImportProblem for a
        path that is not there, or neither a file nor a folder.
        """
        files = [file for path in paths for file in self._files_in(path)]
        for number, file in enumerate(files, 1):
            self._take(file)
            if self._progress is not None:
                self._progress(DocumentProgress(number, len(files), file.entry.place))
        self._write()
        return self._finished(paths, files)

    def _files_in(self, path: Path) -> Iterator[_File]:
        for entry in walk(path, self._problems):
            location = _location(entry)
            document_id = stable_id("document", SOURCE, location)
            if document_id in self._met:
                continue
            self._met.add(document_id)
            if reader := reader_of(entry, named=path.is_file() and entry.path == path.name):
                yield _File(entry, reader, location, document_id)
            else:
                self._problems.note("other files")
                if len(self._report.skipped) < _SKIPPED_SHOWN:
                    self._report.skipped.append(entry.place)

    def _take(self, file: _File) -> None:
        """Reads a file, unless it is in as it is; what has gathered is written in batches."""
        with self._space.view() as view:
            known = next(iter(view.get(Document, [file.id])), None)
        if known is not None and known.erased and not self._again:
            self._report.forgotten += 1
            return
        document = guarded(partial(self._read, file, known), file.entry.place, self._problems)
        if document is None:
            return
        if known is not None and not known.erased:
            self._report.changed += document is not known
            self._report.unchanged += document is known
            self._changed.add(file.id)
        else:
            self._report.new += 1
        if document is not known:
            self._made.append(document)
        if len(self._made) >= _BATCH_FILES or sum(len(made.content) for made in self._made) >= _BATCH_CHARACTERS:
            self._write()

    def _read(self, file: _File, known: Document | None) -> Document:
        """The document that a file is, the known one where that is it. Raises ImportProblem."""
        mark = fingerprint(file.entry, file.reader)
        if known is not None and known.metadata.get(FINGERPRINT) == mark:
            return known
        found = contents(file.entry, file.reader)
        if found.missing:
            self._problems.partial(file.entry.place, found.missing)
        return Document(
            id=file.id,
            source=SOURCE,
            title=clean_title(file.entry.path),
            content=found.text,
            source_id=clean_title(file.location),
            created=_changed(file.location),
            metadata=clean_metadata({PATH: file.location, FINGERPRINT: mark, **found.outline}),
        )

    def _write(self) -> None:
        if self._made:
            made = [(document, ()) for document in self._made]
            left_out = self._ingest.documents(made, again=self._again, newest=True, forgotten=self._tombstones)
            self._report.forgotten += len(left_out)
            self._report.new -= len(left_out - self._changed)
            self._report.changed -= len(left_out & self._changed)
            self._made = []
            self._space.maintain(_MAINTENANCE)

    def _finished(self, paths: Sequence[Path], files: Sequence[_File]) -> DocumentReport:
        report, read = self._report, {file.id for file in files}
        while self._space.maintain(_MAINTENANCE):
            pass
        roots = [path.resolve() for path in paths]
        with self._space.view() as view:
            for document in every(view, Document, Where(sources=(SOURCE,), deleted=False)):
                if document.id in read:
                    report.stored += 1
                elif document.id not in self._met and _is_gone(Path(str(document.metadata.get(PATH, ""))), roots):
                    report.removed.append(document.title)
        report.problems, report.notes = self._problems.found, self._problems.notes
        return report


def _location(entry: Entry) -> str:
    """Where a file lies, with the path of the archive that it is in."""
    container = Path(entry.container)
    if container.is_file() and entry.path == container.name:
        return str(container.resolve())
    return str(container.resolve() / entry.path)


def _changed(location: str) -> datetime | None:
    """When a file was last changed; of one in an archive it is not known."""
    try:
        return datetime.fromtimestamp(int(Path(location).stat().st_mtime), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _is_gone(path: Path, roots: Sequence[Path]) -> bool:
    """Whether a file below one of these folders is no more. What cannot be looked at may be there."""
    if not any(path.is_relative_to(root) for root in roots):
        return False
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


# Documents by what people call them.

_SHORT = 6  # characters of an id, from its end, that tell it apart
_MOST_NAMED = 8


def named(view: View, name: str, *, hidden_reports: bool = False) -> Document:
    """The document of an id, the end of one, a path or a title; with `hidden_reports` also research that is not
    finished and reports that were made of something deleted. Raises NotFound, InvalidInput where several fit.
    """
    wanted = name.strip()
    if not wanted:
        raise InvalidInput("A name is empty.", hint="Give an ID, a path or a title.")
    by_id = view.get(Document, [NodeId(wanted)])
    found = [document for document in by_id if not document.erased] or _fitting(view, wanted)
    found = [one for one in found if not one.hidden or (hidden_reports and one.source == REPORTS)]
    if not found:
        raise NotFound(f"No document matches {name!r}.", hint="To find documents: recollect search --kind document")
    if len(found) > 1:
        lines = [f"\n  {document.id[-_SHORT:]}  {document.title}" for document in found[:_MOST_NAMED]]
        raise InvalidInput(f"{name!r} matches several documents:{''.join(lines)}", hint="Name one by its ID.")
    return found[0]


def by_id(view: View, id: str) -> Document:
    """The document of an id, or of the end of one. Raises NotFound, InvalidInput where several fit."""
    found = [document for document in view.get(Document, [NodeId(id)]) if not (document.erased or document.hidden)]
    if not found and len(id) >= _SHORT:
        ending = id.casefold()
        living = every(view, Document, Where(deleted=False))
        found = [document for document in living if document.id.casefold().endswith(ending) and not document.hidden]
    if not found:
        raise NotFound(f"No document has the ID {id}.")
    if len(found) > 1:
        raise InvalidInput(f"{id!r} is the end of several ids.", hint="Use more of the one that is meant.")
    return found[0]


def _fitting(view: View, name: str) -> list[Document]:
    """Those whose name it is; else those in whose title it stands, or whose id ends so."""
    folded = name.casefold()
    titled = list(every(view, Document, Where(title=name, deleted=False)))
    if exact := [document for document in titled if folded in (document.title.casefold(), _path(document))]:
        return exact
    rest = [
        document
        for document in every(view, Document, Where(deleted=False))
        if _path(document) == folded or (len(name) >= _SHORT and document.id.casefold().endswith(folded))
    ]
    return rest or titled


def _path(document: Document) -> str:
    return str(document.metadata.get(PATH, "")).casefold()
