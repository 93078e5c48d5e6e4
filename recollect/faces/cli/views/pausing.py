"""Says that recording is paused."""

from __future__ import annotations

from recollect.faces.cli.terminal.session import Invocation


def tell_pause(session: Invocation) -> bool:
    """Says so where nothing is recorded now; whether that is so."""
    from recollect.faces.present.pausing import pause_words

    words = pause_words()
    if words and not session.json:
        hint = "" if "=no" in words else f" {session.out.hint('To go on: recollect resume')}"
        session.out.line(words + hint)
    return bool(words)
