"""`recollect check`: looks for damage, and repairs what can be repaired."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.faces.cli.parser import Command, Option
from recollect.faces.cli.session import Session
from recollect.store.invariants import Invariant

if TYPE_CHECKING:
    from recollect.store import Violation

_PLACES = 3

#: What is wrong where one of these does not hold, said as the problem that it is.
PROBLEMS = {
    Invariant.FILE_IS_WHOLE: "the file is damaged",
    Invariant.REFERENCES: "refers to something that is missing",
    Invariant.HAS_CONVERSATION: "the conversation is missing, and only its messages are left",
    Invariant.ONE_NAMESPACE: "its conversation is in another namespace",
    Invariant.HAS_PARENT: "the message before it is missing",
    Invariant.NO_CIRCLE: "comes before itself in the conversation",
    Invariant.POSITIONS: "messages of the conversation are missing",
    Invariant.ACTIVE_PATH: "shown, but the message before it is on another branch",
    Invariant.ACTIVE_END: "the last message is missing",
    Invariant.TOOL_CALL: "its message or result is missing",
    Invariant.TURN: "a question or an answer is missing",
    Invariant.TURNS_FOLLOW: "not linked to the question before it",
    Invariant.HAS_WHOLE: "part of a text that is missing",
    Invariant.CHUNKS_FOLLOW: "parts of the text are missing, or overlap",
    Invariant.ERASED: "forgotten, but some of its text is left",
    Invariant.EDGES: "a link of the graph is not drawn",
    Invariant.FINDABLE: "missing from the search index",
    Invariant.UPGRADED: "not yet in the search index after an upgrade",
    Invariant.DELETED: "deleted, but still in the search index",
    Invariant.LEADS_SOMEWHERE: "in the search index, but nowhere else",
    Invariant.ONCE: "twice in the search index",
    Invariant.IN_ONE_PLACE: "a part of the search index is lost",
    Invariant.HAS_WORDS: "not found by phrases",
    Invariant.WORDS_READABLE: "the text part of the search index is damaged",
    Invariant.TAIL_READABLE: "the newest part of the search index is damaged",
    Invariant.SEGMENTS_READABLE: "a part of the search index is damaged",
    Invariant.QUALITY: "incomplete in the quality mode",
    Invariant.PIECES_COUNTED: "counted wrongly in the quality mode",
    Invariant.SPEAKERS: "no longer speaks anywhere, but is still in the search index",
    Invariant.NOTHING_LEFT: "left over from an earlier search index",
}


def check(session: Session, repair: bool = False) -> int:
    """Look for damage, and repair it with --repair.

    Reads everything and changes nothing. With --repair it rebuilds the search index and everything else that is
    derived from the messages; the messages themselves are never changed. Exits with 1 if there are problems, or with
    --repair if some remain.
    """
    violations = session.existing_memory().check()
    mended = bool(repair and violations)
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


def _repaired(session: Session) -> list[Violation]:
    from recollect.faces.cli.progress import on_interrupt, progress
    from recollect.faces.cli.times import number

    told = session.out.hint("Nothing has changed. To continue: recollect check --repair")
    with on_interrupt(told), progress(session.out, "Repairing") as report:
        return session.memory().repair(progress=lambda done, total: report(done, total, number(done, "message")))


def _print(session: Session, violations: Sequence[Violation]) -> None:
    """A line for each kind of problem, with the first places."""
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
