"""`recollect resume`: records again."""

from __future__ import annotations

from recollect.faces.cli.parser import Command
from recollect.faces.cli.terminal.session import Invocation


def resume(session: Invocation) -> int:
    """Record again. What was said during the pause stays out."""
    from recollect.faces.present.times import duration
    from recollect.memory.recording import Recording
    from recollect.record import iso

    ended = Recording.own().resume()
    if session.json:
        session.out.document({"resumed": ended is not None, "began": iso(ended.began) if ended else None})
    elif ended is None or ended.ends is None:
        session.out.line("Recording was not paused.")
    else:
        length = duration(ended.ends - ended.began)
        session.out.line(f"Recording again. What was said in the {length} of the pause stays out.")
    return 0 if ended else 1


COMMAND = Command(resume, ("recollect resume",))
