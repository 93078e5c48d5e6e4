"""Finds where JSON values begin and end in a stream of bytes, without decoding them.

Whole runs between two brackets are matched at once, strings included, so that this goes at the speed of the regular
expression engine. The rules are just strict enough that damage shows near its place: a bracket that does not fit, an
object's value without a key, a string that does not end where strings end.
"""

from __future__ import annotations

import re
from typing import BinaryIO

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

    def check_after_scalar(self) -> None:
        """Raises Damage where the value just passed was a key, or half of one, rather than an element."""
        if self.next_byte() not in (_COMMA, _CLOSE_LIST, _END):
            raise Damage("a list does not go on as it should")

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
                if opened and opened[-1] == _OPEN_OBJECT and self._after_comma():
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
                self._check_after_string()
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

    def _after_comma(self) -> bool:
        return self._data[max(0, self.pos - _INDENT) : self.pos].rstrip()[-1:] == b","

    def _check_after_string(self) -> None:
        following = self.next_byte()
        if following == _END:
            raise self._cut()
        if following not in b",:}]":
            raise Damage("a string does not end where it should")

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
