"""Conversations and documents as text, with matches marked; what is not chat is folded to a line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.faces.cli.output import Output, cell_len, harmless, padded, shortened, within
from recollect.faces.present.names import clock, day, number, short, source_label, speaker, titled
from recollect.faces.present.results import DocumentRow
from recollect.faces.present.state import LastDocument, LastHit
from recollect.faces.present.views import as_json
from recollect.record import Document, Kind, Message, Part, PartKind, Thread, ToolCall
from recollect.record.tree import place_in
from recollect.search.query.request import KIND_ALIASES
from recollect.search.results.snippet import cells, is_row, is_ruler, marking, marks_in
from recollect.text import markdown
from recollect.text.terms import terms


def lines_of(text: str, width: int | None) -> Iterator[tuple[str, bool]]:
    """The lines of a message, tables aligned, each with whether it is code or a table and must not be wrapped."""
    rows: list[str] = []
    for _, line, is_code in markdown.lines_of(text):
        bare = line.strip()
        if not is_code and is_row(bare):
            rows.append(bare)
            continue
        yield from _table(rows, width)
        rows = []
        yield line, is_code
    yield from _table(rows, width)


def _table(rows: Sequence[str], width: int | None) -> Iterator[tuple[str, bool]]:
    """The rows with their columns in line; as they were written where that is too wide."""
    filled = [cells(row) for row in rows if not is_ruler(row)]
    columns = max(map(len, filled), default=0)
    if not columns:
        return
    widths = [max(cell_len(row[at]) if at < len(row) else 0 for row in filled) for at in range(columns)]
    if width is not None and sum(widths) + 3 * (columns - 1) > width:
        yield from ((row, False) for row in rows)
        return
    for row in rows:
        if is_ruler(row):
            yield "-+-".join("-" * cell for cell in widths), True
        else:
            row_cells = [*cells(row), *[""] * columns][:columns]
            yield " | ".join(map(padded, row_cells, widths)).rstrip(), True


_WIDEST = 100  # longer lines of prose are hard to read
_INDENT = "  "
_FOLDED = 80
_AROUND = 20  # lines of a document before and after the place that was found


class Transcript:
    """Makes the lines. `kinds` are printed whole ("all": everything), other kinds than what was said are folded."""

    def __init__(
        self,
        thread: Thread,
        shown: Sequence[Message],
        hit: LastHit | None,
        out: Output,
        *,
        kinds: Sequence[str] = (),
    ) -> None:
        self._thread, self._shown, self._hit, self._out = thread, shown, hit, out
        self._kinds = {KIND_ALIASES.get(kind.lower(), kind.lower()) for kind in kinds}
        self._wanted = _marked(hit)
        self._calls: dict[str, list[ToolCall]] = {}
        for call in thread.tool_calls:
            self._calls.setdefault(call.message_id, []).append(call)

    def lines(self) -> Iterator[str]:
        """The head, the messages, and what is not shown."""
        yield from self._head()
        branch_told, gone_before = False, False
        for message in self._shown:
            if not (message.deleted and gone_before):
                yield ""
            gone_before = message.deleted
            if not message.active and not branch_told:
                branch_told = True
                yield self._out.bold(f"{self._out.symbols.dash * 2} another branch")
            yield from self._message(message)
        yield from self._foot()

    def _head(self) -> Iterator[str]:
        c, out = self._thread.conversation, self._out
        messages = self._thread.messages
        living = [m for m in messages if not m.deleted]
        facts = [source_label(c.source), day(c.created), number(len(living), "message")]
        for count, words in (
            (sum(not m.active for m in living), "on other branches"),
            (sum(m.deleted and not m.erased for m in messages), "deleted"),
            (sum(m.erased for m in messages), "forgotten"),
        ):
            if count:
                facts.append(f"{count:,} {words}")
        yield from out.fitted(out.bold(harmless(titled(c.title))))
        yield from out.fitted(out.dim(out.dotted(*facts, c.id)))

    def _foot(self) -> Iterator[str]:
        hidden = len(self._thread.messages) - len(self._shown)
        if not hidden:
            return
        path = {m.id: place for place, m in enumerate((m for m in self._thread.messages if m.active), 1)}
        places = [path[m.id] for m in self._shown if m.id in path]
        whole = f"recollect show {short(self._thread.conversation.id)}"
        if all(m in self._shown for m in self._thread.messages if m.active):
            whole += " --all-branches"
        yield ""
        if len(places) < len(self._shown):
            part = f"{len(self._shown):,} of {number(len(self._thread.messages), 'message')}"
        elif len(places) == 1:
            part = f"Message {places[0]:,} of {len(path):,}"
        else:
            part = f"Messages {places[0]:,} to {places[-1]:,} of {len(path):,}"
        yield from self._out.fitted(self._out.dim(f"{part}. All: {self._out.hint(whole)}"))

    def _message(self, message: Message) -> Iterator[str]:
        if message.deleted:
            yield from self._out.fitted(self._gone(message))
            return
        if message.kind not in (Kind.SAID, Kind.SUBAGENT) and not self._is_wanted(message.kind.value):
            yield self._folded(message)
            return
        yield from self._out.fitted(self._title(message))
        yield from self._text(message.content, message)
        for part in message.parts:
            yield from self._part(part, message)
        for call in self._calls.get(message.id, ()):
            yield from self._call(call)

    def _gone(self, message: Message) -> str:
        if message.erased:
            return self._out.dim(f"{_INDENT}forgotten  {short(message.id)}")
        back = self._out.hint(f"recollect restore {short(message.id)}")
        return self._out.dim(f"{_INDENT}deleted  {short(message.id)}  {back}")

    def _title(self, message: Message) -> str:
        out = self._out
        pointer = out.symbols.pointer if self._is_hit(message) else " "
        when = f"{day(message.timestamp)} {clock(message.timestamp)}" if message.timestamp else ""
        notes = [when, short(message.id), harmless(message.model or ""), "edited" if message.edited else ""]
        if not message.active:
            notes.append(f"answers {short(message.parent_id)}" if message.parent_id else "a beginning")
        who = out.colored(out.bold(harmless(speaker(message, self._thread.conversation.source))))
        return f"{pointer} {who}  {out.dim('  '.join(note for note in notes if note))}"

    def _text(self, content: str, message: Message) -> Iterator[str]:
        width = None if self._out.width is None else min(self._out.width, _WIDEST) - len(_INDENT)
        lines = list(lines_of(harmless(content).rstrip("\n"), None if self._out.width is None else self._out.width - 2))
        text = "\n".join(line for line, _ in lines)
        marks = marks_in(text, *self._wanted) if self._is_hit(message) else []
        at = 0
        for line, solid in lines:
            own = within(marks, at, at + len(line))
            for _, shown in self._out.marked_lines(line, own, None if solid else width):
                yield f"{_INDENT}{shown}".rstrip()
            at += len(line) + 1

    def _folded(self, message: Message) -> str:
        calls = self._calls.get(message.id, ())
        names = ", ".join(call.name for call in calls if call.name)
        words = " ".join(message.content[:_FOLDED].split())
        text = f"{_INDENT}{message.kind.value}  {names + '  ' if names else ''}{words}{self._out.symbols.more}"
        tail = f"  {number(message.tokens, 'token')}  {short(message.id)}"
        width = None if self._out.width is None else self._out.width - len(tail)
        return self._out.dim(harmless(shortened(text, width)).replace("\n", " ") + tail)

    def _part(self, part: Part, message: Message) -> Iterator[str]:
        label = f"{part.kind.value} {part.name}".strip()
        size = f" ({number(len(part.text), 'character')})" if part.text else ""
        yield from self._out.fitted(self._out.dim(harmless(f"{_INDENT}[{label}]{size}").replace("\n", " ")))
        kind = Kind.REASONING.value if part.kind is PartKind.REASONING else part.kind.value
        if part.text and self._is_wanted(kind):
            yield from self._text(part.text, message)

    def _call(self, call: ToolCall) -> Iterator[str]:
        whole = self._is_wanted(Kind.TOOL.value)
        arguments = call.arguments if whole else " ".join(call.arguments[:_FOLDED].split())
        line = f"{_INDENT}[tool {call.name}] {arguments}"
        yield self._out.dim(harmless(line if whole else shortened(line, self._out.width)))
        if whole and call.result:
            for result in call.result.splitlines():
                yield self._out.dim(f"{_INDENT}  {harmless(result)}")

    def _is_hit(self, message: Message) -> bool:
        return self._hit is not None and message.id in self._hit.messages

    def _is_wanted(self, kind: str) -> bool:
        return "all" in self._kinds or kind in self._kinds


def thread_document(thread: Thread, shown: Sequence[Message], hit: LastHit | None) -> dict[str, Any]:
    """The document of `show --json` (docs/reference/json.md)."""
    wanted, calls = _marked(hit), defaultdict(list)
    for call in thread.tool_calls:
        calls[call.message_id].append(call)
    return {
        "conversation": as_json(thread.conversation) | {"messages": sum(not m.deleted for m in thread.messages)},
        "messages": [
            as_json(m)
            | {
                "marks": marks_in(m.content, *wanted) if hit and m.id in hit.messages and not m.deleted else [],
                "tool_calls": calls[m.id] if not m.deleted else [],
            }
            for m in shown
        ],
    }


def _marked(hit: LastHit | None) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    """The terms and numbers that are marked."""
    said = " ".join(hit.words) if hit else ""
    return marking(said, terms(said))


def document_lines(document: Document, found: LastDocument | None, out: Output, context: int | None) -> Iterator[str]:
    """A document to read: whole, or so many lines around the place that was found, its words marked."""
    dot = f" {out.symbols.dot} "
    yield dot.join([out.bold(harmless(document.title)), source_label(document.source), day(document.created)])
    text, after = document.content, ""
    if found is not None:
        start, end = _lines_around(text, found.at, _AROUND if context is None else context)
        yield out.dim(str(place_in(document, found.at)))
        after = f"{out.symbols.more} ({len(text):,} characters: --full)" if end - start < len(text) else ""
        text = text[start:end]
    yield ""
    text = harmless(text.rstrip())
    said = " ".join(found.words) if found is not None else ""
    wanted, numbers = marking(said, terms(said))
    width = None if out.width is None else min(out.width, _WIDEST)
    for _, line in out.marked_lines(text, marks_in(text, wanted, numbers), width):
        yield line
    if after:
        yield out.dim(after)


def _lines_around(text: str, at: int, lines: int) -> tuple[int, int]:
    start, end = at, at
    for _ in range(lines + 1):
        start = text.rfind("\n", 0, max(start - 1, 0)) + 1 if start else 0
        end = text.find("\n", end + 1) if end >= 0 else -1
    return start, end if end >= 0 else len(text)


def file_document(document: Document, found: LastDocument | None) -> dict[str, Any]:
    """The same of a file."""
    place = place_in(document, found.at if found else 0)
    return {
        "document": DocumentRow.of(document),
        "at": found.at if found else None,
        "page": place.page if found else None,
        "heading": place.heading if found else "",
        "line": place.line if found else None,
        "text": document.content,
    }
