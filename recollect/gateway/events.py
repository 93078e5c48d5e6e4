"""Events out of the bytes of an answer, while the bytes themselves go on untouched.

They are server-sent events. Where a server answers with JSON instead, be it an object a line or one in all, each object
is an event.
"""

from __future__ import annotations

import json
from typing import Any

_MOST = 8_000_000  # bytes of one event: more is passed on, and not listened to
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_BOM = b"\xef\xbb\xbf"


def is_event_stream(content_type: str) -> bool:
    """Whether a content type is that of server-sent events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


class Events:
    """Takes bytes in pieces of any size, and gives the objects that are whole."""

    def __init__(self) -> None:
        self.is_done = False  # a server has said that nothing more comes
        self.is_json = False  # what comes are bare objects
        self.is_readable = True  # what comes may be events
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._ends_in_return = False
        self.is_blank = True  # nothing has come yet that tells what it is

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The objects that this piece completes."""
        if self._ends_in_return and piece.startswith(b"\n"):
            piece = piece[1:]
        self._ends_in_return = piece.endswith(b"\r")
        piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if self.is_blank:
            self._begin(*lines, self._rest)
        if len(self._rest) > _MOST:
            self._rest = b""
        return [found for line in lines if (found := self._line(line)) is not None]

    def end(self) -> list[dict[str, Any]]:
        """What stands at the end without a line that ends it."""
        found = [self._line(self._rest), self._complete()]
        self._rest = b""
        return [event for event in found if event is not None]

    def _begin(self, *lines: bytes) -> None:
        """Looks what it is, as soon as there is enough of it."""
        first = next((found for line in lines if (found := line.removeprefix(_BOM).strip())), b"")
        is_cut = len(first) < len(b"event:") and first == self._rest.removeprefix(_BOM).strip()
        if is_cut and not first.startswith((b":", b"{")):
            return
        self.is_blank = False
        self.is_json = first.startswith(b"{")
        self.is_readable = self.is_json or first.startswith(_FIELDS)

    def _line(self, line: bytes) -> dict[str, Any] | None:
        if self.is_json:
            return self._line_of_json(line)
        line = line.removeprefix(_BOM)
        if line.startswith(b"data:"):
            self._take(line[5:].removeprefix(b" "))
            return None
        return None if line else self._complete()

    def _line_of_json(self, line: bytes) -> dict[str, Any] | None:
        """An object may stand on a line of its own, or on many: then its last one begins with a brace."""
        is_first = not self._size
        self._take(line.removeprefix(_BOM))
        if line.startswith(b"}"):
            return self._complete()
        if is_first and (found := _object(line.removeprefix(_BOM))) is not None:
            self._data, self._size = [], 0
            return found
        return None

    def _take(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= _MOST:
            self._data.append(data)

    def _complete(self) -> dict[str, Any] | None:
        data, self._data, self._size = b"\n".join(self._data), [], 0
        self.is_done = self.is_done or data.strip() == b"[DONE]"
        return _object(data)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
