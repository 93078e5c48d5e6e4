"""`recollect check`: looks for damage, and repairs what can be repaired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.faces.cli.parser import Command, Option
from recollect.faces.cli.session import Session

if TYPE_CHECKING:
    from recollect.store import Violation

_PLACES = 3

#: What is wrong where one of these does not hold, said as the problem that it is.
_PROBLEMS = {
    "what has words is in the search index": "missing from the search index",
    "the messages of an older version are in the search index": "not yet in the search index after an upgrade",
    "what is deleted is not in the search index": "deleted, but still in the search index",
    "the search index leads to things that are there": "in the search index, but nowhere else",
    "nothing is in the search index twice": "twice in the search index",
    "every passage is in one segment or in the tail": "a part of the search index is lost",
    "every passage has its words": "not found by phrases",
    "the words of the search index can be read": "the text part of the search index is damaged",
    "the segments of the search index can be read": "a part of the search index is damaged",
    "the tail of the search index can be read": "the newest part of the search index is damaged",
    "quality vectors belong to passages, and come with their tokens": "incomplete in the quality mode",
    "the file is whole": "the file is damaged",
    "no row refers to a missing one": "refers to something that is missing",
    "what was erased has no words left": "forgotten, but some of its text is left",
    "the positions of a conversation run from 0 without gap": "messages of the conversation are missing",
    "the parent of a message is a message of the same conversation": "the message before it is missing",
    "the active path ends at the conversation's last message": "the last message is missing",
    "a chunk has its parent": "part of a text that is missing",
    "a turn names messages that are there": "a question or an answer is missing",
    "a tool call belongs to a message, and names a result that is there": "its message or result is missing",
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
    kinds: dict[str, list[Violation]] = {}
    for violation in violations:
        kinds.setdefault(violation.invariant, []).append(violation)
    for kind, found in kinds.items():
        count = sum(violation.count for violation in found)
        places = [violation.where for violation in found if violation.where][:_PLACES]
        where = ", ".join(places) + (f" {session.out.symbols.more}" if len(found) > len(places) else "")
        times = f" ({count:,} times)" if count > 1 else ""
        session.out.line(
            f"{session.out.symbols.bad} {_PROBLEMS.get(kind, f'does not hold: {kind}')}{times}"
            + (f": {where}" if where else "")
        )


def _print_remedies(session: Session, violations: Sequence[Violation], *, repaired: bool) -> None:
    out = session.out
    if not repaired and any(violation.remedy == "reindex" for violation in violations):
        out.note(out.hint("The search index can be rebuilt from the messages: recollect check --repair"))
    if any(violation.remedy == "backup" for violation in violations):
        out.note(
            out.hint(
                "The messages themselves are damaged. From a backup: recollect restore FILE --replace\n"
                "Without one, save what can be read: recollect export FILE"
            )
        )


COMMAND = Command(
    check,
    ("recollect check", "recollect check --repair"),
    (Option(("--repair",), "Rebuild what can be rebuilt.", default=False),),
)
