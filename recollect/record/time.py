"""Time, one way: aware UTC datetimes in records, whole microseconds since 1970 in stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
