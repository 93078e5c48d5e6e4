"""Events out of the bytes of an answer, while the bytes themselves go on untouched.

They are server-sent events. Where a server answers with JSON instead, be it an object a line or one in all, each object
is an event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


# Refusals of requests that are too long: how servers word them, and which numbers they tell.

_CODES = ("context_length_exceeded", "exceed_context_size_error", "context_window_exceeded")
_WORDS = re.compile(
    r"prompt (?:is )?too long|input is too long|exceeds? (?:the |this )?(?:model'?s )?(?:available )?context"
    r"|max(?:imum)? context (?:length|size|window)|maximum (?:allowed )?(?:input|prompt) length|input token count"
    r"|context length of only|model context window is|configured context size is"
    r"|longer than the (?:model'?s context|maximum model) length|greater than the context length|maximum allowed length"
    r"|exceeded model token limit|context window exceeds limit|prompt exceeds max length|range of input length"
    r"|prompt token count of [\d,]+ exceeds|`inputs` (?:tokens \+|must have less)",
    re.IGNORECASE,
)
_N = r"(\d[\d,]*)"
_LIMITS = (
    rf"> ?{_N}",
    rf"max(?:imum)? (?:context|allowed input|input|prompt) (?:length|size|window) ?(?:is|of|\()? ?\(?{_N}",
    rf"available context size \({_N}",
    rf"context (?:window|length) (?:is|of|of only) {_N}",
    rf"maximum number of tokens allowed \({_N}",
    rf"model with {_N} maximum context length",
    rf"(?:context|model|allowed) length (?:of )?\(?{_N}",
    rf"(?:token limit:|limit (?:of|is)|context size is) {_N}",
    rf"input length should be \[\d+, ?{_N}",
    rf"must (?:be <=|have less than) {_N}",
    rf"n_ctx:? {_N}",
)
_ASKED = (
    rf"{_N} tokens >",
    rf"{_N} \+ \d[\d,]* >",
    rf"{_N} in (?:the |your )?(?:messages|prompt)",
    rf"{_N} of text input",
    rf"(?:resulted in|prompt contains|request contains|requested|prompt is|first) {_N} (?:input )?tokens",
    rf"(?:request|tokens|length|count)(?: of)? ?\(?{_N}(?: tokens)?\)? exceeds?",
    rf"\((?:length )?{_N}(?: tokens)?\) is longer",
    rf"{_N} tokens from the input",
    rf"(?:requested:|prompt has|current length is|given:) {_N}",
    rf"n_prompt_tokens {_N}",
)
_TOLD = ("error", "message", "detail", "msg", "code", "type", "response", "n_ctx", "n_prompt_tokens", "metadata", "raw")
_NUMBERS = ("n_ctx", "n_prompt_tokens")
_LONGEST = 4_000  # characters: longer messages repeat what was asked
#: Statuses that are about who asks, or how often.
_NEVER = (401, 402, 403, 404, 429)
#: Events behind which a server may still refuse a request. One that waits in a queue may do so for minutes.
_OPENING = ("response.created", "response.in_progress")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request was too long. `limit` and `asked` are tokens of the server, None where it does not tell them."""

    limit: int | None = None
    asked: int | None = None


def read_refusal(status: int, body: object) -> Refusal | None:
    """What an answer says of the length of the request; None where it is about something else."""
    if status < 400 or status in _NEVER:
        return None
    told = " ".join(_told(body))[:_LONGEST]
    if not any(code in told for code in _CODES) and _WORDS.search(told) is None:
        return None
    return Refusal(_number(_LIMITS, told), _number(_ASKED, told))


def is_failure(event: Mapping[str, Any]) -> bool:
    """Whether an event says that the answer has failed."""
    return bool(event.get("error")) or event.get("type") in ("error", "response.failed")


class AnswerStart:
    """The beginning of an answer, held back until it is known what it is: its first event. One that comes as a single
    object is of no use before that ends.

    With `waits` it is held back while the request may still be refused for its length, in the event behind those with
    which an answer of Responses begins: what was passed on cannot be asked for again.
    """

    def __init__(self, status: int, *, waits: bool = True) -> None:
        self.refusal: Refusal | None = None
        self.first: Mapping[str, Any] | None = None  # the event
        self.is_whole = False  # it has ended, and was no stream
        self._status, self._waits, self._events = status, waits, Events()

    @property
    def is_readable(self) -> bool:
        """Whether what comes may be read, as far as that is known."""
        return self._events.is_readable

    @property
    def is_json(self) -> bool:
        """Whether bare objects come, rather than server-sent events."""
        return self._events.is_json

    def whole(self, content: bytes) -> None:
        """Takes in an answer that is no stream."""
        try:
            self.refusal = read_refusal(self._status, json.loads(content))
        except (ValueError, RecursionError):
            self.refusal = read_refusal(self._status, {"message": content[:_LONGEST].decode(errors="replace")})

    def feed(self, piece: bytes) -> bool:
        """Takes in a piece of a stream. Whether that is enough: an event, what is none, or a comment or a blank, which
        keeps a reader waiting and must go on.
        """
        is_enough = self._take(self._events.feed(piece))
        return (
            is_enough or not self.is_readable or piece.startswith(b":") or (self._events.is_blank and piece.isspace())
        )

    def end(self) -> None:
        """Takes in that nothing more comes."""
        self.is_whole = self.is_json or self._events.is_blank
        self._take(self._events.end())

    def _take(self, events: Sequence[Mapping[str, Any]]) -> bool:
        for event in events:
            self.first = event
            if self._waits and event.get("type") in _OPENING:
                continue
            if is_failure(event):
                self.refusal = read_refusal(400, event)
            return True
        return False


def _told(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from _unpacked(value)
    elif isinstance(value, Mapping):
        for key in _TOLD:
            if key in _NUMBERS and isinstance(value.get(key), int):
                yield f"{key} {value[key]}"
            elif key in value:
                yield from _told(value[key])
    elif isinstance(value, list):
        for inner in value[:5]:
            yield from _told(inner)


def _unpacked(text: str) -> Iterator[str]:
    """A text; of one that holds the answer of another server, what that tells."""
    if text.lstrip().startswith("{"):
        try:
            inner: Any = json.loads(text)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict):
            yield from _told(inner)
            return
    if len(text) <= _LONGEST:
        yield text


def _number(patterns: tuple[str, ...], told: str) -> int | None:
    for pattern in patterns:
        if found := re.search(pattern, told, re.IGNORECASE):
            return int(found[1].replace(",", "")) or None
    return None
