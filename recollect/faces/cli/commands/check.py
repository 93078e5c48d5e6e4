"""`recollect check`: looks for damage, and repairs what can be repaired."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import StoreDamaged
from recollect.faces.cli.parser import Command, Option
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.store import Invariant, Violation

_PLACES = 3


def check(session: Session, repair: bool = False) -> int:
    """Look for damage, and repair it with --repair.

    Reads everything and changes nothing. With --repair it rebuilds the search index and everything else that is
    derived from the messages; the messages themselves are never changed. Exits with 1 if there are problems, or with
    --repair if some remain.
    """
    violations = _violations(session)
    mended = bool(repair and any(violation.remedy == "reindex" for violation in violations))
    if mended:
        _print(session, violations)
        violations = _repaired(session)
    if session.json:
        found = [{"invariant": v.invariant, "where": v.where, "count": v.count, "remedy": v.remedy} for v in violations]
        session.out.document({"ok": not violations, "repaired": mended, "violations": found})
        return 1 if violations else 0
    if not violations:
        ok = session.out.symbols.ok
        session.out.line(f"{ok} Repaired: no problems left." if mended else f"{ok} No problems found.")
        return 0
    if mended:
        session.out.line("Problems that remain after the repair:")
    _print(session, violations)
    _print_remedies(session, violations, repaired=mended)
    return 1


def _violations(session: Session) -> Sequence[Violation]:
    """What is wrong; a memory that cannot be opened is damaged."""
    try:
        return session.existing_memory().upkeep.check()
    except StoreDamaged as problem:
        from recollect.store import Invariant, Violation

        return [Violation(Invariant.FILE_IS_WHOLE, problem.message)]


def _repaired(session: Session) -> list[Violation]:
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.faces.present.times import number

    told = session.out.hint("Nothing has changed. To continue: recollect check --repair")
    with on_interrupt(told), progress(session.out, "Repairing") as report:
        return session.memory().upkeep.repair(progress=lambda done, total: report(done, total, number(done, "message")))


def _print(session: Session, violations: Sequence[Violation]) -> None:
    """A line for each kind of problem, with the first places."""
    from recollect.faces.cli.views.damage import PROBLEMS

    if session.json:
        return
    kinds: dict[Invariant, list[Violation]] = {}
    for violation in violations:
        kinds.setdefault(violation.invariant, []).append(violation)
    for kind, found in kinds.items():
        count = sum(violation.count for violation in found)
        places = [violation.where for violation in found if violation.where][:_PLACES]
        where = ", ".join(places) + (f" {session.out.symbols.more}" if len(found) > len(places) else "")
        times = f" ({count:,} times)" if count > 1 else ""
        session.out.line(f"{session.out.symbols.bad} {PROBLEMS[kind]}{times}" + (f": {where}" if where else ""))


def _print_remedies(session: Session, violations: Sequence[Violation], *, repaired: bool) -> None:
    out = session.out
    if not repaired and any(violation.remedy == "reindex" for violation in violations):
        out.note(out.hint("The search index can be rebuilt from the messages: recollect check --repair"))
    if any(violation.remedy == "backup" for violation in violations):
        is_file = isinstance(session.store, Path)
        step = "From a backup: recollect restore FILE --replace" if is_file else "Restore the database from a backup."
        out.note(out.hint(f"The messages themselves are damaged. {step}"))
        out.note(out.hint("Without one, save what can be read: recollect export FILE"))


COMMAND = Command(
    check,
    ("recollect check", "recollect check --repair"),
    (Option(("--repair",), "Rebuild what can be rebuilt.", default=False),),
)
