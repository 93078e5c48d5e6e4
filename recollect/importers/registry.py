"""Which formats are read, and which of them a file is."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from recollect.errors import ImportProblem, InvalidInput
from recollect.importers.base import Entry, Importer, Problems
from recollect.importers.formats.chatgpt.chatgpt import ChatGPT
from recollect.importers.formats.claude.claude_ai import ClaudeAI
from recollect.importers.formats.claude_code.claude_code import ClaudeCode
from recollect.importers.formats.codex.codex import Codex
from recollect.importers.formats.dump import Dump
from recollect.importers.formats.messages.openai import OpenAIMessages
from recollect.importers.formats.messages.sharegpt import ShareGPT
from recollect.importers.reading.json_reader import JsonReader

#: In the order in which they are asked; what others add (see `importers`) comes after the first.
READERS: tuple[Importer, ...] = (
    Dump(),
    ChatGPT(),
    JsonReader(ClaudeAI()),
    ClaudeCode(),
    Codex(),
    JsonReader(OpenAIMessages()),
    JsonReader(ShareGPT()),
)

#: The entry point by which other packages add formats: an object or class that is a JsonFormat or an Importer.
GROUP = "recollect.importers"

_LOG = logging.getLogger(__name__)
_SNIFFED = 4096
#: Files that are no chat whatever stands in them; all others are judged by their content.
_MEDIA = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".svg", ".ico", ".mp3", ".m4a", ".wav", ".ogg", ".flac"),
    *(".mp4", ".mov", ".webm", ".avi", ".mkv", ".pdf", ".docx", ".xlsx", ".pptx", ".ttf", ".woff", ".woff2"),
)


@cache
def importers() -> tuple[Importer, ...]:
    """All formats that are read: our own, and those that installed packages add."""
    first, *others = READERS
    return (first, *_added(), *others)


def _added() -> Iterator[Importer]:
    taken = {reader.name for reader in READERS}
    for point in entry_points(group=GROUP):
        try:
            importer = as_importer(point.load())
        except Exception as error:
            _LOG.warning("the format %s of %s cannot be loaded: %s", point.name, point.value, error)
            continue
        if importer.name in taken:
            _LOG.warning("the format %s of %s has the name of another and is left out", importer.name, point.value)
            continue
        taken.add(importer.name)
        yield importer


def as_importer(format: Any) -> Importer:
    """A format as an importer; of a class, an instance. Raises TypeError for what is neither of the two kinds."""
    made = format() if isinstance(format, type) else format
    if callable(getattr(made, "pieces", None)) and callable(getattr(made, "recognises", None)):
        importer: Importer = made
        return importer
    if callable(getattr(made, "fits", None)) and callable(getattr(made, "draft", None)):
        return JsonReader(made)
    raise TypeError("it has neither fits() and draft() nor recognises() and pieces()")


@dataclass(frozen=True, slots=True)
class FormatFiles:
    """The files of one format in one container."""

    reader: Importer
    container: str
    entries: tuple[Entry, ...]


def reader_named(name: str) -> Importer:
    """The reader of a format. Raises InvalidInput with the names there are."""
    for reader in importers():
        if reader.name == name:
            return reader
    names = ", ".join(reader.name for reader in importers())
    raise InvalidInput(f"{name!r} is not a format that Recollect reads.", hint=f"Formats: {names}.")


def detect(
    entries: Iterable[Entry], problems: Problems, forced: Importer | None = None
) -> tuple[list[FormatFiles], list[Entry]]:
    """The files by format and container, and those that are of none. A forced reader takes every file it could be.

    Files that could hold chats and whose beginning cannot be read go into `problems`.
    """
    groups: dict[tuple[str, str], list[Entry]] = {}
    readers: dict[str, Importer] = {}
    unknown: list[Entry] = []
    for entry in entries:
        reader = reader_of(entry) if forced is None else forced if _could_be(entry) else None
        if reader is None:
            unknown.append(entry)
            _tell_unreadable(entry, problems)
        else:
            readers[reader.name] = reader
            groups.setdefault((entry.container, reader.name), []).append(entry)
    found = [FormatFiles(readers[name], container, tuple(group)) for (container, name), group in groups.items()]
    return found, unknown


def shape_of(entries: Sequence[Entry]) -> str:
    """What lies in an archive or folder, for people: "photos/ (214), notes.txt"."""
    return ", ".join(_shapes(entries)) or "nothing"


def _shapes(entries: Sequence[Entry], shown: int = 6) -> Iterator[str]:
    tops: dict[str, int] = {}
    for entry in entries:
        top, slash, _ = entry.path.partition("/")
        tops[top + slash] = tops.get(top + slash, 0) + 1
    for name, count in list(tops.items())[:shown]:
        yield f"{name} ({count})" if name.endswith("/") else name
    if len(tops) > shown:
        yield f"and {len(tops) - shown} more"


def reader_of(entry: Entry) -> Importer | None:
    """The format that a file is of, None for none."""
    if not _could_be(entry):
        return None
    return next((importer for importer in importers() if importer.recognises(entry)), None)


def _tell_unreadable(entry: Entry, problems: Problems) -> None:
    try:
        if _could_be(entry):
            entry.peek()
    except (ImportProblem, OSError) as problem:
        problems.lost(entry.place, str(problem))


def _could_be(entry: Entry) -> bool:
    """Whether it begins as JSON or a text does. What is broken may be anything."""
    if _is_media(entry):
        return False
    try:
        head = entry.peek(_SNIFFED).lstrip(b"\0 \t\r\n")
    except (ImportProblem, OSError):
        return True
    return head.startswith((b"{", b"[")) or b"\0" not in head


def _is_media(entry: Entry) -> bool:
    return entry.name.lower().endswith(_MEDIA)
