"""Big JSON, one element at a time: in bounded memory, and so that one broken place costs one element.

A file is cut into elements by its brackets and strings; each is then decoded alone. Whole runs between two brackets are
matched at once, strings included. The rules are just strict enough that damage shows near its place: a bracket that
does not fit, an object's value without a key, a string that does not end where strings end.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import orjson

from recollect.errors import ImportProblem

#: The most bytes of one value. Beyond, brackets are missing rather than a conversation that long.
LARGEST = 256 << 20

_CHUNK = 1 << 18
_BLANK = re.compile(rb"[ \t\r\n\0]*+")
_BETWEEN = re.compile(rb"[ \t\r\n\0,]*+")
_INSIDE_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_RUN = re.compile(rb'[\s,:\w+.\-]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"(?=[ \t\r\n]*+[,:}\]])[\s,:\w+.\-]*+)*+', re.DOTALL)
_SCALAR = re.compile(rb'[^\s,:\[\]{}"\0]++')

_QUOTE, _COMMA, _OPEN_LIST, _CLOSE_LIST, _OPEN_OBJECT, _CLOSE_OBJECT = b'",[]{}'
_CLOSES = {_CLOSE_LIST: _OPEN_LIST, _CLOSE_OBJECT: _OPEN_OBJECT}
_END = -1
_NEAR = 8 << 20
_TAIL = 4096  # bytes within which the beginning of an object, up to its first key, must lie
_INDENT = 80  # bytes looked back for a comma


class Damage(Exception):
    """The bytes are no JSON any more at this place."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Cut(Damage):
    """The bytes end, or cannot be read further, within a value."""


class JsonBytes:
    """A stream of JSON, of which only what is being looked at is in memory.

    `pos` is where reading goes on, within the bytes in memory. What was passed is dropped, unless it is held.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data = bytearray()
        self._base = 0  # the place in the stream of the first byte in memory
        self._held: int | None = None
        self._problem = ""
        self.pos = 0
        if self._more() and self._data.startswith(b"\xef\xbb\xbf"):
            self.pos = 3

    @property
    def place(self) -> int:
        """Where reading goes on, in bytes from the start of the stream."""
        return self._base + self.pos

    def hold(self) -> int:
        """Keeps what follows from here on, and gives the place of its first byte."""
        self._held = self.pos
        return self.place

    def held(self) -> bytearray:
        """What was passed since `hold`."""
        return self._data[self._held : self.pos]

    def beginning(self) -> bytes:
        """The first bytes from `hold` on, passed or not."""
        start = self._held or 0
        return bytes(self._data[start : start + _TAIL])

    def release(self) -> None:
        """Holds nothing any more."""
        self._held = None

    def back(self, bytes_after: int = 0) -> None:
        """Goes back to what is held, or some bytes after it, and lets it go."""
        self.pos = (self._held or 0) + bytes_after
        self._held = None

    def passed_since(self, place: int) -> bytes:
        """What was passed from a place in the stream on, as far as it is still in memory."""
        return bytes(self._data[max(0, place - self._base) : self.pos])

    def ahead(self, separator: bytes, taken: int) -> bytearray | None:
        """What comes, up to and with the first bytes of the separator; None where that is not near."""
        searched = self.pos
        while (found := self._data.find(separator, searched)) < 0:
            searched = max(self.pos, len(self._data) - len(separator))
            unread = searched - self.pos
            if unread > _NEAR or not self._more():
                return None
            searched = self.pos + unread
        return self._data[self.pos : found + taken]

    def next_byte(self, passing: re.Pattern[bytes] = _BLANK) -> int:
        """The next byte that is no blank, not passed yet; -1 at the end."""
        while True:
            self.pos = passing.match(self._data, self.pos).end()  # type: ignore[union-attr]
            if self.pos < len(self._data):
                return self._data[self.pos]
            if not self._more():
                return _END

    def takes(self, byte: bytes) -> bool:
        """Passes this byte where it is the next one."""
        if self.next_byte() != byte[0]:
            return False
        self.pos += 1
        return True

    def to_element(self) -> bool:
        """Goes to the next element of a list; False: the list ends. Raises Cut where the bytes end first."""
        following = self.next_byte(_BETWEEN)
        if following == _END:
            raise self._cut("the file ends before the list does")
        return not (following == _CLOSE_LIST and self.takes(b"]"))

    def check_end(self, nothing_follows: bool) -> None:
        """Reads to the end. Raises Damage where something stands there that should not, Cut where reading fails."""
        if self.next_byte() != _END and nothing_follows:
            raise Damage("the list of conversations ends before the file does")
        while self._more():
            self.pos = len(self._data)
        if self._problem:
            raise Cut(self._problem)

    def find(self, pattern: re.Pattern[bytes]) -> bool:
        """Goes to the next match of a short pattern, to the end where there is none."""
        while True:
            found = pattern.search(self._data, self.pos)
            if found:
                self.pos = found.start()
                return True
            self.pos = max(self.pos, len(self._data) - _TAIL)
            if not self._more():
                return False

    def skip_value(self) -> None:
        """Passes one value. Raises Damage, and Cut where the bytes end within it."""
        first = self.next_byte()
        if first == _END:
            raise self._cut()
        if first in (_OPEN_OBJECT, _OPEN_LIST):
            self._skip_nested()
        elif first == _QUOTE:
            self._skip_string()
        else:
            self._skip_scalar()

    def _skip_nested(self) -> None:
        data, opened = self._data, bytearray()
        while True:
            self.pos = end = _RUN.match(data, self.pos).end()  # type: ignore[union-attr]
            if end == len(data):
                if not self._more():
                    raise self._cut()
                continue
            byte = data[end]
            if byte in (_OPEN_OBJECT, _OPEN_LIST):
                if opened[-1:] == b"{" and data[max(0, end - _INDENT) : end].rstrip()[-1:] == b",":
                    raise Damage("a value stands where a key should")
                opened.append(byte)
                self.pos = end + 1
            elif byte in _CLOSES:
                if opened.pop() != _CLOSES[byte]:
                    raise Damage("its brackets do not match")
                self.pos = end + 1
                if not opened:
                    return
            elif byte == _QUOTE:
                self._skip_string()
                following = self.next_byte()
                if following == _END:
                    raise self._cut()
                if following not in b",:}]":
                    raise Damage("a string does not end where it should")
            else:
                raise Damage("something stands between its values")

    def _skip_string(self) -> None:
        self.pos += 1
        while True:
            self.pos = end = _INSIDE_STRING.match(self._data, self.pos).end()  # type: ignore[union-attr]
            if end < len(self._data) and self._data[end] == _QUOTE:
                self.pos = end + 1
                return
            if not self._more():
                raise self._cut()

    def _skip_scalar(self) -> None:
        start = self.place
        while found := _SCALAR.match(self._data, self.pos):
            self.pos = found.end()
            if self.pos < len(self._data):
                return
            if not self._more():
                raise self._cut()
        if self.place == start:
            raise Damage("something stands where a value should")

    def _cut(self, reason: str = "the file ends in the middle of it") -> Cut:
        return Cut(self._problem or reason)

    def _more(self) -> bool:
        """Reads on, dropping what is no longer needed; False at the end."""
        needed = self.pos if self._held is None else self._held
        if len(self._data) - needed > LARGEST:
            raise Damage("it is larger than 256 MB")
        try:
            chunk = self._stream.read(_CHUNK)
        except (ImportProblem, OSError) as error:
            self._problem, chunk = str(error), b""
        del self._data[:needed]
        self._base += needed
        self.pos -= needed
        self._held = None if self._held is None else 0
        self._data += chunk
        return bool(chunk)


# --- one value, out of bytes that may be damaged in ways that do no harm ---------------------------------------------

_MOST_DIGITS = 20  # of an integer that every store can hold; longer ones are read as floats, as orjson does

# Every backslash within JSON begins an escape, so that escapes can be read from left to right.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def decode(data: bytes | bytearray) -> Any:
    """The value that `data` holds.

    Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD; NaN, Infinity and numbers beyond all bounds
    become None; control characters inside of strings stay. Raises ValueError, quoting nothing, for what is no JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _decode_leniently(data)


def _decode_leniently(data: bytes | bytearray) -> Any:
    text = _ESCAPE.sub(lambda one: "\\ufffd" if one["lone"] else one[0], data.decode("utf-8", "replace"))
    try:
        return json.loads(text, strict=False, parse_constant=lambda _: None, parse_float=_finite, parse_int=_bounded)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON (character {error.pos}: {error.msg})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite(digits: str) -> float | None:
    return value if math.isfinite(value := float(digits)) else None


def _bounded(digits: str) -> int | float | None:
    return int(digits) if len(digits) < _MOST_DIGITS else _finite(digits)


# --- lists, lines and documents --------------------------------------------------------------------------------------

#: The error of the only element of a file that holds no list where one was looked for.
NO_LIST = "there is no list of conversations in it"

_BLANKS = b" \t\r\n\0"
_MARK = b"\xef\xbb\xbf"
_KEY = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*+:', re.DOTALL)
_BEGINNING = re.compile(rb'\{\s*+("(?:[^"\\]++|\\.)*+")', re.DOTALL)
_CLOSING = re.compile(rb"[\]}][\]}\s]*\Z")
_LONGEST_KEY = 200
_ALIKE = 0.6  # of the keys in common, so that an object within an element is not taken for the next element


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a list: its number from 0, its value or what is wrong with it, its place in bytes."""

    index: int
    value: Any | None
    error: str | None
    offset: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line of JSON Lines: its number from 1, its value or what is wrong with it."""

    number: int
    value: Any | None
    error: str | None


def elements(stream: BinaryIO, keys: Sequence[str] = ("conversations",)) -> Iterator[Element]:
    """The elements of the list at the top, or under one of `keys` in the object at the top, one by one.

    A broken element comes with its error (`error` is None otherwise), and those after it follow, as far as they are
    objects. A file that is cut, or cannot be read further, gives its whole elements and then one with an error. A file
    without such a list gives one with the error `NO_LIST`. Memory: the largest element. Raises nothing.
    """
    source, shape = JsonBytes(stream), _Shape()
    index, offset, end = 0, source.place, source.place
    try:
        at_top = _enter_list(source, keys)
    except Damage as damage:
        yield Element(0, None, damage.reason, offset)
        return
    while True:
        try:
            if not source.to_element():
                source.check_end(nothing_follows=at_top)
                return
            between = source.passed_since(end)
            offset = source.hold()
            value = _next_value(source, shape, between)
            end = source.place
        except Cut as cut:
            yield Element(index, None, cut.reason, offset)
            return
        except Damage as damage:
            yield Element(index, None, damage.reason, offset)
            if not _find_next(source, shape):
                return
            end = source.place
        except ValueError as error:
            yield Element(index, None, str(error), offset)
        else:
            yield Element(index, value, None, offset)
        index += 1


def lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of JSON Lines, one by one. Blank ones and runs of NUL are counted and left out.

    A line that is cut, damaged or longer than 256 MB comes with its error. Memory: the longest line. Raises nothing.
    """
    number = 0
    try:
        for number, raw in enumerate(_raw_lines(stream), start=1):
            if raw is None:
                yield Line(number, None, "it is longer than 256 MB")
            elif text := raw.removeprefix(_MARK).strip(_BLANKS):
                try:
                    yield Line(number, decode(text), None)
                except ValueError as error:
                    yield Line(number, None, str(error))
    except (ImportProblem, OSError) as error:
        yield Line(number + 1, None, str(error))


def document(stream: BinaryIO) -> Any:
    """The value of a small file, read whole, as leniently as an element of a list.

    Raises ImportProblem where it is no JSON, is larger than 256 MB or cannot be read.
    """
    data = bytearray()
    try:
        while chunk := stream.read(_CHUNK):
            data += chunk
            if len(data) > LARGEST:
                raise ImportProblem("It is one piece of JSON larger than 256 MB.")
        return decode(data.removeprefix(_MARK).strip(_BLANKS))
    except OSError as error:
        raise ImportProblem(f"It cannot be read ({error}).") from error
    except ValueError as error:
        raise ImportProblem(f"It cannot be decoded: {error}.") from error


def _raw_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines as they stand, None for one that is too long."""
    pieces: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        first, *others = chunk.split(b"\n")
        size += len(first)
        if size <= LARGEST:
            pieces.append(first)
        else:
            pieces.clear()
        for other in others:
            yield b"".join(pieces) if size <= LARGEST else None
            pieces, size = [other], len(other)
    if size:
        yield b"".join(pieces) if size <= LARGEST else None


def _next_value(source: JsonBytes, shape: _Shape, between: bytes) -> Any:
    """The element that begins here.

    Where the bytes up to the next separator are valid JSON they are the element, and need no splitting. That is the
    fast way; `between` are the bytes before the element, from which separators are learned.
    """
    guess = source.ahead(shape.separator, len(shape.tail)) if shape.separator else None
    if guess is not None:
        try:
            value = orjson.loads(guess)
        except orjson.JSONDecodeError:
            shape.separator = b""
        else:
            source.pos += len(guess)
            return value
    source.skip_value()
    value = decode(source.held())
    if not isinstance(value, dict | list) and source.next_byte() not in (_COMMA, _CLOSE_LIST, _END):
        raise Damage("a list does not go on as it should")  # it was a key, or half of one
    shape.learn(value, source.held(), between)
    return value


def _enter_list(source: JsonBytes, keys: Sequence[str]) -> bool:
    """Goes into the list; True where it stands at the top, False under a key. Raises Damage where there is none."""
    if source.takes(b"["):
        return True
    if not source.takes(b"{"):
        raise Damage(NO_LIST)
    while not source.takes(b"}"):
        if _read_key(source) in keys and source.takes(b"["):
            return False
        source.skip_value()
        source.takes(b",")
    raise Damage(NO_LIST)


def _read_key(source: JsonBytes) -> Any:
    source.next_byte()
    source.hold()
    source.skip_value()
    key = source.held()
    source.release()
    if not source.takes(b":"):
        raise Damage(NO_LIST)
    try:
        return decode(key)
    except ValueError:
        return None


@dataclass(slots=True)
class _Shape:
    """What the objects of the list look like, and what stands between them: to find the next one."""

    first: bytes = b""
    keys: frozenset[str] = field(default_factory=frozenset)
    tail: bytes = b""  # the brackets that all objects end with: ']}]}'
    separator: bytes = b""  # the end of one object and the beginning of the next: ']}]}, {"title"'

    def learn(self, value: Any, data: bytearray, between: bytes) -> None:
        beginning = _BEGINNING.match(data)
        if not isinstance(value, dict) or not beginning:
            return
        if len(value) > len(self.keys):
            self.first, self.keys = bytes(beginning[1]), frozenset(value)
        closing = _CLOSING.search(data)
        tail = bytes(closing[0]) if closing else b"}"
        while self.tail and not self.tail.endswith(tail):
            tail = tail[1:]  # what both end with
        self.tail = tail
        if b"," in between:
            self.separator = self.tail + between + beginning[0]

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and self._are_ours(value.keys(), least=1)

    def fits_broken(self, data: bytes) -> bool:
        return self._are_ours(_first_keys(data), least=2)

    def _are_ours(self, keys: Set[str], *, least: int) -> bool:
        return len(self.keys & keys) >= max(least, _ALIKE * min(len(self.keys), len(keys)))


def _first_keys(data: bytes) -> frozenset[str]:
    """The keys that stand before the first value with brackets of its own."""
    first = _KEY.search(data)
    head = re.split(rb"[\[{]", data[first.start() :], maxsplit=1)[0] if first else b""
    return frozenset(name.decode("utf-8", "replace") for name in _KEY.findall(head))


def _find_next(source: JsonBytes, shape: _Shape) -> bool:
    """Goes to the next object after damage that looks like the others, broken itself or not; False: there is none."""
    if not shape.keys:
        shape.keys = _first_keys(source.beginning())
    if not shape.keys or len(shape.first) > _LONGEST_KEY:
        return False
    beginning = re.compile(rb"\{\s*+" + re.escape(shape.first or b'"'))
    source.back(1)
    while source.find(beginning):
        source.hold()
        try:
            source.skip_value()
            fits = shape.fits(decode(source.held()))
        except (Damage, ValueError):
            fits = shape.fits_broken(source.beginning())
        source.back(0 if fits else 1)
        if fits:
            return True
    return False
