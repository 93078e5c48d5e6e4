"""Big JSON, one element at a time: in bounded memory, and so that one broken place costs one element.

A file is cut into elements by its brackets and strings (`json_bytes`); each is then decoded alone (`json_value`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import orjson

from recollect.errors import ImportProblem
from recollect.importers.reading.json_bytes import LARGEST, Cut, Damage, JsonBytes
from recollect.importers.reading.json_value import decode

#: The error of the only element of a file that holds no list where one was looked for.
NO_LIST = "there is no list of conversations in it"

_CHUNK = 1 << 18
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
                yield _line(number, text)
    except (ImportProblem, OSError) as error:
        yield Line(number + 1, None, str(error))


def document(stream: BinaryIO) -> Any:
    """The value of a small file, read whole, as leniently as an element of a list.

    Raises ImportProblem where it is no JSON, is larger than 256 MB or cannot be read.
    """
    data = _read_whole(stream)
    try:
        return decode(data.removeprefix(_MARK).strip(_BLANKS))
    except ValueError as error:
        raise ImportProblem(f"It cannot be decoded: {error}.") from error


def _read_whole(stream: BinaryIO) -> bytes:
    pieces: list[bytes] = []
    try:
        while chunk := stream.read(_CHUNK):
            pieces.append(chunk)
            if len(pieces) * _CHUNK > LARGEST:
                raise ImportProblem("It is one piece of JSON larger than 256 MB.")
    except OSError as error:
        raise ImportProblem(f"It cannot be read ({error}).") from error
    return b"".join(pieces)


def _line(number: int, text: bytes) -> Line:
    try:
        return Line(number, decode(text), None)
    except ValueError as error:
        return Line(number, None, str(error))


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
    if not isinstance(value, dict | list):
        source.check_after_scalar()
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
        self.tail = _common_end(self.tail, tail) if self.tail else tail
        if b"," in between:
            self.separator = self.tail + between + beginning[0]

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and self._are_ours(value.keys(), least=1)

    def fits_broken(self, data: bytes) -> bool:
        return self._are_ours(_first_keys(data), least=2)

    def _are_ours(self, keys: Set[str], *, least: int) -> bool:
        return len(self.keys & keys) >= max(least, _ALIKE * min(len(self.keys), len(keys)))


def _common_end(one: bytes, other: bytes) -> bytes:
    length = next((at for at, (a, b) in enumerate(zip(one[::-1], other[::-1], strict=False)) if a != b), None)
    return other[len(other) - (min(len(one), len(other)) if length is None else length) :]


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
