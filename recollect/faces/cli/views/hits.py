"""Search results on the screen: the best with the messages that matched, the rest a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from recollect.faces.cli.terminal.layout import gap, joined, marked_lines
from recollect.faces.cli.terminal.output import Output, harmless
from recollect.faces.cli.terminal.typed import typed
from recollect.faces.cli.terminal.wrapping import padded, shortened, wrapped_words
from recollect.faces.present.names import documents_named, parts_named, short, source_label, speaker, titled
from recollect.faces.present.times import day, moment_after, number, words_and_related
from recollect.record import REPORTS
from recollect.search.results.result import DerivedHit, DocumentHit, Hit, MessageHit, SearchResults, Why

IN_FULL = 3  #: results that are shown with their messages

_MESSAGES = 2  # of each of them, unless all are wanted
_WHO = 11  # cells for the name of who speaks
_INDENT = 5
_NARROW = 20  # an excerpt gets no less

#: What `signals` are called in the field.
_SIGNALS = {
    "words": "keyword",
    "meaning": "semantic",
    "late interaction": "quality",
    "people": "names",
    "moment": "events",
}


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
        only = out.hint(f"recollect search --literal {typed(found.query)}")
        out.line(joined(f"Showing results for {found.corrected}.", f'Only "{found.query}": {only}', out))
    if not found.close:
        out.line("Nothing matches closely. The nearest results:")
    if found.moment is not None:
        told = f"{str(found.moment)[0].upper()}{str(found.moment)[1:]}"
        out.line(out.dim(f"{harmless(told)}  {short(found.moment.message_id)}"))
    for known in found.derived:
        if not known.extractive:  # its sentences are among the results
            out.line(_derived_line(known, out))
    for place, hit in enumerate(found, 1):
        if full or place <= IN_FULL:
            _print_hit(place, hit, out, most=None if full else _MESSAGES, why=why)
        else:
            out.line(_one_line(place, hit, out, by_message=by_message))
    if found.documents:
        _print_documents(found.documents, out, first=len(found) + 1, why=why)
    steps = [out.hint("recollect show 1"), *([f"--offset {found.next}"] if found.next is not None else [])]
    steps += [*(() if full or len(found) <= IN_FULL else ("--full",)), "--why", "--json"]
    after = f" {out.symbols.dot} ".join(steps)
    summary = _summary(found, out, by_message=by_message)
    out.line(out.dim(summary + gap(summary, after, out) + after if next_steps else summary))
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
        where = f" {out.symbols.dot} ".join([source_label(hit.document.source), day(hit.document.created)])
        where += f"  {short(hit.document.id)}"
        out.line(f"{place}  {out.bold(cited)}{gap(f'{place}  {cited}', where, out)}{out.dim(where)}")
        room = None if out.width is None else max(_NARROW, out.width - _INDENT)
        text = harmless(hit.snippet.text) if room else harmless(hit.snippet.text).replace("\n", " ")
        for _, shown in marked_lines(text, hit.snippet.marks, room, out):
            out.line(" " * _INDENT + shown)
        if why:
            out.line(_why_line(hit.why, out))


def print_notes(found: SearchResults, out: Output) -> None:
    """Says what kept the search from being all that it could be."""
    for note in found.notes:
        said, _, advice = out.hint(note).rpartition(". ")
        out.note(joined(f"{said}.", advice, out) if said else advice)


def _print_hit(place: int, hit: Hit, out: Output, *, most: int | None, why: bool) -> None:
    c = hit.conversation
    title = harmless(titled(c.title))
    counted = [number(hit.message_count, "message"), *_copies(hit.best)]
    where = f" {out.symbols.dot} ".join([source_label(c.source), day(c.created), *counted])
    left = f"{place}  {title}"
    out.line(f"{place}  {out.bold(title)}{gap(left, where, out)}{out.dim(where)}")
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
    where = f" {out.symbols.dot} ".join([source_label(c.source), day(when), *_copies(best)])
    if by_message:
        where += f"  {short(best.message.id)}"
    named = f"{speaker(best.message, c.source)}: {_excerpt(best)[0]}" if by_message else titled(c.title)
    room = None if out.width is None else max(_NARROW, out.width - len(where) - len(f"{place}  ") - 2)
    left = f"{place}  {shortened(' '.join(harmless(named).split()), room)}"
    return left + gap(left, where, out) + out.dim(where)


def _copies(hit: MessageHit) -> list[str]:
    """What a message in a flat list stands for beside itself."""
    many = len(hit.copies)
    return [f"{many:,} {'copy' if many == 1 else 'copies'}"] if many else []


def _derived_line(known: DerivedHit, out: Output) -> str:
    """What is known: a fact or a summary in brief, with the first message that it comes from."""
    from recollect.text.language import addressed

    first = known.messages[0]
    where = f" {out.symbols.dot} ".join([known.kind, day(first.timestamp)]) + f"  {short(first.id)}"
    room = None if out.width is None else max(_NARROW, out.width - len(where) - 5)
    left = f"{out.symbols.pointer}  {shortened(' '.join(harmless(addressed(known.text)).split()), room)}"
    return out.colored(left) + gap(left, where, out) + out.dim(where)


def _message_lines(hit: MessageHit, source: str, tail: str, out: Output, *, best: bool) -> Iterator[str]:
    """Who, the excerpt with its matches, time and short id; on a terminal wrapped, with time and id at the right."""
    pointer = out.symbols.pointer if best else " "
    who = padded(shortened(harmless(speaker(hit.message, source)), _WHO), _WHO)
    text, marks = _excerpt(hit)
    room = None if out.width is None else max(_NARROW, out.width - _INDENT - _WHO - len(tail) - 3)
    text = harmless(text) if room else harmless(text).replace("\n", " ")
    for count, (plain, shown) in enumerate(marked_lines(text, marks, room, out)):
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
    return f" {out.symbols.dot} ".join([f"rank {why.rank + 1}", *parts])


def _summary(found: SearchResults, out: Output, *, by_message: bool) -> str:
    """As in "10 of 52 conversations · 12 with the word, 40 related · 31 ms · keyword + semantic"."""
    what = "message" if by_message else "conversation"
    total = max(found.total, len(found))
    counted = number(total, what) if total == len(found) else f"{len(found):,} of {total:,} {what}s"
    if found.documents:
        counted = " + ".join([*([counted] if len(found) else []), number(len(found.documents), "document")])
    told = [counted, f"{found.took_ms:.0f} ms", " + ".join(_SIGNALS.get(signal, signal) for signal in found.signals)]
    if found.with_words and found.related:
        told.insert(1, words_and_related(found.corrected or found.query, found.with_words, found.related))
    return f" {out.symbols.dot} ".join(told)
