"""Which reader a file is for, and the file read by it within its limits."""

from __future__ import annotations

import hashlib
from io import BufferedReader, BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO

from recollect.errors import ImportProblem
from recollect.importers.base import Entry
from recollect.importers.documents.html import Html
from recollect.importers.documents.markdown import Markdown
from recollect.importers.documents.pdf import Pdf
from recollect.importers.documents.plain import Contents, DocumentReader, PlainText

#: Another kind of file is one more line here.
READERS: tuple[DocumentReader, ...] = (PlainText(), Markdown(), Html(), Pdf())

_PIECE = 1 << 20
_IN_MEMORY = 64 << 20  # bytes of a file in an archive, which is slow to be read in any order
_UNNAMED = READERS[0]  # for files without an ending: README, LICENSE


def reader_of(entry: Entry, *, named: bool = False) -> DocumentReader | None:
    """The reader of a file, by the end of its name; of a file that a person named, text where no other fits."""
    name = entry.name.lower()
    found = next((reader for reader in READERS if name.endswith(reader.endings)), None)
    return found or (_UNNAMED if named or not PurePosixPath(name).suffix else None)


def fingerprint(entry: Entry, reader: DocumentReader) -> str:
    """What changes with the file's bytes, and with how they are read. Raises ImportProblem for a wrong size."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    with entry.open() as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
            size += len(piece)
            _check_size(max(size, entry.size), reader)
    if not size:
        raise ImportProblem("it is empty")
    return f"{reader.name} {digest.hexdigest()}"


def contents(entry: Entry, reader: DocumentReader) -> Contents:
    """What stands in a file. Raises ImportProblem with the reason why not."""
    with entry.open() as stream:
        found = reader.read(_in_any_order(stream))
    if not found.text.strip():
        raise ImportProblem("there is no text in it")
    return found


def _check_size(size: int, reader: DocumentReader) -> None:
    if size > reader.largest:
        megabytes, most = size / (1 << 20), reader.largest >> 20
        raise ImportProblem(f"it is too large ({megabytes:,.0f} MB); at most {most} MB are read: split it")


def _in_any_order(stream: BinaryIO) -> BinaryIO:
    if isinstance(stream, BufferedReader):  # a file on disk
        return stream
    data = stream.read(_IN_MEMORY + 1)
    if len(data) > _IN_MEMORY:
        raise ImportProblem("it lies in an archive and is too large to be read there; unpack that first")
    return BytesIO(data)
