"""Search results on the screen: numbered conversations, under each the messages that matched."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.faces.cli.layout import gap, joined, marked_lines, padded
from recollect.faces.cli.names import short, source_label, speaker, titled
from recollect.faces.cli.output import Output, harmless
from recollect.faces.cli.times import clock, day, number
from recollect.search.result import Hit, MessageHit, SearchResults, Why

_WHO = 11  # cells for the name of who speaks
_INDENT = 5
_NARROW = 24  # an excerpt gets no less


def print_hits(
    found: SearchResults, out: Output, *, full: bool = False, why: bool = False, next_steps: bool = True
) -> None:
    """Prints the results and a line about them, with what could be done next."""
    if not found.close:
        out.line("Nothing close to this was said. Nearest:")
    for place, hit in enumerate(found, 1):
        _print_hit(place, hit, out, why=why)
    steps = f" {out.symbols.dot} ".join([out.hint("recollect show 1"), "--why", "--json"])
    summary = _summary(found, out)
    out.line(out.dim(summary + gap(summary, steps, out) + steps if next_steps else summary))
    if found.suggestion:
        out.line(f"Did you mean: {found.suggestion}")
    print_notes(found, out)


def print_notes(found: SearchResults, out: Output) -> None:
    """Says what kept the search from being all that it could be."""
    for note in found.notes:
        said, _, advice = out.hint(note).rpartition(". ")
        out.note(joined(f"{said}.", advice, out) if said else advice)


def _print_hit(place: int, hit: Hit, out: Output, *, why: bool) -> None:
    c = hit.conversation
    title = harmless(titled(c.title))
    where = f" {out.symbols.dot} ".join([source_label(c.source), day(c.created), number(hit.message_count, "message")])
    left = f"{place}  {title}"
    out.line(f"{place}  {out.bold(title)}{gap(left, where, out)}{out.dim(where)}")
    best = hit.best
    for message in hit.messages:
        for line in _message_lines(message, c.source, out, best=message is best and len(hit.messages) > 1):
            out.line(line)
        if why:
            out.line(out.dim(f"{'':{_INDENT}}why: {_because(message.why, out)}"))


def _message_lines(hit: MessageHit, source: str, out: Output, *, best: bool) -> Iterator[str]:
    """Who, the excerpt with its matches, time and short id; on a terminal wrapped, with time and id at the right."""
    m = hit.message
    pointer = out.symbols.pointer if best else " "
    who = padded(harmless(speaker(m, source))[:_WHO], _WHO)
    head = f"   {pointer} {out.colored(who)} "
    tail = f"{clock(m.timestamp)}  {short(m.id)}".strip()
    text = harmless(hit.snippet.text).replace("\n", " ")
    room = None if out.width is None else max(_NARROW, out.width - _INDENT - _WHO - len(tail) - 3)
    for count, (plain, shown) in enumerate(marked_lines(text, hit.snippet.marks, room, out)):
        if count:
            yield f"{'':{_INDENT + _WHO + 1}}{shown}"
        else:
            fill = padded(plain, room or 0)[len(plain) :]
            yield f"{head}{shown}{fill}  {out.dim(tail)}"


def _because(why: Why, out: Output) -> str:
    terms = sorted(why.terms.items(), key=lambda item: -abs(item[1]))
    parts = [f"{name} {value:+.1f}" for name, value in terms if abs(value) >= 0.05]
    if why.words:
        parts.append(f"holds {', '.join(harmless(word) for word in why.words)}")
    if why.found_in != "said":
        parts.append(f"found in its {why.found_in}")
    return f" {out.symbols.dot} ".join([f"rank {why.rank + 1}", *parts])


def _summary(found: SearchResults, out: Output) -> str:
    dot = f" {out.symbols.dot} "
    messages = sum(len(hit.messages) for hit in found)
    conversations = len({hit.conversation.id for hit in found})
    left = f"{number(messages, 'message')} in {number(conversations, 'conversation')}"
    if found.searched:
        left += f", of {found.searched:,}"
    return f"{left}{dot}{found.took_ms:.0f} ms{dot}{' + '.join(found.signals)}"
