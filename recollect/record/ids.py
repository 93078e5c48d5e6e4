"""Identities: ULIDs for what is created here, deterministic ids of the same shape for what is imported.

Importing the same export again therefore meets its own ids and changes nothing (SYSTEM.md 2).
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import NewType

from recollect.errors import InvalidInput

Namespace = NewType("Namespace", str)
NodeId = NewType("NodeId", str)

DEFAULT_NAMESPACE = Namespace("default")

_MUCH = 60  # characters of what is no name
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: What a part of a namespace may hold; "." and ".." are none, since addresses drop them. JSON Schema knows no more.
_IN_PART = r"[^\s/\x00-\x20\x7f\x85\xa0]"
_NO_DOT = r"[^\s/.\x00-\x20\x7f\x85\xa0]"
_PART = rf"({_NO_DOT}|\.{_NO_DOT}|\.\.{_IN_PART}){_IN_PART}*"
#: The form of a namespace, and how long it may be.
NAMESPACE_FORM, NAMESPACE_LENGTH = rf"^{_PART}(/{_PART})*$", 200
#: The form of an id that somebody gives, and how long it may be.
ID_FORM, ID_LENGTH = r"^[^\s\x00-\x20\x7f\x85\xa0]([^\x00-\x1f\x7f\x85]*[^\s\x00-\x20\x7f\x85\xa0])?$", 200
_NAMESPACE, _ID = re.compile(NAMESPACE_FORM[:-1]), re.compile(ID_FORM[:-1])
_HALF = re.compile(r"[\ud800-\udfff]")  # half a character is none that a store or a header can hold
#: Between what can be read of a name that had to be changed and its digest. No name that stays itself holds it.
_CHANGED = "~"
_UNFIT = re.compile(r"[^\w.@+-]+")  # a shell, an address and a header leave the rest alone
_PART_LENGTH, _DIGEST = 60, 26


def namespace(name: str) -> Namespace:
    """A checked namespace path such as `default`, `acme/rex`.

    Raises InvalidInput for an empty name, blanks, control characters, empty segments, those that are `.` or `..`, or
    more than 200 characters.
    """
    if len(name) > NAMESPACE_LENGTH or not _NAMESPACE.fullmatch(name) or _HALF.search(name):
        raise InvalidInput(
            f"{_shown(name)} is not a namespace.",
            hint="Use names without spaces, joined by slashes, at most 200 characters: acme/rex.",
        )
    return Namespace(name)


def namespace_part(name: str) -> str:
    """A foreign name (of a user, a session, a folder) as one part of a namespace; two names never get the same.

    Up to 60 letters of any script, digits and `_ . @ + -` stay themselves. Any other name becomes what can be read of
    it, a `~`, and the 128 bits of its digest. Nobody can choose that form as a name, since `~` is changed itself. Names
    that differ by a blank, by case or by how Unicode composes a letter are other names.

    >>> namespace_part("anna@example.org"), namespace_part("Anna Smith")
    ('anna@example.org', 'Anna-Smith~6d39zy8jnnh5t86vhzevh1g7e6')
    """
    if name.strip(".") and len(name) <= _PART_LENGTH and not _UNFIT.search(name):
        return name
    return changed_name(name, name)


def changed_name(shown: str, name: str) -> str:
    """A part of a namespace for a name of which no more than a piece is shown: of a folder, its last name."""
    readable = _UNFIT.sub("-", shown).strip("-.")[: _PART_LENGTH - _DIGEST - len(_CHANGED)]
    return f"{readable}{_CHANGED}{stable_id('name', name).lower()}"


def checked_id(text: str, what: str) -> NodeId:
    """An id or a name that somebody gives to a conversation or a message; `what` says of what it is.

    Raises InvalidInput for an empty one, blanks around it, control characters, or more than 200 characters.
    """
    if len(text) > ID_LENGTH or not _ID.fullmatch(text) or _HALF.search(text):
        raise InvalidInput(
            f"{what} cannot be {_shown(text)}.",
            hint="Use 1 to 200 characters, without blanks around them and without control characters.",
        )
    return NodeId(text)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= _MUCH else f"{text[:_MUCH]!r}… ({len(text):,} characters)"


def is_within(name: str, namespaces: Iterable[str]) -> bool:
    """Whether a namespace is one of some, or below one.

    >>> is_within("acme/rex", ["acme"]), is_within("acme-2", ["acme"])
    (True, False)
    """
    return any(name == one or name.startswith(f"{one}/") for one in namespaces)


def stable_id(*parts: str | int | None) -> NodeId:
    """The same 26 characters for the same parts, for ever: 128 bits of BLAKE2b in Crockford's base 32."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        text = "" if part is None else str(part)
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return NodeId(_encode(int.from_bytes(digest.digest(), "big")))


class UlidFactory:
    """Makes ULIDs that sort by creation, also within one millisecond. Thread-safe; the clock comes from outside."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self) -> NodeId:
        """The next id."""
        with self._lock:
            fresh = int(self._clock() * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
            self._last = fresh if fresh > self._last else self._last + 1
            return NodeId(_encode(self._last))


new_id = UlidFactory()


_PAIRS = [a + b for a in _CROCKFORD for b in _CROCKFORD]  # ten bits at a time: every id is made here


def _encode(value: int) -> str:
    return "".join([_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10)])


# Time, one way: aware UTC datetimes in records, whole microseconds since 1970 in stores.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

#: Times outside of these years in an export are taken for absent: no chat is older, and a store must sort them.
EARLIEST, LATEST = datetime(1971, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

_ABSURD = 1e20  # nanoseconds reach it in the year 5138
_DATE_DIGITS = 8  # 20250301 is a date, longer runs of digits count from 1970


def utc_now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


def to_microseconds(moment: datetime | None) -> int | None:
    """Whole microseconds since 1970 in UTC; a naive datetime is read as UTC."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def from_microseconds(value: int | None) -> datetime | None:
    """The inverse of `to_microseconds`."""
    return None if value is None else _EPOCH + timedelta(microseconds=value)


def parse_time(value: object) -> datetime | None:
    """A time as exports write it: epoch seconds (or milliseconds, microseconds), or ISO 8601. Anything else is None.

    Zero, negative, absurd and malformed values are None too: exports hold them where they mean "unknown".
    """
    moment: datetime | None = None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        moment = _from_epoch(value)
    elif isinstance(value, str) and value.strip():
        moment = _from_text(value.strip())
    elif isinstance(value, datetime):
        moment = value
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return moment if EARLIEST <= moment <= LATEST else None


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with a trailing Z, microseconds only where there are any."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _from_epoch(value: float) -> datetime | None:
    if not 0 < value < _ABSURD:  # also drops NaN
        return None
    while value > 1e11:  # milliseconds, microseconds, nanoseconds
        value /= 1000
    return _EPOCH + timedelta(microseconds=round(value * 1_000_000))


def _from_text(value: str) -> datetime | None:
    if not (value.isdecimal() and len(value) > _DATE_DIGITS):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    try:
        return _from_epoch(float(value))
    except ValueError:
        return None
