"""What a reader of documents is, and what it hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from recollect.errors import ImportProblem


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
