"""JSON files that people edit, comments and all: one member is set or taken out, every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.errors import InvalidInput

_MARK = "\ufeff"  # of the byte order
_EMPTY = re.compile(r"[ \t]*\r?\n")
_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\r?\n)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s,\]}/]+")


@dataclass(frozen=True, slots=True)
class _Value:
    """A value and where it stands. `members` are those of an object, in order, `last` the end of the last of them."""

    start: int
    end: int
    value: Any
    members: list[_Member] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    def member(self, name: str) -> _Value | None:
        """The member of a name; the last where it stands twice, as parsers take it."""
        return next((one.value for one in reversed(self.members) if one.name == name), None)


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object, and where its name stands."""

    name: str
    at: int
    value: _Value


def read(text: str) -> Any:
    """What the text says. Raises InvalidInput where it is no JSON."""
    return _whole(text).value if _says_something(text) else {}


def put(text: str, path: Sequence[str], value: Any) -> str:
    r"""The text with a member of an object set, below the objects that lead to it; missing ones are made.

    >>> print(put('{\n  // mine\n  "a": 1,\n}\n', ["servers", "x"], {"command": "y"}))
    {
      // mine
      "a": 1,
      "servers": {
        "x": {
          "command": "y"
        }
      },
    }
    <BLANKLINE>

    Raises InvalidInput where the text is no JSON, or something else stands where an object is needed.
    """
    if not _says_something(text):
        return (_MARK if text.startswith(_MARK) else "") + _shown(_nested(path, value), "  ", 0) + "\n"
    return _put(text, _whole(text), list(path), value, _indent_of(text), 1)


def drop(text: str, path: Sequence[str]) -> str:
    r"""The text without a member of an object; the very same where there is none of that name.

    >>> drop('{\n  "a": 1, // mine\n  "b": 2\n}\n', ["b"])
    '{\n  "a": 1 // mine\n}\n'

    Raises InvalidInput where the text is no JSON.
    """
    inside = _whole(text) if _says_something(text) else None
    for name in path[:-1]:
        inside = inside.member(name) if inside is not None else None
    members = inside.members if inside is not None else []
    place = max((n for n, one in enumerate(members) if one.name == path[-1]), default=None)
    if place is None:
        return text
    start, end = members[place].at, members[place].value.end
    comma = _past(text, end)
    is_last = text[comma] != ","
    if not is_last:
        end = comma + 1
    line = text.rfind("\n", 0, start) + 1
    following = _EMPTY.match(text, end)
    if following is not None and not text[line:start].strip():  # it has its lines for itself
        start, end = line, following.end()
    without = text[:start] + text[end:]
    if is_last and place:
        before = _past(text, members[place - 1].value.end)
        without = without[:before] + without[before + 1 :]
    return without


def _says_something(text: str) -> bool:
    return bool(text.removeprefix(_MARK).strip())


def _put(text: str, inside: _Value, path: list[str], value: Any, indent: str, depth: int) -> str:
    name, rest = path[0], path[1:]
    if not inside.is_object:
        raise InvalidInput(f"Something other than an object stands where {name} would be set.")
    there = inside.member(name)
    if there is not None and rest:
        return _put(text, there, rest, value, indent, depth + 1)
    shown = _shown(_nested(rest, value), indent, depth)
    if there is not None:
        return text[: there.start] + shown + text[there.end :]
    line = "\n" + indent * depth
    added = f"{line}{json.dumps(name)}: {shown}"
    if inside.members:
        last = inside.members[-1].value.end
        comma = _past(text, last)
        if text[comma] == ",":
            end = _line_end(text, comma + 1)
            return text[:end] + added + "," + text[end:]
        end = _line_end(text, last)
        return text[:last] + "," + text[last:end] + added + text[end:]
    blank = text[inside.start + 1 : inside.end - 1].rstrip()
    return text[: inside.start + 1] + blank + added + "\n" + indent * (depth - 1) + text[inside.end - 1 :]


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _shown(value: Any, indent: str, depth: int) -> str:
    """Objects line by line, all else on one line."""
    if not isinstance(value, Mapping) or not value:
        # Half of a pair that stands for one character is no UTF-8: it is written as the escape that it came as.
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    line = "\n" + indent * (depth + 1)
    members = (f"{json.dumps(name)}: {_shown(inner, indent, depth + 1)}" for name, inner in value.items())
    return "{" + line + f",{line}".join(members) + "\n" + indent * depth + "}"


def _line_end(text: str, at: int) -> int:
    """The end of the line, where nothing but a comment follows on it; else here."""
    found = _REST.match(text, at)
    return found.end() if found else at


def _indent_of(text: str) -> str:
    """By what the first member is indented."""
    found = re.search(r'\n([ \t]+)"', text)
    return found[1] if found else "  "


def _whole(text: str) -> _Value:
    try:
        at = _past(text, len(_MARK) if text.startswith(_MARK) else 0)
        value = _value(text, at)
        if _past(text, value.end) != len(text):
            raise ValueError
    except (ValueError, IndexError, RecursionError):
        raise InvalidInput("It is no valid JSON.") from None
    return value


def _value(text: str, at: int) -> _Value:
    match text[at]:
        case "{":
            return _object(text, at)
        case "[":
            return _list(text, at)
        case '"':
            return _string(text, at)
    found = _PLAIN.match(text, at)
    if found is None:
        raise ValueError
    return _Value(at, found.end(), json.loads(found[0]))


def _string(text: str, at: int) -> _Value:
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError
    return _Value(at, found.end(), json.loads(found[0], strict=False))


def _object(text: str, start: int) -> _Value:
    members: list[_Member] = []
    at = _past(text, start + 1)
    while text[at] != "}":
        key = _string(text, at)
        at = _past(text, key.end)
        if text[at] != ":":
            raise ValueError
        value = _value(text, _past(text, at + 1))
        members.append(_Member(key.value, key.start, value))
        at = _next(text, value.end, "}")
    return _Value(start, at + 1, {one.name: one.value.value for one in members}, members)


def _list(text: str, start: int) -> _Value:
    items: list[Any] = []
    at = _past(text, start + 1)
    while text[at] != "]":
        value = _value(text, at)
        items.append(value.value)
        at = _next(text, value.end, "]")
    return _Value(start, at + 1, items)


def _next(text: str, at: int, closing: str) -> int:
    """Where the next member begins, or where it all closes; a comma before that does no harm."""
    at = _past(text, at)
    if text[at] == ",":
        return _past(text, at + 1)
    if text[at] != closing:
        raise ValueError
    return at


def _past(text: str, at: int) -> int:
    """Past blanks and comments."""
    found = _BLANK.match(text, at)
    return found.end() if found else at
