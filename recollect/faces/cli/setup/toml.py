"""TOML files that people edit: one table is set, every other byte stays."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import InvalidInput

_HEADER = re.compile(r"^[ \t]*\[(?!\[)([^\]\n]*)\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_TRAILING = re.compile(r"(?:\n[ \t]*(?:#[^\n]*)?)*\Z")
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")
_NAME = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_KEY = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=\s*")
_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}.*?\'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[][{}\n]|[^]["'\#{}\n]+|.''',
    re.DOTALL,
)


def read(text: str) -> dict[str, Any]:
    """What the text says. Raises InvalidInput where it is no TOML."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInput(f"It is no valid TOML: {problem}.") from None


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    r"""The text with the table at a path set: in its place, or at the end. Where it or a table around it stands on one
    line, `{ … }`, that line is written anew.

    >>> print(put('model = "x"\n', ["mcp_servers", "recollect"], {"command": "recollect", "args": ["mcp"]}))
    model = "x"
    <BLANKLINE>
    [mcp_servers.recollect]
    command = "recollect"
    args = ["mcp"]
    <BLANKLINE>
    >>> print(put('mcp_servers = { docs = { command = "docs" } }', ["mcp_servers", "recollect"], {"args": ["mcp"]}))
    mcp_servers = { docs = { command = "docs" }, recollect = { args = ["mcp"] } }
    """
    for key, start, end in _inline(text):
        if key == list(path[: len(key)]):
            inside = read(f"x = {text[start:end]}")["x"]
            return text[:start] + _shown(_with(inside, path[len(key) :], value)) + text[end:]
    table = "\n".join([f"[{'.'.join(map(_key, path))}]", *(f"{_key(k)} = {_shown(v)}" for k, v in value.items())])
    spans = _spans(text, list(path))
    if not spans:
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{before}{chr(10) if before.strip() else ''}{table}\n"
    for start, end in reversed(spans[1:]):
        text = text[:start] + text[end:]
    start, end = spans[0]
    return text[:start] + table + (text[end:] or "\n")


def _inline(text: str) -> Iterator[tuple[list[str], int, int]]:
    """The tables on one line: their whole keys, and where they begin and end."""
    within: list[str] = []
    for start, end in _statements(text):
        statement = text[start:end]
        if header := _HEADER.fullmatch(statement.strip()):
            within = _parts(header[1])
        elif (key := _KEY.match(statement)) and statement[key.end() :].startswith("{"):
            yield [*within, *_parts(key[1])], start + key.end(), end


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Where each statement begins and ends, without the comment behind it. A value may have several lines."""
    start = end = depth = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        depth += (sign in ("[", "{")) - (sign in ("]", "}"))
        if sign == "\n" and depth == 0:
            yield start, end
            start = end = token.end()
        elif sign.strip() and not sign.startswith("#"):
            end = token.start() + len(sign.rstrip())
    yield start, end


def _with(table: Any, path: Sequence[str], value: Mapping[str, Any]) -> Any:
    """The table with a value in it."""
    if not path:
        return value
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{path[0]} is to be put into what is no table.")
    return {**table, path[0]: _with(table.get(path[0], {}), path[1:], value)}


def _spans(text: str, path: list[str]) -> list[tuple[int, int]]:
    """Where the table and those within it stand, without what is noted before the next."""
    found = []
    for header in _HEADER.finditer(text):
        if _parts(header[1])[: len(path)] == path:
            following = _ANY_HEADER.search(text, header.end())
            whole = text[header.start() : following.start() if following else len(text)]
            found.append((header.start(), header.start() + len(_TRAILING.sub("", whole))))
    return found


def _parts(header: str) -> list[str]:
    return [next(part for part in found.groups() if part is not None) for found in _PART.finditer(header)]


def _key(name: str) -> str:
    return name if _BARE.match(name) else json.dumps(name, ensure_ascii=False)


def _shown(value: Any) -> str:
    """A value on one line. Texts are written as JSON writes them, which TOML reads the same."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_shown(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, str | bool | int | float):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)  # a date
