"""Plain text: UTF-8, or UTF-16 and UTF-32 with a byte-order mark. What is neither is refused rather than guessed."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from recollect.errors import ImportProblem
from recollect.record.tree import outline
from recollect.text.clean import clean_text


@dataclass(frozen=True, slots=True)
class Contents:
    """What stands in a document: its text, its outline (`recollect.record.tree`), what could not be read of it."""

    text: str
    outline: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""


class DocumentReader(Protocol):
    """Reads the files of one kind. Stateless."""

    @property
    def name(self) -> str:
        """With a number that is counted up whenever the same file would give another text: "pdf 1"."""
        ...

    @property
    def endings(self) -> tuple[str, ...]:
        """Of file names, in lower case: ".pdf"."""
        ...

    @property
    def largest(self) -> int:
        """How many bytes a file may have."""
        ...

    def read(self, stream: BinaryIO) -> Contents:
        """The contents of a file that is at most `largest` long. Raises ImportProblem with the reason why not."""
        ...


def missing_library(what: str, error: ImportError) -> ImportProblem:
    """The problem of a kind of file whose library is not installed."""
    return ImportProblem(f"reading {what} needs {error.name}: pip install 'recollect[documents]'")


#: Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class PlainText:
    """Text as it stands, its lines counted."""

    name = "text 1"
    endings = (".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".csv", ".tsv")
    largest = 16 << 20

    def read(self, stream: BinaryIO) -> Contents:
        """The text. Raises ImportProblem."""
        return Contents(decoded(stream.read()), outline(lines=True))


def decoded(data: bytes) -> str:
    """The text of some bytes, its lines ended as in Unix. Raises ImportProblem for what is no text, or not UTF-8."""
    encoding = marked_encoding(data)
    if encoding is None and b"\0" in data:
        raise ImportProblem("it is a binary file, not text")
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ImportProblem(f"it is not {error.encoding.upper()} (line {line}); save it as UTF-8") from None
    return clean_text(text.replace("\r\n", "\n").replace("\r", "\n"))


def marked_encoding(data: bytes) -> str | None:
    """The encoding that a byte-order mark names."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
