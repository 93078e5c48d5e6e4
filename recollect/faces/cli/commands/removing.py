"""`recollect forget`, `secrets` and `delete`: hide or remove what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.invocation import Invocation, confirms_guesses, on_interrupt, progress
from recollect.faces.cli.output import cell_len, harmless, padded, shortened
from recollect.faces.cli.parser import BEFORE, SINCE, SOURCE, UNTIL, Arguments, Command, Option, period
from recollect.faces.present.names import day, meant, names_meant, number, short, source_label, titled
from recollect.faces.present.views import as_json

if TYPE_CHECKING:
    from recollect.ingest.forget import Forgotten
    from recollect.ingest.person import Person
    from recollect.ingest.secrets import StoredSecret, TakenOut
    from recollect.memory import Memory
    from recollect.record import Message


_SHOWN = 10  # lines of a list
_EXCERPT = 70  # characters of a message
_HOW_TO_REMOVE = "Add --yes to remove them, or --dry-run to see what they are."


def forget_person(run: Invocation, memory: Memory, name: str, *, mentions: bool, dry_run: bool, yes: bool) -> int:
    """Shows what there is, asks, and forgets it; the exit code."""
    if dry_run or yes:
        person = memory.forget_person(name, mentions=mentions, dry_run=dry_run)
        if dry_run and not run.json:
            for line in _lines_of(run, person):
                run.out.line(line)
    else:
        person = memory.forget_person(
            name,
            mentions=lambda shown: mentions or _agrees_to_mentions(run, shown),
            confirm=lambda shown: _agrees(run, shown),
        )
    if run.json:
        run.out.document(person)
    elif person.removed:
        run.out.line(f"{_harmless(person.names[0])} is forgotten: {number(len(person.said), 'message')} of theirs.")
        run.out.line(run.out.hint("To see whether anything still names them: recollect search"))
    else:
        run.out.line("Nothing was removed: this was a dry run." if dry_run else "Nothing was forgotten.")
    return 0 if dry_run or person.removed else 1


def _agrees(run: Invocation, person: Person) -> bool:
    what = f"what {person.names[0]} said, and what was derived"
    hint = "Add --yes (and --mentions for what others say), or --dry-run to see what there is."
    return run.confirms(what, "Remove what they said, and what was derived, for good?", hint, _lines_of(run, person))


def _agrees_to_mentions(run: Invocation, person: Person) -> bool:
    if not (person.mentions or person.documents or person.titled):
        return False
    with on_interrupt("Nothing was forgotten."):
        return run.out.confirms(f"Remove {_others(person)} as well? (No keeps them, with the name in them.)")


def _lines_of(run: Invocation, person: Person) -> Iterator[str]:
    """What there is of a person."""
    name, *others = map(_harmless, person.names)
    also = f" (also: {', '.join(others)})" if others else ""
    yield run.out.bold(f"What {run.settings.namespace} holds of {name}{also}:")
    yield f"What they said: {number(len(person.said), 'message')}"
    yield from _first(run, _lines(person.said))
    yield f"What others say of them: {_others(person)}"
    documents = [_harmless(document.title) for document in person.documents]
    titles = [f"Title: {_harmless(title)}" for title in person.titles]
    yield from _first(run, [*_lines(person.mentions), *documents, *titles])
    made = {"fact about them": len(person.facts), **{f"{kind} made of it": n for kind, n in person.derived.items()}}
    yield f"What was derived: {', '.join(number(n, *_plural(what)) for what, n in made.items() if n) or 'nothing'}"


def _plural(what: str) -> tuple[str, str]:
    first, _, rest = what.partition(" ")
    several = f"{first[:-1]}ies" if first.endswith("y") else f"{first}s"
    return what, f"{several} {rest}".rstrip()


def _others(person: Person) -> str:
    groups = ((person.mentions, "message"), (person.documents, "document"), (person.titled, "title"))
    counted = [number(len(group), *_plural(what)) for group, what in groups if group] or ["nothing"]
    return " and ".join(filter(None, (", ".join(counted[:-1]), counted[-1])))


def _first(run: Invocation, lines: Sequence[str], count: int = 0) -> Iterator[str]:
    """The first of some lines, and how many there are besides; `count` of all, where these are not all."""
    yield from (f"  {line}" for line in lines[:_SHOWN])
    if (rest := max(count, len(lines)) - len(lines[:_SHOWN])) > 0:
        yield f"  {run.out.symbols.more} and {rest:,} more"


def _lines(messages: Sequence[Message]) -> list[str]:
    """As in "7Q2KAB  Ana: How is Mara's flat?"."""
    found = []
    for message in messages:
        words = " ".join(message.content.split())
        shown = words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 1]}…"
        found.append(f"{message.id[-6:]}  {_harmless(message.speaker or message.role.value)}: {_harmless(shown)}")
    return found


def _harmless(text: str) -> str:
    return harmless(text).replace("\n", " ")


def forget(
    run: Invocation,
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
            run, source or (), dry_run=dry_run, yes=yes, more=bool(what or since or until or before or everything)
        )
    memory = run.existing_memory()
    if person is not None or mentions:
        if what or source or since or until or before or everything or person is None:
            raise InvalidInput("--person is used alone, with --mentions at most.")
        return forget_person(run, memory, person, mentions=mentions, dry_run=dry_run, yes=yes)
    chosen = _chosen(what or (), source or (), since, until, before, everything=everything)
    names = _ids(run, memory, what or (), asks=not yes or dry_run)
    if dry_run:
        return _print_dry_run(run, memory.forget(*names, **chosen, dry_run=True))
    with _Asking(run, asks=not yes) as asking:
        done = memory.forget(*names, **chosen, confirm=asking)
    if not _anything(done):
        return _print_nothing(run, done, matched=_anything(asking.shown))
    run.state.forget()  # it repeats words and titles of what is gone
    _print_done(run, asking.shown, done)
    return 0


def _forget_secrets(run: Invocation, source: Sequence[str], *, dry_run: bool, yes: bool, more: bool) -> int:

    if more:
        raise InvalidInput(
            "--secrets removes all of them, or those of a --source.", hint="Leave out what else you chose."
        )
    return take_out(run, source, dry_run=dry_run, yes=yes)


class _Asking(ExitStack):
    """Shows what would go and asks, unless it is not to; then shows for as long as its `with` goes on that it goes."""

    shown: Forgotten

    def __init__(self, run: Invocation, *, asks: bool) -> None:
        super().__init__()
        self._run, self._asks = run, asks

    def __call__(self, found: Forgotten) -> bool:
        self.shown = found
        if not _anything(found) or (self._asks and not self._is_confirmed(found)):
            return False
        self.enter_context(progress(self._run.out, "Removing"))
        return True

    def _is_confirmed(self, found: Forgotten) -> bool:
        return self._run.confirms(_counted(found), "Remove for good?", _HOW_TO_REMOVE, _plan(self._run, found))


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


def _ids(run: Invocation, memory: Memory, what: Sequence[str], *, asks: bool) -> list[str]:
    """What is meant. Raises InvalidInput for a guess that would not be shown before it goes."""
    found = [meant(memory, name) for name in names_meant(memory, what)]
    if not asks:
        confirms_guesses(run, found, "Forget", asks=False)
    return [one.id for one in found]


def _anything(found: Forgotten) -> bool:
    return bool(found.conversations or found.messages or found.documents or found.nodes)


def _print_nothing(run: Invocation, found: Forgotten, *, matched: bool = False) -> int:
    run.show(
        lambda: as_json(found) | {"removed": False},
        "Nothing was forgotten." if matched else "Nothing matches; nothing was forgotten.",
    )
    return 1


def _print_dry_run(run: Invocation, found: Forgotten) -> int:
    if not _anything(found):
        return _print_nothing(run, found)
    if not run.in_json(lambda: as_json(found) | {"removed": False}):
        for line in _plan(run, found):
            run.out.line(line)
        run.out.line("Nothing was removed: this was a dry run.")
    return 0


def _print_done(run: Invocation, shown: Forgotten, done: Forgotten) -> None:

    out = run.out
    if run.in_json(lambda: as_json(done) | {"removed": True}):
        return
    back = out.hint("To bring it back from an export: recollect import --again PATH")
    out.line(out.joined(f"Removed {_counted(done)}.", back))
    if done.touched - done.conversations > shown.touched - shown.conversations:
        out.line("What was added meanwhile is still there.")


def _plan(run: Invocation, found: Forgotten) -> Iterator[str]:
    """What would go, with the first titles."""
    yield run.out.bold(f"This removes {_counted(found)} from {run.settings.namespace}:")
    yield from _first(run, [_harmless(titled(title)) for title in found.titles[:_SHOWN]], found.touched)


def _counted(found: Forgotten) -> str:
    """As in "1 conversation with 8 messages", "41 messages of 3 conversations (2 of them whole) and 1 document"."""
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


FORGET = Command(
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


def secrets(run: Invocation, source: list[str] | None = None) -> int:
    """List the keys, tokens and passwords that your conversations hold, by source.

    It says what each is and where it stands, never the secret itself: to see it, use `recollect show` with the code at
    the left. Models are given a mask in its place. To take all of them out for good: recollect forget --secrets
    """
    memory = run.existing_memory()
    with progress(run.out, "Reading everything"):
        found = memory.upkeep.secrets(sources=source or ())
    found.sort(key=lambda one: (one.source, str(one.timestamp or ""), one.id))
    if not run.in_json(lambda: {"secrets": found}):
        for line in _lines_secrets(run, found):
            run.out.line(line)
    return 0 if found else 1


def _lines_secrets(run: Invocation, found: Sequence[StoredSecret]) -> Iterator[str]:
    out = run.out
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


def take_out(run: Invocation, source: Sequence[str], *, dry_run: bool, yes: bool) -> int:
    """`recollect forget --secrets`."""
    memory, out = run.existing_memory(), run.out
    asked = memory.upkeep.forget_secrets(sources=source, dry_run=True)
    if not asked.secrets or dry_run:
        run.show(
            lambda: as_json(asked) | {"removed": False},
            "No keys, tokens or passwords were found; nothing was removed."
            if not asked.secrets
            else f"This removes {_counted_secrets(asked)}. Nothing was removed: this was a dry run.",
        )
        return 0 if asked.secrets else 1
    if not yes:
        plan = out.bold(f"This removes {_counted_secrets(asked)} from {run.settings.namespace}. The texts stay.")
        if not run.confirms(_counted_secrets(asked), "Remove for good?", _HOW_TO_REMOVE, [plan]):
            out.line("Nothing was removed.")
            return 1
    with progress(out, "Removing"):
        done = memory.upkeep.forget_secrets(sources=source)
    run.state.forget()  # it repeats words and titles
    run.show(
        lambda: as_json(done) | {"removed": bool(done.secrets)},
        f"Removed {_counted_secrets(done)}. Change them where they were used: they are no longer secret.",
    )
    return 0


def _counted_secrets(found: TakenOut) -> str:
    places = number(found.messages, "message")
    if found.others:
        places += f" and {number(found.others, 'other record')}"
    return f"{number(found.secrets, 'secret')} from {places}"


SECRETS = Command(secrets, ("recollect secrets", "recollect secrets --source claude-code --json"), (SOURCE,))


def delete(run: Invocation, what: list[str]) -> int:
    """Hide messages or whole conversations.

    They no longer appear in searches, lists and counts, and importing again does not bring them back; `recollect
    restore` does. The text stays in the memory's file. What a part of a title means is shown first, and you are asked.
    To remove something for good: recollect forget
    """
    memory = run.existing_memory()
    found = [meant(memory, name) for name in names_meant(memory, what)]
    ids = [one.id for one in found]
    if not confirms_guesses(run, found, "Delete"):
        run.out.line("Nothing was deleted.")
        return 1
    hidden = memory.delete(*ids)
    if run.json:
        run.out.document({"deleted": hidden})
    elif not hidden:
        run.out.line("Nothing was deleted: this is deleted already.")
    else:
        titles = dict.fromkeys(f'"{harmless(titled(one.title))}"' for one in found)
        undo = run.out.hint(f"recollect restore {' '.join(map(short, ids))}")
        done = f"Deleted {number(hidden, 'message')} of {', '.join(titles)}."
        run.out.line(run.out.joined(done, f"To undo: {undo}"))
    return 0 if hidden else 1


DELETE = Command(
    delete,
    ("recollect delete 7Q2KAB", 'recollect delete "Weekend baking plan"'),
    words=Arguments("ID|TITLE", "what", required=True, several=True),
)
