"""The shape of an export that nobody knows yet: keys, types, counts and lengths. Never a text, an id or a title.

So that a format can be reported in public without showing what was said in it. A key is shown only where it looks like
the name of a field; keys that look like ids or titles, keys of maps, and the names of files stand as "*".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from recollect.importers.base import Entry, Problems
from recollect.importers.reading.archive import walk
from recollect.importers.reading.json_reader import glimpse, items
from recollect.text.secrets import find_secrets

_ITEMS_READ = 200
_FILES_READ = 12  # of different names
_DEEPEST = 14
_MOST_FIELDS = 80
_MAP_FROM = 3  # keys: an object of so many equal objects is a map
_FLAT_MAP_FROM = 12  # the same for values that are no objects

_FIELD = re.compile(r"[a-z_$@][A-Za-z0-9_$@.:-]{0,39}")
_ID_LIKE = re.compile(r"\d{4}|[0-9a-f]{8}|\d[a-z]*\d[a-z]*\d|-.*-.*-", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
_ID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,64}|\d{6,}")
_ADDRESS = re.compile(r"[a-z]{2,10}://\S+")

#: Words that file names of exports are made of; a name with any other is shown as "*".
_FILE_WORDS = frozenset(
    """
    account activity archive artifacts assets assistant attachments audio backup chat chatgpt chats claude codex
    completions conversation conversations data documents export exported feedback files group history images index
    info json log logs manifest media memories memory message messages meta metadata model models my notes plugins
    profile projects prompts sessions settings shared skills tasks threads tools user users version workspace
    """.split()  # noqa: SIM905
)


def describe(path: Path) -> Iterator[str]:
    """The lines that describe a file, folder or zip. Raises NotFound, ImportProblem."""
    problems = Problems()
    groups: dict[str, list[Entry]] = {}
    for entry in walk(path, problems):
        groups.setdefault(_safe_path(entry.path), []).append(entry)
    files = sum(map(len, groups.values()))
    yield f"{'folder' if path.is_dir() else _ending(path.name) or 'file'}, {files:,} file{'' if files == 1 else 's'}"
    for number, (name, entries) in enumerate(sorted(groups.items())):
        sizes = [entry.size for entry in entries]
        yield f"{name}  {len(entries):,} x {_range(sizes)} bytes"
        if number < _FILES_READ:
            yield from _describe_file(max(entries, key=lambda entry: entry.size), problems)
    if problems.found:
        yield f"{len(problems.found):,} parts could not be read"


def _describe_file(entry: Entry, problems: Problems) -> Iterator[str]:
    head = glimpse(entry, _is_object)
    if head is None:
        yield "  no JSON"
        return
    shape = FileShape()
    for item in islice(items(entry, _is_object, problems), _ITEMS_READ):
        shape.add(item.value)
    yield f"  JSON ({head.layout.value}), of its first {sum(shape.kinds.values()):,} values:"
    yield from shape.lines("    ")


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


@dataclass(slots=True)
class FileShape:
    """What stood at one place of the values that were added: types with counts, lengths, what lies below."""

    kinds: Counter[str] = field(default_factory=Counter)
    lengths: dict[str, tuple[int, int]] = field(default_factory=dict)
    fields: dict[str, FileShape] = field(default_factory=dict)
    items: FileShape | None = None

    def add(self, value: Any, depth: int = 0) -> None:
        """Counts a value in."""
        kind = _kind(value)
        self.kinds[kind] += 1
        if isinstance(value, str | list | dict):
            least, most = self.lengths.get(kind, (len(value), len(value)))
            self.lengths[kind] = min(least, len(value)), max(most, len(value))
        if depth >= _DEEPEST:
            return
        if isinstance(value, dict):
            is_map = _is_map(value)
            for key, inner in value.items():
                self.fields.setdefault("*" if is_map else _safe_key(key), FileShape()).add(inner, depth + 1)
        elif isinstance(value, list):
            self.items = self.items or FileShape()
            for inner in value:
                self.items.add(inner, depth + 1)

    def lines(self, indent: str) -> Iterator[str]:
        """One line a field, those below a field indented."""
        yield f"{indent}{self._told()}"
        if self.items is not None and self.items.kinds:
            yield from self.items.lines(f"{indent}  [] ")
        for name, shape in islice(self.fields.items(), _MOST_FIELDS):
            first, *rest = shape.lines("")
            yield f"{_blank(indent)}  {name}: {first}"
            yield from (f"{_blank(indent)}    {line}" for line in rest)
        if len(self.fields) > _MOST_FIELDS:
            yield f"{_blank(indent)}  and {len(self.fields) - _MOST_FIELDS:,} more fields"

    def _told(self) -> str:
        """As in "text 198 (3 to 80), null 2"."""
        return ", ".join(
            f"{kind} {count:,}" + (f" ({_range(self.lengths[kind])})" if kind in self.lengths else "")
            for kind, count in self.kinds.most_common()
        )


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "number like a time" if 1e9 <= value < 2e12 else "number"
        case str():
            looks = ((_TIME, "text like a time"), (_ID, "text like an id"), (_ADDRESS, "text like an address"))
            return next((kind for pattern, kind in looks if pattern.fullmatch(value)), "text")
        case list():
            return "list"
    return "object"


def _is_map(value: Mapping[str, Any]) -> bool:
    """Whether the keys are data rather than names of fields: many values of one make."""
    if len(value) < _MAP_FROM:
        return False
    inner = list(value.values())
    if all(isinstance(one, dict) for one in inner):
        shared = set(inner[0]).intersection(*inner[1:])
        return bool(shared) and all(2 * len(shared) >= len(one) for one in inner)
    return len(inner) >= _FLAT_MAP_FROM and len({_kind(one).split()[0] for one in inner}) == 1


def _safe_key(key: str) -> str:
    return key if _FIELD.fullmatch(key) and not (_ID_LIKE.search(key) or find_secrets(key)) else "*"


def _safe_path(path: str) -> str:
    return "/".join(_safe_name(name) for name in path.split("/"))


def _safe_name(name: str) -> str:
    ending = _ending(name)
    stem = name[: len(name) - len(ending)]
    words = [word for word in re.split(r"[^A-Za-z]+", stem.lower()) if word]
    safe = re.sub(r"\d+", "#", stem) if words and all(word in _FILE_WORDS for word in words) else "*"
    return safe + ending


def _ending(name: str) -> str:
    """The ending of a file's name with its dot; empty where it has none that is one."""
    found = re.search(r"\.[A-Za-z0-9]{1,6}$", name)
    return found[0].lower() if found and found.start() else ""


def _range(numbers: list[int] | tuple[int, int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _blank(indent: str) -> str:
    return " " * len(indent)
