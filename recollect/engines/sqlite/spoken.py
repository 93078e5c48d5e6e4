"""Who speaks in a namespace, and in which years, as of a view."""

from __future__ import annotations

from datetime import UTC, datetime

import apsw

from recollect.record import to_microseconds

SPEAKERS = """
SELECT s.name FROM speaker s WHERE s.ns = ?1
  AND EXISTS (SELECT 1 FROM message m WHERE m.ns = ?1 AND m.speaker = s.name AND NOT m.deleted) ORDER BY s.name
"""
# The first of what was said from a moment on.
NEXT = """
SELECT timestamp FROM message
WHERE ns = ?1 AND coalesce(timestamp, -9223372036854775808) >= ?2 AND kind = 'said' AND NOT deleted
ORDER BY coalesce(timestamp, -9223372036854775808) LIMIT 1
"""

_MICROSECONDS = 1_000_000
_FIRST_YEAR, _LAST_YEAR = 1, 9999


def speakers(connection: apsw.Connection, ns: int) -> list[str]:
    """The names of people who speak in messages that are not deleted."""
    return [row[0] for row in connection.execute(SPEAKERS, (ns,))]


def years(connection: apsw.Connection, ns: int) -> list[int]:
    """The years in which something was said: a look-up each."""
    found: list[int] = []
    after = to_microseconds(datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC))
    while (moment := connection.execute(NEXT, (ns, after)).get) is not None:
        year = datetime.fromtimestamp(moment // _MICROSECONDS, UTC).year
        found.append(year)
        if year == _LAST_YEAR:
            break
        after = to_microseconds(datetime(year + 1, 1, 1, tzinfo=UTC))
    return found
