"""What is said where nothing is found since there is nothing yet: no messages, or nothing derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.derive.tasks.outbox import CONVERSATION
from recollect.faces.present.times import number

if TYPE_CHECKING:
    from recollect.faces.cli.terminal.session import Session
    from recollect.memory import Memory


def told_empty(session: Session) -> bool:
    """Whether no message and no document is in the memory; if so it is said, with what to do."""
    memory = session.memory()
    stats = memory.upkeep.stats()
    if stats.by_source or stats.documents:
        return False
    if stats.facts:
        there = f"no messages and {number(stats.facts, 'fact')}"
        session.out.line(f"Nothing found: there are {there} (in {memory.namespace}).")
        session.out.note(session.out.hint("To list them: recollect facts. To add messages: recollect import PATH"))
        return True
    session.out.line(f"Nothing found: your memory is empty (in {memory.namespace}).")
    session.out.note(session.out.hint("To fill it: recollect import PATH. To try it out first: recollect demo"))
    return True


def none_found(session: Session, memory: Memory, line: str) -> None:
    """Says that there is none, and what to do where messages still wait to be gone through."""
    session.out.line(line)
    if any(task.kind == CONVERSATION for task, _ in memory.upkeep.tasks("due")):
        hint = "Not all messages have been gone through yet. To do that now: recollect worker --once"
        session.out.note(session.out.hint(hint))
