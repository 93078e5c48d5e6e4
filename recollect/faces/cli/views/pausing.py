"""Whether recording is paused, in words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.memory.recording import Pause


def tell_pause(session: Session) -> bool:
    """Says so where nothing is recorded now; whether that is so."""
    words = pause_words()
    if words:
        session.out.line(f"{words} {session.out.hint(_HOW)}" if "paused" in words else words)
    return bool(words)


_HOW = "To go on: recollect resume"


def pause_words() -> str:
    """Why nothing is recorded now; empty where it is."""
    from recollect.memory.recording import VARIABLE, Recording, is_marked

    if is_marked(os.environ):
        return f"Nothing is recorded: {VARIABLE}=no is set."
    pause = Recording.own().paused()
    return f"Recording is paused {until(pause)}." if pause else ""


def until(pause: Pause) -> str:
    """As in "until 14:30", "until 3 Mar 2026 14:30", "until you resume"."""
    from recollect.record import utc_now

    if pause.ends is None:
        return "until you resume"
    ends, now = pause.ends.astimezone(), utc_now().astimezone()
    return f"until {ends:%H:%M}" if ends.date() == now.date() else f"until {ends:%d %b %Y %H:%M}"
