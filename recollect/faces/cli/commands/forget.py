"""`recollect forget`: removes messages for good, with everything derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Arguments, Command, Option
from recollect.faces.cli.terminal.options import BEFORE, SINCE, SOURCE, UNTIL
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.person import forget_person

if TYPE_CHECKING:
    from recollect.ingest.forget import Forgotten
    from recollect.memory import Memory

_SHOWN = 10


def forget(
    session: Invocation,
    what: list[str] | None = None,
    source: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    person: str | None = None,
    mentions: bool = False,
    everything: bool = False,
    secrets: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> int:
    """Remove messages or whole conversations for good.

    Name them by id or title (the last characters of an id are enough), or choose them by --source, --since, --until or
    --before ("6 months ago"); all conditions must hold. It shows what will be removed, and asks; with --yes a title
    must be whole. The text is removed from the memory, its search index and its files, and stays away when you import
    the same export again, unless you use `recollect import --again`.

    With --secrets only the keys, tokens and passwords in the texts are removed (recollect secrets lists them).

    With --person it is what somebody said under any name that is known to be theirs, and what was derived of them; what
    others say of them is listed and asked for by itself. To only hide something: recollect delete
    """
    if secrets:
        return _forget_secrets(
            session, source or (), dry_run=dry_run, yes=yes, more=bool(what or since or until or before or everything)
        )
    memory = session.existing_memory()
    if person is not None or mentions:
        if what or source or since or until or before or everything or person is None:
            raise InvalidInput("--person is used alone, with --mentions at most.")
        return forget_person(session, memory, person, mentions=mentions, dry_run=dry_run, yes=yes)
    chosen = _chosen(what or (), source or (), since, until, before, everything=everything)
    names = _ids(session, memory, what or (), asks=not yes or dry_run)
    if dry_run:
        return _print_dry_run(session, memory.forget(*names, **chosen, dry_run=True))
    with _Asking(session, asks=not yes) as asking:
        done = memory.forget(*names, **chosen, confirm=asking)
    if not _anything(done):
        return _print_nothing(session, done, matched=_anything(asking.shown))
    session.state.forget()  # it repeats words and titles of what is gone
    _print_done(session, asking.shown, done)
    return 0


def _forget_secrets(session: Invocation, source: Sequence[str], *, dry_run: bool, yes: bool, more: bool) -> int:
    from recollect.faces.cli.commands.secrets import take_out

    if more:
        raise InvalidInput(
            "--secrets removes all of them, or those of a --source.", hint="Leave out what else you chose."
        )
    return take_out(session, source, dry_run=dry_run, yes=yes)


class _Asking(ExitStack):
    """Shows what would go and asks, unless it is not to; then shows for as long as its `with` goes on that it goes."""

    shown: Forgotten

    def __init__(self, session: Invocation, *, asks: bool) -> None:
        super().__init__()
        self._session, self._asks = session, asks

    def __call__(self, found: Forgotten) -> bool:
        from recollect.faces.cli.terminal.progress import progress

        self.shown = found
        if not _anything(found) or (self._asks and not _confirmed(self._session, found)):
            return False
        self.enter_context(progress(self._session.out, "Removing"))
        return True


def _confirmed(session: Invocation, found: Forgotten) -> bool:
    from recollect.faces.cli.terminal.progress import on_interrupt

    if session.json or not session.out.can_ask:
        raise InvalidInput(
            f"Nothing was forgotten. This would remove {_counted(found)}, and there is no terminal to ask on.",
            hint="Add --yes to remove them, or --dry-run to see what they are.",
        )
    _print_plan(session, found)
    with on_interrupt("Nothing was forgotten."):
        return session.out.confirms("Remove for good?")


def _chosen(
    what: Sequence[str],
    source: Sequence[str],
    since: str | None,
    until: str | None,
    before: str | None,
    *,
    everything: bool,
) -> dict[str, Any]:
    """The filters, as the façade takes them. Raises InvalidInput where it is not clear what is to go."""
    from recollect.faces.cli.terminal.options import period

    filtered = bool(source) or any(time is not None for time in (since, until, before))
    if everything and (what or filtered):
        raise InvalidInput("--all means everything.", hint="Leave it out to choose by names and filters.")
    if not (what or filtered or everything):
        raise InvalidInput(
            "Nothing to forget: name something or choose it by a filter.",
            hint="Give an ID or a title, or use --source, --since, --until, --before or --all.",
        )
    first, last = period(since, until, before)
    return {
        "sources": list(source),
        "since": first,
        "until": last,
        "everything": everything,
    }


def _ids(session: Invocation, memory: Memory, what: Sequence[str], *, asks: bool) -> list[str]:
    """What is meant. Raises InvalidInput for a guess that would not be shown before it goes."""
    from recollect.faces.cli.terminal.guessed import agrees
    from recollect.faces.present.names import meant, names_meant

    found = [meant(memory, name) for name in names_meant(memory, what)]
    if not asks:
        agrees(session, found, "Forget", asks=False)
    return [one.id for one in found]


def _anything(found: Forgotten) -> bool:
    return bool(found.conversations or found.messages or found.documents or found.nodes)


def _print_nothing(session: Invocation, found: Forgotten, *, matched: bool = False) -> int:
    if session.json:
        session.out.document(_as_json(found, done=False))
    else:
        session.out.line("Nothing was forgotten." if matched else "Nothing matches; nothing was forgotten.")
    return 1


def _print_dry_run(session: Invocation, found: Forgotten) -> int:
    if not _anything(found):
        return _print_nothing(session, found)
    if session.json:
        session.out.document(_as_json(found, done=False))
    else:
        _print_plan(session, found)
        session.out.line("Nothing was removed: this was a dry run.")
    return 0


def _print_done(session: Invocation, shown: Forgotten, done: Forgotten) -> None:
    from recollect.faces.cli.terminal.layout import joined

    out = session.out
    if session.json:
        out.document(_as_json(done, done=True))
        return
    back = out.hint("To bring it back from an export: recollect import --again PATH")
    out.line(joined(f"Removed {_counted(done)}.", back, out))
    if done.touched - done.conversations > shown.touched - shown.conversations:
        out.line("What was added meanwhile is still there.")


def _print_plan(session: Invocation, found: Forgotten) -> None:
    out = session.out
    out.line(out.bold(f"This removes {_counted(found)} from {session.settings.namespace}:"))
    for line in _titles(found, out.symbols.more):
        out.line(f"  {line}")


def _titles(found: Forgotten, more: str) -> Iterator[str]:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import titled

    shown = found.titles[:_SHOWN]
    for title in shown:
        yield harmless(titled(title)).replace("\n", " ")
    if found.touched > len(shown):
        yield f"{more} and {found.touched - len(shown):,} more"


def _counted(found: Forgotten) -> str:
    """As in "1 conversation with 8 messages", "41 messages of 3 conversations (2 of them whole) and 1 document"."""
    from recollect.faces.present.times import number

    counted = []
    messages, conversations = number(found.messages, "message"), number(found.touched, "conversation")
    if found.touched and found.conversations == found.touched:
        counted.append(f"{conversations} with {messages}")
    elif found.conversations:
        counted.append(f"{messages} of {conversations} ({found.conversations:,} of them whole)")
    elif found.messages:
        counted.append(f"{messages} of {conversations}")
    if found.documents:
        counted.append(number(found.documents, "document"))
    if found.nodes:
        counted.append(f"{number(found.nodes, 'note')} derived from them")
    return " and ".join(counted)


def _as_json(found: Forgotten, *, done: bool) -> dict[str, Any]:
    return {
        "removed": done,
        "conversations": found.conversations,
        "messages": found.messages,
        "documents": found.documents,
        "nodes": found.nodes,
        "touched": found.touched,
        "titles": list(found.titles),
    }


COMMAND = Command(
    forget,
    (
        "recollect forget 7Q2KAB",
        'recollect forget "Letter to the landlord" --dry-run',
        "recollect forget --source chatgpt --until 2023",
        'recollect forget --source "claude code" --before "6 months ago"',
        "recollect forget --person Mara",
    ),
    (
        SOURCE,
        SINCE,
        UNTIL,
        BEFORE,
        Option(("--secrets",), "Only the keys, tokens and passwords in the texts.", default=False),
        Option(("--person",), "What this person said, and what was derived of them.", "NAME"),
        Option(("--mentions",), "With --person: also what others say of them.", default=False),
        Option(("--all",), "Everything in the namespace.", name="everything", default=False),
        Option(("--dry-run",), "Show what would be removed, and change nothing.", default=False),
        Option(("--yes", "-y"), "Do not ask.", default=False),
    ),
    Arguments("ID|TITLE", "what", several=True),
)
