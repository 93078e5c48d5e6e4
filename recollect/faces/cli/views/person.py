"""Forgetting a person: what there is of them is shown in three groups, and what others say is asked for by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.terminal.session import Invocation

if TYPE_CHECKING:
    from recollect.ingest.person import Person
    from recollect.memory import Memory
    from recollect.record import Message

_SHOWN = 10
_EXCERPT = 70  # characters of a message


def forget_person(session: Invocation, memory: Memory, name: str, *, mentions: bool, dry_run: bool, yes: bool) -> int:
    """Shows what there is, asks, and forgets it; the exit code."""
    from recollect.faces.present.times import number

    if dry_run or yes:
        person = memory.forget_person(name, mentions=mentions, dry_run=dry_run)
        if dry_run and not session.json:
            _print(session, person)
    else:
        person = memory.forget_person(
            name,
            mentions=lambda shown: mentions or _agrees_to_mentions(session, shown),
            confirm=lambda shown: _agrees(session, shown),
        )
    if session.json:
        session.out.document(_as_json(person))
    elif person.removed:
        session.out.line(f"{_harmless(person.names[0])} is forgotten: {number(len(person.said), 'message')} of theirs.")
        session.out.line(session.out.hint("To see whether anything still names them: recollect search"))
    else:
        session.out.line("Nothing was removed: this was a dry run." if dry_run else "Nothing was forgotten.")
    return 0 if dry_run or person.removed else 1


def _agrees(session: Invocation, person: Person) -> bool:
    from recollect.faces.cli.terminal.progress import on_interrupt

    if session.json or not session.out.can_ask:
        raise InvalidInput(
            "Nothing was forgotten, and there is no terminal to ask on.",
            hint="Add --yes (and --mentions for what others say), or --dry-run to see what there is.",
        )
    _print(session, person)
    with on_interrupt("Nothing was forgotten."):
        return session.out.confirms("Remove what they said, and what was derived, for good?")


def _agrees_to_mentions(session: Invocation, person: Person) -> bool:
    from recollect.faces.cli.terminal.progress import on_interrupt

    if not (person.mentions or person.documents or person.titled):
        return False
    with on_interrupt("Nothing was forgotten."):
        return session.out.confirms(f"Remove {_others(person)} as well? (No keeps them, with the name in them.)")


def _print(session: Invocation, person: Person) -> None:
    from recollect.faces.present.times import number

    out = session.out
    name, *others = map(_harmless, person.names)
    also = f" (also: {', '.join(others)})" if others else ""
    out.line(out.bold(f"What {session.settings.namespace} holds of {name}{also}:"))
    out.line(f"What they said: {number(len(person.said), 'message')}")
    _list(session, _lines(person.said))
    out.line(f"What others say of them: {_others(person)}")
    documents = [_harmless(document.title) for document in person.documents]
    titles = [f"Title: {_harmless(title)}" for title in person.titles]
    _list(session, [*_lines(person.mentions), *documents, *titles])
    made = {"fact about them": len(person.facts), **{f"{kind} made of it": n for kind, n in person.derived.items()}}
    out.line(f"What was derived: {', '.join(number(n, *_plural(what)) for what, n in made.items() if n) or 'nothing'}")


def _plural(what: str) -> tuple[str, str]:
    first, _, rest = what.partition(" ")
    several = f"{first[:-1]}ies" if first.endswith("y") else f"{first}s"
    return what, f"{several} {rest}".rstrip()


def _others(person: Person) -> str:
    from recollect.faces.present.times import number

    groups = ((person.mentions, "message"), (person.documents, "document"), (person.titled, "title"))
    counted = [number(len(group), *_plural(what)) for group, what in groups if group] or ["nothing"]
    return " and ".join(filter(None, (", ".join(counted[:-1]), counted[-1])))


def _list(session: Invocation, lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        session.out.line(f"  {line}")
    if len(lines) > _SHOWN:
        session.out.line(f"  {session.out.symbols.more} and {len(lines) - _SHOWN:,} more")


def _lines(messages: Sequence[Message]) -> list[str]:
    """As in "7Q2KAB  Ana: How is Mara's flat?"."""
    found = []
    for message in messages:
        words = " ".join(message.content.split())
        shown = words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 1]}…"
        found.append(f"{message.id[-6:]}  {_harmless(message.speaker or message.role.value)}: {_harmless(shown)}")
    return found


def _harmless(text: str) -> str:
    from recollect.faces.cli.terminal.output import harmless

    return harmless(text).replace("\n", " ")


def _as_json(person: Person) -> dict[str, Any]:
    return {
        "removed": person.removed,
        "names": list(person.names),
        "said": [message.id for message in person.said],
        "mentions": [message.id for message in person.mentions],
        "documents": [document.id for document in person.documents],
        "titles": list(person.titles),
        "facts": list(person.facts),
        "derived": dict(person.derived),
    }
