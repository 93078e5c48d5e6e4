"""What is said where nothing was derived, or not yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.consolidate.outbox import CONVERSATION

if TYPE_CHECKING:
    from recollect.faces.cli.session import Session
    from recollect.memory import Memory


def none_found(session: Session, memory: Memory, line: str) -> None:
    """Says that there is none, and what to do where messages still wait to be gone through."""
    session.out.line(line)
    if any(task.kind == CONVERSATION for task, _ in memory.tasks("due")):
        hint = "Not all messages have been gone through yet. To do that now: recollect worker --once"
        session.out.note(session.out.hint(hint))
