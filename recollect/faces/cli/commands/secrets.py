"""`recollect secrets`: where keys, tokens and passwords stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command
from recollect.faces.cli.terminal.options import SOURCE
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.ingest.secrets import StoredSecret, TakenOut


def secrets(session: Session, source: list[str] | None = None) -> int:
    """List the keys, tokens and passwords that your conversations hold, by source.

    It says what each is and where it stands, never the secret itself: to see it, use `recollect show` with the code at
    the left. Models are given a mask in its place. To take all of them out for good: recollect forget --secrets
    """
    from recollect.faces.cli.terminal.progress import progress

    memory = session.existing_memory()
    with progress(session.out, "Reading everything"):
        found = memory.upkeep.secrets(sources=source or ())
    found.sort(key=lambda one: (one.source, str(one.timestamp or ""), one.id))
    if session.json:
        session.out.document({"secrets": [_as_json(one) for one in found]})
    else:
        for line in _lines(session, found):
            session.out.line(line)
    return 0 if found else 1


def _lines(session: Session, found: Sequence[StoredSecret]) -> Iterator[str]:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.cli.terminal.wrapping import cell_len, padded, shortened
    from recollect.faces.present.names import short, source_label, titled
    from recollect.faces.present.times import day, number

    out = session.out
    if not found:
        yield "No keys, tokens or passwords were found."
    for name, several in groupby(found, key=lambda one: one.source):
        own = list(several)
        yield out.bold(f"{source_label(name)}: {number(sum(one.count for one in own), 'secret')}")
        for one in own:
            times = f" ({one.count} times)" if one.count > 1 else ""
            place = "" if one.where == "message" else f"{one.where.replace('_', ' ')} of "
            facts = f"{day(one.timestamp):>11}  {padded(one.kind + times, 26)}"
            begin, title = f"  {short(one.id)}  ", f"{place}{harmless(titled(one.title))}"
            room = None if out.width is None else out.width - cell_len(f"{begin}{facts}  ")
            yield f"{begin}{out.dim(facts)}  {shortened(title, room)}"
    if found:
        yield out.hint("To see one: recollect show CODE. To take them all out: recollect forget --secrets")


def _as_json(one: StoredSecret) -> dict[str, Any]:
    from recollect.record import iso

    return {
        "kind": one.kind,
        "source": one.source,
        "where": one.where,
        "id": one.id,
        "conversation_id": one.conversation_id,
        "title": one.title,
        "timestamp": iso(one.timestamp),
        "count": one.count,
    }


def take_out(session: Session, source: Sequence[str], *, dry_run: bool, yes: bool) -> int:
    """`recollect forget --secrets`."""
    from recollect.faces.cli.terminal.progress import on_interrupt, progress

    memory, out = session.existing_memory(), session.out
    asked = memory.upkeep.forget_secrets(sources=source, dry_run=True)
    if not asked.secrets or dry_run:
        if session.json:
            out.document(_taken_as_json(asked, done=False))
        elif not asked.secrets:
            out.line("No keys, tokens or passwords were found; nothing was removed.")
        else:
            out.line(f"This removes {_counted(asked)}. Nothing was removed: this was a dry run.")
        return 0 if asked.secrets else 1
    if not yes:
        if session.json or not out.can_ask:
            raise InvalidInput(
                f"Nothing was removed. This would remove {_counted(asked)}, and there is no terminal to ask on.",
                hint="Add --yes to remove them, or --dry-run to see what they are.",
            )
        out.line(out.bold(f"This removes {_counted(asked)} from {session.settings.namespace}. The texts stay."))
        with on_interrupt("Nothing was removed."):
            if not out.confirms("Remove for good?"):
                out.line("Nothing was removed.")
                return 1
    with progress(out, "Removing"):
        done = memory.upkeep.forget_secrets(sources=source)
    session.state.forget()  # it repeats words and titles
    if session.json:
        out.document(_taken_as_json(done, done=True))
    else:
        out.line(f"Removed {_counted(done)}. Change them where they were used: what has been seen is not secret again.")
    return 0


def _counted(found: TakenOut) -> str:
    from recollect.faces.present.times import number

    places = number(found.messages, "message")
    if found.others:
        places += f" and {number(found.others, 'other record')}"
    return f"{number(found.secrets, 'secret')} from {places}"


def _taken_as_json(found: TakenOut, *, done: bool) -> dict[str, Any]:
    return {
        "removed": done and bool(found.secrets),
        "secrets": found.secrets,
        "kinds": dict(found.kinds),
        "messages": found.messages,
        "others": found.others,
    }


COMMAND = Command(secrets, ("recollect secrets", "recollect secrets --source claude-code --json"), (SOURCE,))
