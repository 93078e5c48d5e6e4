"""Who works on a piece of research: one at a time, so that nothing is paid for twice.

A claim stands in the document of the research, with the time until which it holds; while the work goes on it is
renewed. It ends with the work, with its process where that ran on this machine, and else when its time is over.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from recollect.record import iso, new_id, parse_time
from recollect.runtime.processes import has_ended

#: How long a claim holds without being renewed.
LENGTH = timedelta(seconds=60)

_HELD = "held"


def claimant() -> str:
    """A name for who works now: the machine, the process, and one of several in it."""
    return f"{platform.node()}/{os.getpid()}/{new_id()}"


def claimed(kept: Mapping[str, Any], by: str, now: datetime) -> dict[str, Any]:
    """What is kept of a piece of research, held by this claimant from now on."""
    return {**kept, _HELD: [by, iso(now + LENGTH)]}


def unclaimed(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The same, held by nobody."""
    return {name: value for name, value in kept.items() if name != _HELD}


def holder(kept: Mapping[str, Any], now: datetime) -> str:
    """Who holds it; nothing where nobody does any more."""
    name, until = kept.get(_HELD) or ("", None)
    ends = parse_time(until) if until else None
    return name if ends is not None and ends > now and not _is_over(name) else ""


def _is_over(name: str) -> bool:
    """Whether that process ran here and has ended. Where this cannot be told, it has not."""
    machine, _, rest = name.rpartition("/")[0].rpartition("/")
    return machine == platform.node() and rest.isdigit() and has_ended(int(rest))
