"""An import from end to end: find the files, tell their format, read, assemble, write in batches, count what is in."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from recollect.errors import ImportProblem, InvalidInput, NotFound
from recollect.importers.base import DraftConversation, DraftDocument, Entry, Problem, Problems, Record
from recollect.importers.documents.reading import reader_of
from recollect.importers.formats.dump import Dump
from recollect.importers.found import Unread, named, unread_kind
from recollect.importers.reading.archive import growing, walk
from recollect.importers.reading.lenient import drafts, guarded
from recollect.importers.records.assemble import assemble, assemble_document
from recollect.importers.records.identity import Known
from recollect.importers.registry import FormatFiles, detect, importers, reader_named, shape_of
from recollect.ingest import Ingest
from recollect.ingest.conversations import Conversations, Planned, WrittenThreads
from recollect.record import Chunk, Document, Edge, Node, NodeId, Thread
from recollect.store import Counts, Space, Stale

_FAREWELL = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A batch that is being written, and who is told of it."""

    threads: Sequence[Thread]
    planned: Planned
    known: Known | None
    then: Callable[[WrittenThreads], None]
    writing: Future[None]


class Pipeline:
    """Writes batches in a thread of its own. Everything else, errors too, comes to the thread that calls it."""

    def __init__(self, space: Space, conversations: Conversations, upkeep: timedelta, *, again: bool) -> None:
        self._space, self._conversations, self._upkeep, self._again = space, conversations, upkeep, again
        self._writer = ThreadPoolExecutor(1, "recollect-import")
        self._under_way: _UnderWay | None = None

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves a transaction that is under way some time to end: it cannot be taken back."""
        if self._under_way is not None:
            wait([self._under_way.writing], _FAREWELL)
        self._writer.shutdown(wait=False)

    def write(self, threads: Sequence[Thread], known: Known | None, then: Callable[[WrittenThreads], None]) -> None:
        """Writes a batch; `then` is told when it is in, by one of the next calls. Raises what writing the batch before
        this one has raised.
        """
        beside = self._under_way
        if beside is not None and (beside.planned.may_concern(threads) or (known is not None and known.reads_words)):
            self.settle()
        planned = self._conversations.plan_threads(threads, again=self._again, known=known)
        self.settle()
        writing = self._writer.submit(self._write, planned)
        self._under_way = _UnderWay(threads, planned, known, then, writing)
        if planned.waiting:  # the next batch would not be compared with these
            self.settle()

    def settle(self) -> None:
        """Waits until all is in."""
        if (batch := self._under_way) is None:
            return
        wait([batch.writing])
        self._under_way = None
        try:
            batch.writing.result()
            written, rest = self._conversations.written(batch.planned, batch.known), batch.planned.waiting
        except Stale:
            written, rest = WrittenThreads(), list(batch.threads)
        if rest:
            written.add(self._conversations.threads(rest, again=self._again, known=batch.known))
        batch.then(written)

    def _write(self, planned: Planned) -> None:
        self._conversations.write_planned(planned)
        if planned.change is not None:
            self._space.maintain(self._upkeep)


#: Gives a file as it is to be read, or None for one that is kept out.
Wanted = Callable[[Entry], Entry | None]

#: A batch is one transaction: so many messages or characters, whichever comes first.
BATCH_MESSAGES = 1000
BATCH_CHARACTERS = 4_000_000
BATCH_EDGES = 5000

SKIPPED_SHOWN = 1000

_MAINTENANCE = timedelta(milliseconds=500)  # between two batches


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an import stands."""

    label: str  # of the format
    container: str
    read: int  # bytes
    total: int  # bytes
    conversations: int
    messages: int


@dataclass(frozen=True, slots=True)
class ImportSource:
    """What was found in one archive, folder or file."""

    label: str
    container: str
    files: int


@dataclass(slots=True)
class ImportReport:
    """What an import did. `stored` is counted by reading the store back: what is said to be in is in.

    `skipped` are the places of files that were not read (at most `SKIPPED_SHOWN`; the note "other files" counts all),
    `unread` are kinds of exports that were recognised among them and are not read yet, with the number of files.
    """

    sources: list[ImportSource] = field(default_factory=list)
    written: WrittenThreads = field(default_factory=WrittenThreads)
    documents: int = 0
    stored: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    unread: dict[str, int] = field(default_factory=dict)

    @property
    def forgotten(self) -> int:
        """How many conversations were left out because they were forgotten."""
        return self.written.forgotten

    @property
    def apart(self) -> int:
        """How many conversations came with the id of another, or began like it, and are kept as their own."""
        return len(self.written.apart)

    @property
    def nothing(self) -> bool:
        """Whether nothing at all could be imported."""
        return not (self.stored.conversations or self.documents or self.forgotten)

    @property
    def nothing_new(self) -> bool:
        """Whether all that was read was stored before, just so, but for what was forgotten."""
        return not (self.nothing or self.written.new or self.written.changed or self.documents)

    def __repr__(self) -> str:
        w = self.written
        lost = sum(problem.lost for problem in self.problems)
        return (
            f"<import: {self.stored.conversations} conversations, {self.stored.messages} messages"
            f" (new {w.new}, changed {w.changed}, unchanged {w.same}); {lost} not read>"
        )


@dataclass(slots=True)
class _Batch:
    """What is written together."""

    threads: list[Thread] = field(default_factory=list)
    documents: list[tuple[Document, Sequence[Chunk]]] = field(default_factory=list)
    others: list[Edge | Node] = field(default_factory=list)
    ids: set[NodeId] = field(default_factory=set)
    messages: int = 0
    characters: int = 0

    def holds(self, record: Record) -> bool:
        """Whether a document of this id is in it: each is written only once in a transaction."""
        return _id_of(record) in self.ids

    def add(self, record: Record) -> None:
        """Takes a record in."""
        match record:
            case Thread():
                self.threads.append(record)
                self.messages += len(record.messages)
                self.characters += sum(len(m.content) + sum(len(p.text) for p in m.parts) for m in record.messages)
            case Edge() | Node():
                self.others.append(record)
            case document, _:
                self.documents.append(record)
                self.characters += len(document.content)
        if own := _id_of(record):
            self.ids.add(own)

    @property
    def is_of_threads(self) -> bool:
        """Whether it holds conversations and nothing else."""
        return bool(self.threads) and not self.documents and not self.others

    @property
    def is_full(self) -> bool:
        """Whether it is to be written."""
        return self.messages >= BATCH_MESSAGES or self.characters >= BATCH_CHARACTERS or len(self.others) >= BATCH_EDGES


def _id_of(record: Record) -> NodeId | None:
    match record:
        case Node():
            return record.id
        case Thread() | Edge():
            return None
        case document, _:
            return document.id


class Importing:
    """Imports paths into a space."""

    def __init__(
        self,
        space: Space,
        ingest: Ingest,
        count_tokens: Callable[[str], int],
        count_all: Callable[[Sequence[str]], Sequence[int]],
        progress: Callable[[Progress], None] | None = None,
        *,
        again: bool = False,
        wanted: Wanted | None = None,
    ) -> None:
        self._space, self._ingest, self._again, self._wanted = space, ingest, again, wanted
        self._count_tokens, self._count_all, self._progress = count_tokens, count_all, progress
        self._report = ImportReport()
        self._problems = Problems()
        self._documents: dict[NodeId, None] = {}
        self._known, self._of_dumps = Known(), Known(by_ids=True)
        self._read = self._total = 0
        self._pipeline = Pipeline(space, ingest, _MAINTENANCE, again=again)

    def __call__(self, paths: Sequence[Path], format_name: str | None = None) -> ImportReport:
        """Imports files, folders and archives; an interrupted import is simply run again.

        What cannot be opened is among the problems where other paths can. Raises InvalidInput without any path,
        NotFound for one that is not there, ImportProblem where none of the files is of a known format.
        """
        if not paths:
            raise InvalidInput("No paths are given: there is nothing to import.", hint="Give a file or a folder.")
        forced = reader_named(format_name) if format_name else None
        found: list[FormatFiles] = []
        unknown: list[Entry] = []
        refused: dict[Path, NotFound | ImportProblem] = {}
        for path in paths:
            try:
                of_path, rest = detect(self._chosen(walk(path, self._problems)), self._problems, forced)
            except (NotFound, ImportProblem) as problem:
                refused[path] = problem
                continue
            if not of_path and (paths[1:] or path.is_file()):
                refused[path] = self._unknown([path], rest)
            found += of_path
            unknown += rest
        if not found:
            only = next(iter(refused.values()), None) if len(paths) == 1 or not unknown else None
            raise only or self._unknown(paths, unknown)
        for path, why in refused.items():
            self._problems.lost(str(path), why.message)
        return self._read_all(found, unknown, told=refused)

    def of_growing(self, folder: Path, files: Sequence[Path]) -> ImportReport:
        """Imports some files of a folder that may still be written; files of no known format are only counted."""
        found, unknown = detect(self._chosen(growing(folder, files, self._problems)), self._problems)
        return self._read_all(found, unknown)

    def _chosen(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The files that are wanted, as they are to be read."""
        for entry in entries:
            chosen = entry if self._wanted is None else self._wanted(entry)
            if chosen is None:
                self._problems.note("files that are kept out")
            else:
                yield chosen

    def _read_all(
        self, found: Sequence[FormatFiles], unknown: Sequence[Entry], told: Container[Path] = ()
    ) -> ImportReport:
        self._tell_unread(unknown, told)
        self._total = sum(entry.size for group in found for entry in group.entries)
        with self._pipeline:
            for group in found:
                self._import(group)
            self._pipeline.settle()
        return self._finished()

    def _tell_unread(self, unknown: Sequence[Entry], told: Container[Path]) -> None:
        report = self._report
        report.notes["other files"] = len(unknown)
        report.skipped = [entry.place for entry in unknown[:SKIPPED_SHOWN]]
        for kind, entries in _kinds(unknown).items():
            report.unread[kind.label] = report.unread.get(kind.label, 0) + len(entries)
            for entry in entries:
                if Path(entry.container) not in told:
                    self._problems.lost(entry.place, named(kind))

    def _import(self, group: FormatFiles) -> None:
        reader = group.reader
        self._report.sources.append(ImportSource(reader.label, group.container, len(group.entries)))
        entries = [replace(entry, open=self._counted(entry)) for entry in group.entries]
        batch = _Batch()
        try:
            for record in self._records(group, entries):
                if batch.holds(record):
                    self._write(batch, group)
                    batch = _Batch()
                batch.add(record)
                if batch.is_full:
                    self._write(batch, group)
                    batch = _Batch()
        except ImportProblem as problem:
            self._problems.lost(group.container, str(problem))
        self._write(batch, group)

    def _records(self, group: FormatFiles, entries: Sequence[Entry]) -> Iterator[Record]:
        for draft in drafts(group.reader, entries, self._problems):
            if not isinstance(draft, DraftConversation | DraftDocument):
                yield draft
                continue
            record = guarded(partial(self._record, draft), draft.place, self._problems)
            if isinstance(record, Thread) and not record.messages:
                self._problems.note("conversations without messages")
            elif record is not None:
                yield record

    def _record(self, draft: DraftConversation | DraftDocument) -> Record:
        if isinstance(draft, DraftDocument):
            return assemble_document(draft, self._space.namespace), ()
        return assemble(draft, self._space.namespace, count_tokens=self._counter(draft), problems=self._problems)

    def _counter(self, draft: DraftConversation) -> Callable[[str], int]:
        """Counts the messages of a conversation all at once, which is several times as fast as one by one."""
        texts = [message.content for message in draft.messages]
        known = dict(zip(texts, self._count_all(texts), strict=True))
        return lambda text: known[text] if text in known else self._count_tokens(text)

    def _write(self, batch: _Batch, group: FormatFiles) -> None:
        """Writes what has gathered. What is read of a kind comes in the order threads, documents, edges and nodes."""
        known = self._of_dumps if isinstance(group.reader, Dump) else self._known
        tell = partial(self._tell, group, min(self._read, self._total))
        if self._space.remote and batch.is_of_threads:
            self._pipeline.write(batch.threads, known, partial(self._add, tell=tell))
            return
        self._pipeline.settle()
        if batch.threads:
            self._add(self._ingest.threads(batch.threads, again=self._again, known=known))
        if batch.documents:
            self._ingest.documents(batch.documents, again=self._again, forgotten=self._known.forgotten)
            self._documents.update(dict.fromkeys(document.id for document, _ in batch.documents))
        self._ingest.others(batch.others)
        self._space.maintain(_MAINTENANCE)
        tell()

    def _add(self, written: WrittenThreads, tell: Callable[[], None] | None = None) -> None:
        self._report.written.add(written)
        if tell is not None:
            tell()

    def _tell(self, group: FormatFiles, read: int) -> None:
        if self._progress is not None:
            done = self._report.written
            count = done.new + done.changed + done.same
            self._progress(Progress(group.reader.label, group.container, read, self._total, count, done.messages))

    def _counted(self, entry: Entry) -> Callable[[], BinaryIO]:
        return lambda: cast(BinaryIO, _CountingStream(entry.open(), self._count_bytes))

    def _count_bytes(self, count: int) -> None:
        self._read += count

    def _finished(self) -> ImportReport:
        report = self._report
        while self._space.maintain(_MAINTENANCE):
            pass
        with self._space.view() as view:
            report.stored = view.counts(list(report.written.ids))
            report.documents = sum(not document.erased for document in view.get(Document, list(self._documents)))
        report.problems = self._problems.found
        report.notes |= self._problems.notes
        return report

    def _unknown(self, paths: Sequence[Path], unknown: Sequence[Entry]) -> ImportProblem:
        names = ", ".join(str(path) for path in paths)
        damaged = "; ".join(f"{p.place}: {p.reason}" for p in self._problems.found[:3])
        if damaged:
            return ImportProblem(f"{names} could not be read: {damaged}.", hint="Download the export once more.")
        if kinds := _kinds(unknown):
            alone = len(unknown) == 1
            what = "; ".join(named(kind) if alone else f"{at[0].place}: {named(kind)}" for kind, at in kinds.items())
        else:
            holds = f"it holds {shape_of(unknown)}" if not all(map(_is_empty, unknown)) else "it is empty"
            what = f"it is not an export that Recollect knows: {holds}"
        read = ", ".join(importer.label for importer in importers())
        path = f'"{paths[0]}"' if " " in str(paths[0]) else paths[0]
        if not kinds and all(reader_of(entry) for entry in unknown):
            hint = f"To import text, Markdown, HTML and PDF files as documents: recollect import --documents {path}"
        else:
            hint = f"To ask for it, report its shape, which holds no text: recollect import --describe {path}"
            hint = hint if kinds else f"If it is one of these, name it with --format. {hint}"
        return ImportProblem(f"{names}: {what}. Recollect reads: {read}.", hint=hint)


def _kinds(unknown: Sequence[Entry]) -> dict[Unread, list[Entry]]:
    """What is recognised among the files that are not read."""
    kinds: dict[Unread, list[Entry]] = {}
    for entry in unknown:
        if kind := unread_kind(entry):
            kinds.setdefault(kind, []).append(entry)
    return kinds


def _is_empty(entry: Entry) -> bool:
    try:
        return not entry.peek(1)
    except (ImportProblem, OSError):
        return False


class _CountingStream:
    """A stream that tells how much was read of it."""

    def __init__(self, stream: BinaryIO, count: Callable[[int], None]) -> None:
        self._stream, self._count = stream, count

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._count(len(data))
        return data

    def readline(self, size: int = -1) -> bytes:
        data = self._stream.readline(size)
        self._count(len(data))
        return data

    def __iter__(self) -> Iterator[bytes]:
        for line in self._stream:
            self._count(len(line))
            yield line

    def __enter__(self) -> _CountingStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
