"""What a model will be asked and what that will cost, told before it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.derive.tasks.backlog import Backlog
    from recollect.memory import Memory


def tell_backlog(session: Session, memory: Memory, namespaces: Sequence[str]) -> None:
    """Notes what is about to be asked, where anything is."""
    found = memory.upkeep.backlog(namespaces=namespaces) if namespaces else None
    if found is not None and found.estimate.calls and not session.json:
        for line in _lines(session, found):
            session.out.note(line)


def show_backlog(session: Session, memory: Memory, namespaces: Sequence[str]) -> int:
    """Prints what would be asked; returns the exit code."""
    found = memory.upkeep.backlog(namespaces=namespaces) if namespaces else None
    out = session.out
    if session.json:
        out.document({"model": session.settings.background_model or None} | _as_json(found))
    elif found is None:
        out.line(out.hint("No language model is set, so none would be asked: recollect worker --dry-run --model NAME"))
    elif not found.estimate.calls:
        out.line("Nothing waits for the model.")
    else:
        for line in _lines(session, found):
            out.line(line)
    return 0


def _as_json(found: Backlog | None) -> dict[str, Any]:
    waiting = ("requests", "conversations", "messages")
    numbers = {name: getattr(found, name) if found else 0 for name in waiting}
    if found is None:
        return numbers | {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": None, "days": None}
    return numbers | asdict(found.estimate)


def _lines(session: Session, found: Backlog) -> list[str]:
    from recollect.faces.present.times import number

    told = found.estimate
    cost = "at a price that is not known here" if told.cost is None else f"about ${_rounded(told.cost)}"
    tokens = f"{told.input_tokens:,} tokens to send and {told.output_tokens:,} to get"
    lines = [f"{session.settings.background_model}: about {number(told.calls, 'call')}, {tokens}, {cost}."]
    if told.days and told.days > 1:
        lines.append(
            f"Within the daily budget this takes about {told.days:,} days (recollect config shows the budget)."
        )
    return lines


def _rounded(cost: float) -> str:
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}"
