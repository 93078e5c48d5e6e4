"""Recollect's own dump (`recollect export`): records as they are, ids and versions included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from recollect.errors import ImportProblem
from recollect.importers.base import Entry, Problems
from recollect.importers.json_stream import lines
from recollect.record import Chunk, Document, Edge, Thread
from recollect.record.wire import from_wire, thread_from_wire
from recollect.store.transfer import DUMP_VERSION

Record = Thread | tuple[Document, tuple[Chunk, ...]] | Edge

_BROKEN = (KeyError, TypeError, ValueError, AttributeError)


class Dump:
    """Reads what `recollect export` writes."""

    name = "recollect"
    label = "Recollect dump"

    def recognises(self, entry: Entry) -> bool:
        """By its first line."""
        first = entry.peek(4096).split(b"\n", 1)[0]
        try:
            head = orjson.loads(first)
        except orjson.JSONDecodeError:
            return False
        return isinstance(head, dict) and "recollect_dump" in head

    def read(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Record]:
        """The records of the dumps. Raises ImportProblem for a dump of a newer version."""
        for entry in entries:
            yield from self._read(entry, problems)

    def _read(self, entry: Entry, problems: Problems) -> Iterator[Record]:
        ended = False
        with entry.open() as stream:
            for line in lines(stream):
                place = f"{entry.place} line {line.number}"
                if line.error is not None or not isinstance(line.value, dict):
                    problems.lost(place, line.error or "not a JSON object")
                    continue
                value = line.value
                if value.get("recollect_dump", DUMP_VERSION) != DUMP_VERSION:
                    raise ImportProblem(
                        f"{entry.place} is a dump of version {value['recollect_dump']}; I read version {DUMP_VERSION}.",
                        hint="Update Recollect: pip install -U recollect",
                    )
                ended = ended or value.get("type") == "end"
                try:
                    record = _record(value)
                except _BROKEN as problem:
                    problems.lost(place, f"not a record: {problem!r}")
                    continue
                if record is not None:
                    yield record
        if not ended:
            problems.partial(entry.place, "the dump ends early: its last line is missing")


def _record(value: dict[str, object]) -> Record | None:
    match value.get("type"):
        case "conversation":
            return thread_from_wire(value)
        case "document":
            chunks = value.get("chunks", ())
            assert isinstance(chunks, list | tuple)
            document: Document = from_wire(Document, value)
            return document, tuple(from_wire(Chunk, chunk) for chunk in chunks)
        case "edge":
            edge = value["edge"]
            assert isinstance(edge, dict)
            found: Edge = from_wire(Edge, edge)
            return found
    return None
