"""Server-sent events out of the bytes of an answer, while the bytes themselves go on untouched."""

from __future__ import annotations

import json
from typing import Any

_MOST = 8_000_000  # bytes of one event: more is passed on, and not listened to


def is_event_stream(content_type: str) -> bool:
    """Whether a content type is that of server-sent events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


class Events:
    """Takes bytes in pieces of any size, and gives the objects that are whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The objects that this piece completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > _MOST:
            self._rest = b""
        return [found for line in lines if (found := self._line(line.rstrip(b"\r"))) is not None]

    def _line(self, line: bytes) -> dict[str, Any] | None:
        if line.startswith(b"data:"):
            self._size += len(line)
            if self._size <= _MOST:
                self._data.append(line[5:].removeprefix(b" "))
            return None
        if line:
            return None
        data, self._data, self._size = b"\n".join(self._data), [], 0
        if not data or data == b"[DONE]":
            return None
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None
