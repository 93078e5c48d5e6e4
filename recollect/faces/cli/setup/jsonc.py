"""JSON files that people edit, comments and all: one member is set or taken out, every other byte stays.

A path leads through objects by names, through lists by places; the place behind the last item is where one is added.
"""

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
_REST = re.compile(r"[ \t]*(?://[^\n]*|/\*(?:(?!\*/)[^\n])*\*/[ \t]*)?(?=\r?\n)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s,\]}/]+")


#: The name of a member, or the place of an item.
Name = str | int


@dataclass(frozen=True, slots=True)
class _Value:
    """A value and where it stands. `members` are those of an object or the items of a list, in order."""

    start: int
    end: int
    value: Any
    members: list[_Member] = field(default_factory=list)

    def takes(self, name: Name) -> bool:
        """Whether a member of that name could stand here, or an item at that place."""
        if isinstance(name, str):
            return isinstance(self.value, dict)
        return isinstance(self.value, list) and name <= len(self.members)

    def member(self, name: Name) -> _Value | None:
        """The member of a name; the last where it stands twice, as parsers take it."""
        return next((one.value for one in reversed(self.members) if one.name == name), None)


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object and where its name stands; or an item of a list, with its place for a name."""

    name: Name
    at: int
    value: _Value


def read(text: str) -> Any:
    """What the text says. Raises InvalidInput where it is no JSON."""
    return _whole(text).value if _says_something(text) else {}


def put(text: str, path: Sequence[Name], value: Any) -> str:
    r"""The text with a member of an object or list set, below those that lead to it; missing objects are made. What
    stands on one line stays there.

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
    whole = _whole(text)
    in_lines = "\n" in text[whole.start : whole.end] or not whole.members
    return _put(text, whole, list(path), value, _indent_of(text) if in_lines else None, 1)


def drop(text: str, path: Sequence[Name]) -> str:
    r"""The text without a member of an object or list; the very same where there is none.

    >>> drop('{\n  "a": 1, // mine\n  "b": 2\n}\n', ["b"])
    '{\n  "a": 1 // mine\n}\n'

    Raises InvalidInput where the text is no JSON.
    """
    inside = _whole(text) if _says_something(text) else None
    for name in path[:-1]:
        inside = inside.member(name) if inside is not None else None
    members = inside.members if inside is not None else []
    place = max((n for n, one in enumerate(members) if one.name == path[-1]), default=None)
    if inside is None or place is None:
        return text
    start, end = members[place].at, members[place].value.end
    behind = inside.start + 1 if not place else _past(text, members[place - 1].value.end) + 1  # the bracket, the comma
    comma = _past(text, end)
    is_last = text[comma] != ","
    if not is_last:
        end = comma + 1
    line = text.rfind("\n", 0, start)
    if line >= 0 and _EMPTY.match(text, end) and not text[line:start].strip():  # it has its lines for itself
        start = line - (text[line - 1] == "\r")
    elif not place and not is_last:
        end += len(text) - end - len(text[end:].lstrip(" \t"))
    elif not text[behind:start].strip():
        start = behind
    without = text[:start] + text[end:]
    if is_last and place:
        return without[: behind - 1] + without[behind:]
    closing = inside.end - 1 - (end - start)
    if len(members) == 1 and not without[inside.start + 1 : closing].strip():
        return without[: inside.start + 1] + without[closing:]
    return without


def _says_something(text: str) -> bool:
    return bool(text.removeprefix(_MARK).strip())


def _put(text: str, inside: _Value, path: list[Name], value: Any, indent: str | None, depth: int) -> str:
    """`indent` is None where all stands on one line."""
    name, rest = path[0], path[1:]
    if not inside.takes(name):
        raise InvalidInput(f"Something other than an object stands where {name} would be set.")
    there = inside.member(name)
    if there is not None and rest:
        return _put(text, there, rest, value, indent if _in_lines(text, there) else None, depth + 1)
    shown = _shown(_nested(rest, value), indent, depth)
    if there is not None:
        return text[: there.start] + shown + text[there.end :]
    line = " " if indent is None else "\n" + indent * depth
    added = line + (f"{json.dumps(name)}: {shown}" if isinstance(name, str) else shown)
    if inside.members:
        last = inside.members[-1].value.end
        comma = _past(text, last)
        if text[comma] == ",":
            end = _line_end(text, comma + 1)
            return text[:end] + added + "," + text[end:]
        end = _line_end(text, last)
        return text[:last] + "," + text[last:end] + added + text[end:]
    if indent is None:
        return text[: inside.start + 1] + added.lstrip() + text[inside.start + 1 :]
    blank = text[inside.start + 1 : inside.end - 1].rstrip()
    return text[: inside.start + 1] + blank + added + "\n" + indent * (depth - 1) + text[inside.end - 1 :]


def _in_lines(text: str, value: _Value) -> bool:
    """Whether what comes in gets lines of its own. An empty object opens, an empty list does not."""
    return "\n" in text[value.start : value.end] or value.value == {}


def _nested(path: Sequence[Name], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _shown(value: Any, indent: str | None, depth: int) -> str:
    """Objects line by line, unless there is no indent; all else on one line."""
    if indent is None or not isinstance(value, Mapping) or not value:
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
    items: list[_Member] = []
    at = _past(text, start + 1)
    while text[at] != "]":
        value = _value(text, at)
        items.append(_Member(len(items), at, value))
        at = _next(text, value.end, "]")
    return _Value(start, at + 1, [one.value.value for one in items], items)


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
