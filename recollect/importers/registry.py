"""Which formats are read, and which of them a file is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recollect.errors import ImportProblem, InvalidInput
from recollect.importers.base import Entry, Importer, Problems
from recollect.importers.chatgpt import ChatGPT
from recollect.importers.claude_ai import ClaudeAI
from recollect.importers.claude_code import ClaudeCode
from recollect.importers.codex import Codex
from recollect.importers.dump import Dump
from recollect.importers.openai_jsonl import OpenAIMessages
from recollect.importers.sharegpt import ShareGPT

Reader = Importer | Dump

#: In the order in which they are asked.
READERS: tuple[Reader, ...] = (
    Dump(),
    ChatGPT(),
    ClaudeAI(),
    ClaudeCode(),
    Codex(),
    OpenAIMessages(),
    ShareGPT(),
)

#: Files that can hold a chat at all, by the ends of their names; all others are not opened.
_ENDINGS = ("json", "jsonl", "ndjson", "txt", "log", "md", "bak")


@dataclass(frozen=True, slots=True)
class Found:
    """The files of one format in one container."""

    reader: Reader
    container: str
    entries: tuple[Entry, ...]


def reader_named(name: str) -> Reader:
    """The reader of a format. Raises InvalidInput with the names there are."""
    for reader in READERS:
        if reader.name == name:
            return reader
    names = ", ".join(reader.name for reader in READERS)
    raise InvalidInput(f"{name!r} is no format that I read.", hint=f"Formats: {names}.")


def detect(
    entries: Iterable[Entry], problems: Problems, forced: Reader | None = None
) -> tuple[list[Found], list[Entry]]:
    """The files by format and container, and those that are of none. A forced reader takes every file it could be.

    Files that could hold chats and whose beginning cannot be read go into `problems`.
    """
    groups: dict[tuple[str, str], list[Entry]] = {}
    readers: dict[str, Reader] = {}
    unknown: list[Entry] = []
    for entry in entries:
        reader = _reader_of(entry) if forced is None else forced if _could_be(entry) else None
        if reader is None:
            unknown.append(entry)
            _tell_unreadable(entry, problems)
        else:
            readers[reader.name] = reader
            groups.setdefault((entry.container, reader.name), []).append(entry)
    found = [Found(readers[name], container, tuple(group)) for (container, name), group in groups.items()]
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


def _reader_of(entry: Entry) -> Reader | None:
    if not _could_be(entry):
        return None
    return next((reader for reader in READERS if reader.recognises(entry)), None)


def _tell_unreadable(entry: Entry, problems: Problems) -> None:
    try:
        if _could_be(entry):
            entry.peek()
    except (ImportProblem, OSError) as problem:
        problems.lost(entry.place, str(problem))


def _could_be(entry: Entry) -> bool:
    _, dot, ending = entry.name.lower().rpartition(".")
    return not dot or ending in _ENDINGS
