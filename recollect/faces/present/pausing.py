"""Whether recording is paused, in words."""

from __future__ import annotations

import os

from recollect.memory.recording import VARIABLE, Pause, Recording, is_marked
from recollect.record import utc_now


def pause_words() -> str:
    """Why nothing is recorded now, as in "Recording is paused until 14:30."; empty where it is. Raises StoreError."""
    if is_marked(os.environ):
        return f"Nothing is recorded: {VARIABLE}=no is set."
    pause = Recording.own().paused()
    return f"Recording is paused {until(pause)}." if pause else ""


def until(pause: Pause) -> str:
    """As in "until 14:30", "until 3 Mar 2026 14:30", "until you resume"."""
    if pause.ends is None:
        return "until you resume"
    ends, now = pause.ends.astimezone(), utc_now().astimezone()
    return f"until {ends:%H:%M}" if ends.date() == now.date() else f"until {ends.day} {ends:%b %Y %H:%M}"
