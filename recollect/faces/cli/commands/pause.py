"""`recollect pause`: records nothing until it is resumed, or for a time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Arguments, Command
from recollect.faces.cli.terminal.session import Invocation

_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LENGTH = re.compile(r"(\d{1,5})\s*(m|min|minutes?|h|hours?|d|days?|w|weeks?)", re.IGNORECASE)


def pause(session: Invocation, length: list[str]) -> int:
    """Record nothing until you resume, or for a time: 30m, 2h, 3 days.

    It holds at once for all that records by itself on this machine, in all memories and namespaces: `watch`, the hooks,
    `import --found`, the proxy, wrapped clients, and what models remember over MCP. What is said meanwhile stays out
    after the pause too, though the session goes on. What you record yourself is stored as ever: `import PATH`,
    `remember`, `chat`.
    """
    from recollect.faces.present.pausing import until
    from recollect.memory.recording import Recording
    from recollect.record import iso, utc_now

    begun = Recording.own().pause(_end(length, utc_now()))
    if session.json:
        session.out.document({"paused": True, "until": iso(begun.ends)})
    else:
        session.out.line(f"Recording is paused {until(begun)}. {session.out.hint('To go on: recollect resume')}")
    return 0


def _end(words: list[str], now: datetime) -> datetime | None:
    """Raises InvalidInput for what is no length of time."""
    if not words:
        return None
    length = " ".join(words)
    found = _LENGTH.fullmatch(length.strip())
    if found is None or not int(found[1]):
        raise InvalidInput(f"{length!r} is not a length of time.", hint="Use 30m, 2h, 3d or 1w.")
    unit = found[2].lower()
    name = _UNITS.get(unit) or f"{unit.rstrip('s')}s"
    return now + timedelta(**{name: int(found[1])})


COMMAND = Command(
    pause,
    ("recollect pause", "recollect pause 2h"),
    words=Arguments("FOR", "length", several=True),
)
