"""`recollect search`, its results on the screen, and what to say where nothing is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.faces.cli.invocation import Invocation, shell_quoted
from recollect.faces.cli.output import Output, harmless, padded, shortened, wrapped_words
from recollect.faces.cli.parser import MODE, SOURCE, TIMES, Arguments, Command, Option, one_of, period, whole, words_of
from recollect.faces.present.names import (
    SIGNALS,
    day,
    documents_named,
    moment_after,
    number,
    parts_named,
    short,
    source_label,
    speaker,
    titled,
    words_and_related,
)
from recollect.memory.settings import MOST_RESULTS
from recollect.record import REPORTS

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.search.query.request import Filters, GroupBy, Mode, Sort
    from recollect.search.results.result import DerivedHit, DocumentHit, Hit, MessageHit, SearchResults, Why


_ROLES = ("user", "assistant", "system", "tool")
_KINDS = ("attachment", "artifact", "reasoning", "tool", "context", "subagent", "document", "all")
_GROUPS = ("conversation", "message")
_NO_QUERY = ("There is nothing to search for.", 'Give words: recollect search "sourdough hydration"')
_SORTS = ("relevance", "newest")


def search(
    run: Invocation,
    query: list[str],
    source: list[str],
    role: list[str],
    kind: list[str],
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    in_: str | None = None,
    literal: bool = False,
    sort: Sort = "relevance",
    limit: int | None = None,
    group_by: GroupBy = "conversation",
    mode: Mode = "auto",
    full: bool = False,
    why: bool = False,
    open_: int | None = None,
    offset: int = 0,
) -> int:
    """Find messages by meaning, words and time.

    The query may hold filters: source:claude since:2025-03 before:2025-06 role:user in:"a title" kind:tool. Put
    "double quotes" around words that belong together, within single quotes for the shell; -word leaves out messages
    with that word. `-` alone reads the query from standard input. Afterwards `recollect show 1` opens the first result.
    """
    from recollect.search.query.request import Filters

    asked = FilteredQuery(
        words_of(query, _NO_QUERY),
        Filters.of(
            source=source, role=role, kind=kind, since=since, until=until, before=before, conversation=in_, mode=mode
        ),
        literal,
    )
    period(since, until, before)  # what is wrong with them is told in the words of the options
    found = run.existing_memory().search(
        asked.query,
        limit=limit or run.settings.limit,
        group_by=group_by,
        sort=sort,
        offset=offset,
        **asked.options,
    )
    run.state.remember_search(found)
    if open_ is not None:
        from recollect.faces.cli.commands.reading import show

        return show(run, [str(open_)])
    _print(run, asked, found, by_message=group_by == "message", full=full, why=why)
    return 0 if _is_shown(found) else 1


@dataclass(frozen=True)
class FilteredQuery:
    """The query with the filters that stand beside it."""

    query: str
    filters: Filters
    literal: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """As the façade takes them."""
        return self.filters.given | {"literal": self.literal}

    def as_typed(self) -> str:
        """The filters as options: "--source claude"."""
        told = self.filters
        several = [
            f"--{name} {shell_quoted(value)}" for name in ("source", "role", "kind") for value in getattr(told, name)
        ]
        named = {"since": told.since, "until": told.until, "before": told.before, "in": told.conversation}
        given = [f"--{name} {shell_quoted(str(value))}" for name, value in named.items() if value]
        return " ".join([*several, *given, *(["--literal"] if self.literal else [])])


def _print(
    run: Invocation, asked: FilteredQuery, found: SearchResults, *, by_message: bool, full: bool, why: bool
) -> None:
    if run.json:
        run.out.document(found)
    elif _is_shown(found):
        print_hits(found, run.out, by_message=by_message, full=full, why=why)
    else:
        _print_nothing(run, asked, found)
        print_notes(found, run.out)


def _is_shown(found: SearchResults) -> bool:
    """Whether there is anything to show, be it that only a fact or a summary tells of it."""
    return bool(found or found.documents or found.derived)


def _print_nothing(run: Invocation, asked: FilteredQuery, found: SearchResults) -> None:
    """Says where nothing was found, and what another way of asking would find."""
    from recollect.faces.present.results import EmptyResults

    out = run.out
    if print_empty_hint(run):
        return
    if found.total:
        out.line(f"No further results: there are {found.total}.")
        return
    nothing = EmptyResults(run.memory(), found, asked.query, asked.options)
    out.line(f"Nothing found in {nothing.searched}.")
    if nothing.meant:
        out.line(f"Did you mean: {nothing.meant[0]} ({nothing.meant[1]})")
    if nothing.unfiltered:
        out.line(f"  without {asked.as_typed() or 'the filters'}: {nothing.unfiltered[1]}")


SEARCH = Command(
    search,
    (
        "recollect search that sourdough hydration trick",
        'recollect search "rate limit" --source claude --since 2025-03 --role user',
        "recollect search 'source:chatgpt since:2024 \"exact phrase\" -word'",
        "pbpaste | recollect search -",
    ),
    (
        SOURCE,
        Option(("--role",), "Only what this role said: user or assistant.", "ROLE", several=True, values=_ROLES),
        Option(
            ("--kind",),
            f"Search this kind: {', '.join(_KINDS)}.",
            "KIND",
            several=True,
            values=_KINDS,
        ),
        *TIMES,
        Option(("--in",), "Only in this conversation, or all with this in the title.", "TITLE|ID", name="in_"),
        Option(("--literal",), "Exact phrase only: no word forms, no semantic matches.", default=False),
        Option(("--sort",), "relevance or newest.", "ORDER", default="relevance", read=one_of(*_SORTS), values=_SORTS),
        Option(("--limit", "-n"), "How many results; 10 unless configured.", "N", read=whole(1, MOST_RESULTS)),
        Option(
            ("--offset",), "Further results: the number that the last ones end with.", "N", default=0, read=whole(0)
        ),
        Option(
            ("--group-by",),
            "conversation, or message: one result for each message.",
            "WHAT",
            default="conversation",
            read=one_of(*_GROUPS),
            values=_GROUPS,
        ),
        MODE,
        Option(("--full",), "Every result with its messages, not only the first three.", default=False),
        Option(("--why",), "Explain why each message matched.", default=False),
        Option(("--open",), "Show the Nth result at once.", "N", name="open_", read=whole(1)),
    ),
    Arguments("QUERY", "query", required=True, several=True, dashes=True),
)


IN_FULL = 3  #: results that are shown with their messages

_MESSAGES = 2  # of each of them, unless all are wanted
_WHO = 11  # cells for the name of who speaks
_INDENT = 5
_TITLE = 24  # cells for that of a conversation that is summarised
_NARROW = 20  # an excerpt gets no less


def print_hits(
    found: SearchResults,
    out: Output,
    *,
    by_message: bool = False,
    full: bool = False,
    why: bool = False,
    next_steps: bool = True,
) -> None:
    """Prints the results and a line about them, with what could be done next; `full`: none on a single line."""
    if found.corrected:
        only = out.hint(f"recollect search --literal {shell_quoted(found.query)}")
        out.line(out.joined(f"Showing results for {found.corrected}.", f'Only "{found.query}": {only}'))
    if not found.close and (found or found.documents):
        out.line("Nothing matches closely. The nearest results:")
    for known in found.derived:
        out.line(_derived_line(known, out))
    for place, hit in enumerate(found, 1):
        if full or place <= IN_FULL:
            _print_hit(place, hit, out, most=None if full else _MESSAGES, why=why)
        else:
            out.line(_one_line(place, hit, out, by_message=by_message))
    if found.documents:
        _print_documents(found.documents, out, first=len(found) + 1, why=why)
    first = "1" if found or found.documents else short(found.derived[0].messages[0].id)
    steps = [out.hint(f"recollect show {first}"), *([f"--offset {found.next}"] if found.next is not None else [])]
    steps += [*(() if full or len(found) <= IN_FULL else ("--full",)), "--why", "--json"]
    after = out.dotted(*steps)
    summary = _summary(found, out, by_message=by_message)
    out.line(out.dim(summary + out.gap(summary, after) + after if next_steps else summary))
    if found.suggestion and not found.corrected:
        out.line(f"Did you mean: {found.suggestion}")
    print_notes(found, out)


def _print_documents(hits: Sequence[DocumentHit], out: Output, *, first: int, why: bool) -> None:
    """Prints documents that were found, numbered from `first` on, each with its place and an excerpt."""
    heading = ""
    for place, hit in enumerate(hits, first):
        if hit.document.source == REPORTS and heading != (heading := documents_named(REPORTS)):
            out.line(out.bold(f"{heading}:"))
        cited = harmless(hit.cited).replace("\n", " ")
        where = out.dotted(source_label(hit.document.source), day(hit.document.created))
        where += f"  {short(hit.document.id)}"
        out.line(f"{place}  {out.bold(cited)}{out.gap(f'{place}  {cited}', where)}{out.dim(where)}")
        room = None if out.width is None else max(_NARROW, out.width - _INDENT)
        text = harmless(hit.snippet.text) if room else harmless(hit.snippet.text).replace("\n", " ")
        for _, shown in out.marked_lines(text, hit.snippet.marks, room):
            out.line(" " * _INDENT + shown)
        if why:
            out.line(_why_line(hit.why, out))


def print_notes(found: SearchResults, out: Output) -> None:
    """Says what kept the search from being all that it could be."""
    for note in found.notes:
        said, _, advice = out.hint(note).rpartition(". ")
        out.note(out.joined(f"{said}.", advice) if said else advice)


def _print_hit(place: int, hit: Hit, out: Output, *, most: int | None, why: bool) -> None:
    c = hit.conversation
    title = harmless(titled(c.title))
    counted = [number(hit.message_count, "message"), *_copies(hit.best)]
    where = out.dotted(source_label(c.source), day(c.created), *counted)
    left = f"{place}  {title}"
    out.line(f"{place}  {out.bold(title)}{out.gap(left, where)}{out.dim(where)}")
    best, shown = hit.best, _best_of(hit, most)
    tails = [_tail(message, c.created) for message in shown]
    width = max(map(len, tails))
    for message, tail in zip(shown, (f"{tail:>{width}}" for tail in tails), strict=True):
        for line in _message_lines(message, c.source, tail, out, best=message is best and len(shown) > 1):
            out.line(line)
        if why:
            out.line(_why_line(message.why, out))


def _best_of(hit: Hit, most: int | None) -> tuple[MessageHit, ...]:
    """The messages that matched best, in reading order."""
    best = {m.message.id for m in sorted(hit.messages, key=lambda m: -m.score)[:most]}
    return tuple(m for m in hit.messages if m.message.id in best)


def _tail(hit: MessageHit, began: datetime | None) -> str:
    """Time and short id; with the day where it is another than the conversation's, which stands above."""
    return f"{moment_after(hit.message.timestamp, began)}  {short(hit.message.id)}".strip()


def _one_line(place: int, hit: Hit, out: Output, *, by_message: bool) -> str:
    """A result in brief: the conversation, or the message where messages are the results."""
    best, c = hit.best, hit.conversation
    when = best.message.timestamp if by_message else c.created
    where = out.dotted(source_label(c.source), day(when), *_copies(best))
    if by_message:
        where += f"  {short(best.message.id)}"
    named = f"{speaker(best.message, c.source)}: {_excerpt(best)[0]}" if by_message else titled(c.title)
    room = None if out.width is None else max(_NARROW, out.width - len(where) - len(f"{place}  ") - 2)
    left = f"{place}  {shortened(' '.join(harmless(named).split()), room)}"
    return left + out.gap(left, where) + out.dim(where)


def _copies(hit: MessageHit) -> list[str]:
    """What a message in a flat list stands for beside itself."""
    many = len(hit.copies)
    return [f"{many:,} {'copy' if many == 1 else 'copies'}"] if many else []


def _derived_line(known: DerivedHit, out: Output) -> str:
    """What is known: a fact or a summary in brief, with the first message that it comes from."""
    from recollect.text.language import addressed

    first, told = known.messages[0], known.kind
    if told == "summary":
        title = " ".join(harmless(known.summarised).split())
        told = f"summary of {shortened(title, None if out.width is None else _TITLE)}"
    where = out.dotted(told, day(first.timestamp)) + f"  {short(first.id)}"
    room = None if out.width is None else max(_NARROW, out.width - len(where) - 5)
    left = f"{out.symbols.pointer}  {shortened(' '.join(harmless(addressed(known.text)).split()), room)}"
    return out.colored(left) + out.gap(left, where) + out.dim(where)


def _message_lines(hit: MessageHit, source: str, tail: str, out: Output, *, best: bool) -> Iterator[str]:
    """Who, the excerpt with its matches, time and short id; on a terminal wrapped, with time and id at the right."""
    pointer = out.symbols.pointer if best else " "
    who = padded(shortened(harmless(speaker(hit.message, source)), _WHO), _WHO)
    text, marks = _excerpt(hit)
    room = None if out.width is None else max(_NARROW, out.width - _INDENT - _WHO - len(tail) - 3)
    text = harmless(text) if room else harmless(text).replace("\n", " ")
    for count, (plain, shown) in enumerate(out.marked_lines(text, marks, room)):
        if count:
            yield f"{'':{_INDENT + _WHO + 1}}{shown}"
        else:
            fill = padded(plain, room or 0)[len(plain) :]
            yield f"   {pointer} {out.colored(who)} {shown}{fill}  {out.dim(tail)}"


def _excerpt(hit: MessageHit) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The excerpt with its marks; of a message without words, what came with it."""
    if hit.snippet.text.strip():
        return hit.snippet.text, hit.snippet.marks
    return parts_named(hit.message) or " ".join(hit.message.content.split()) or "(no text)", ()


def _why_line(why: Why, out: Output) -> str:
    """Why something was found, in the room there is."""
    indent = f"{'':{_INDENT}}"
    lines = wrapped_words(f"why: {_because(why, out)}", None if out.width is None else out.width - _INDENT)
    return "\n".join(out.dim(indent + line) for line in lines)


def _because(why: Why, out: Output) -> str:
    terms = sorted(why.terms.items(), key=lambda item: -abs(item[1]))
    parts = [f"{name} {value:+.1f}" for name, value in terms if abs(value) >= 0.05]
    if why.words:
        parts.append(f"contains {', '.join(harmless(word) for word in why.words)}")
    if why.found_in != "said":
        parts.append(f"found in its {why.found_in}")
    return out.dotted(f"rank {why.rank + 1}", *parts)


def _summary(found: SearchResults, out: Output, *, by_message: bool) -> str:
    """As in "10 of 52 conversations · 12 with the word, 40 related · 31 ms · keyword + semantic"."""
    what = "message" if by_message else "conversation"
    total = max(found.total, len(found))
    counted = number(total, what) if total == len(found) else f"{len(found):,} of {total:,} {what}s"
    if found.documents:
        counted = " + ".join([*([counted] if len(found) else []), number(len(found.documents), "document")])
    told = [counted, f"{found.took_ms:.0f} ms", " + ".join(SIGNALS.get(signal, signal) for signal in found.signals)]
    if found.with_words and found.related:
        told.insert(1, words_and_related(found.corrected or found.query, found.with_words, found.related))
    return out.dotted(*told)


def print_empty_hint(run: Invocation) -> bool:
    """Whether no message and no document is in the memory; if so it is said, with what to do."""
    memory = run.memory()
    stats = memory.upkeep.stats()
    if stats.by_source or stats.documents:
        return False
    if stats.facts:
        there = f"no messages and {number(stats.facts, 'fact')}"
        run.out.line(f"Nothing found: there are {there} (in {memory.namespace}).")
        run.out.note(run.out.hint("To list them: recollect facts. To add messages: recollect import PATH"))
        return True
    run.out.line(f"Nothing found: your memory is empty (in {memory.namespace}).")
    run.out.note(run.out.hint("To fill it: recollect import PATH. To try it out first: recollect demo"))
    return True


def print_none_yet(run: Invocation, memory: Memory, line: str) -> None:
    """Says that there is none, and what to do where messages still wait to be gone through."""
    from recollect.derive.tasks.queue import CONVERSATION

    run.out.line(line)
    if any(task.kind == CONVERSATION for task, _ in memory.upkeep.tasks("due")):
        hint = "Some messages are not processed yet. Process them now: recollect worker --once"
        run.out.note(run.out.hint(hint))
