"""Times, sizes and numbers as people read them, in the local time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.search.results.result import SearchResults

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day(moment: datetime | None) -> str:
    """As in "14 Mar 2024"; "no date" for None."""
    if moment is None:
        return "no date"
    local = moment.astimezone()
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}"


def clock(moment: datetime | None) -> str:
    """As in "14:02"; empty for None."""
    return f"{moment.astimezone():%H:%M}" if moment else ""


def moment_after(moment: datetime | None, began: datetime | None) -> str:
    """As in "14:02", with the day where it is not the one on which it began: "19 Mar 14:02", "2 Apr 2025 14:02"."""
    if moment is None:
        return ""
    here, there = moment.astimezone(), began.astimezone() if began else None
    if there is not None and here.date() == there.date():
        return clock(moment)
    on = day(moment) if there is None or here.year != there.year else f"{here.day} {_MONTHS[here.month - 1]}"
    return f"{on} {clock(moment)}"


def month(moment: datetime) -> str:
    """As in "Mar 2024"."""
    local = moment.astimezone()
    return f"{_MONTHS[local.month - 1]} {local.year}"


def span(first: datetime | None, last: datetime | None, now: datetime, dash: str) -> str:
    """As in "Mar 2023 – Aug 2026", "Mar 2023 – today", "Mar 2023"; empty where nothing has a time."""
    if first is None or last is None:
        return ""
    end = "today" if last.astimezone().date() == now.astimezone().date() else month(last)
    return end if end == month(first) else f"{month(first)} {dash} {end}"


def ago(moment: datetime, now: datetime) -> str:
    """As in "2 h ago"."""
    return f"{duration(now - moment)} ago" if now - moment >= timedelta(minutes=1) else "just now"


def duration(length: timedelta) -> str:
    """The one unit that matters: "40 s", "9 min", "2 h", "3 days"."""
    seconds = max(0, int(length.total_seconds()))
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {'day' if unit == 'days' and count == 1 else unit}"
    return f"{seconds} s"


def size(count: int) -> str:
    """Bytes as in "212 MB"."""
    for unit, divisor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= divisor:
            return f"{count / divisor:.1f} {unit}" if count < 10 * divisor else f"{count // divisor} {unit}"
    return f"{count} bytes"


def number(count: int, one: str, several: str = "") -> str:
    """As in "1 message", "1,838 messages"."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def matches(found: SearchResults) -> str:
    """The messages that match where any hold the words, else the conversations that are near."""
    if found.with_words and found.facets:
        return number(found.facets.messages, "message")
    return number(found.total, "conversation")


def words_and_related(query: str, with_words: int, related: int) -> str:
    """What a search finds, told apart, as in "12 with the word, 40 related"."""
    which = "the word" if len(query.split()) == 1 else "any of the words"
    told = [f"{with_words:,} with {which}"] if with_words else []
    return ", ".join([*told, *([f"{related:,} related"] if related else [])])


def percent(part: int, whole: int) -> str:
    """As in "12%": never 100% where something is missing, nor 0% where something is there."""
    if not whole:
        return "0%"
    return f"{min(max(100 * part // whole, 1 if part else 0), 100)}%"


def parse_stored(value: object) -> datetime | None:
    """A time from a state file; None for anything else."""
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except ValueError:
        return None
