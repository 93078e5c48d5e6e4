"""`recollect show`, `list` and `stats`: conversations and documents, and how many there are."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound
from recollect.faces.cli.commands.recording import print_pause
from recollect.faces.cli.invocation import Invocation
from recollect.faces.cli.output import harmless, padded, shortened
from recollect.faces.cli.parser import BEFORE, SINCE, SOURCE, UNTIL, Arguments, Command, Option, period, whole
from recollect.faces.present.names import day, is_hit_number, percent, short, size, source_label, titled
from recollect.faces.present.state import LastDocument
from recollect.faces.present.status import pause_words, task_counts
from recollect.record import Kind

if TYPE_CHECKING:
    from recollect.faces.present.state import LastDocument, LastHit
    from recollect.memory import ConversationRow
    from recollect.models.language.budget import Spent
    from recollect.record import Document, Message, Thread
    from recollect.store import Counts, IndexInfo


_CONTEXT = 2
_KINDS = ("tool", "reasoning", "context", "subagent", "document", "all")
_PAGERS = (("less", "-FRX"), ("more",))


def show(
    run: Invocation,
    which: list[str],
    around: str | None = None,
    context: int | None = None,
    all_branches: bool = False,
    full: bool = False,
    kind: list[str] | None = None,
    code: bool = False,
    no_pager: bool = False,
) -> int:
    """Print a conversation, or a document.

    Name it by the number of a result of the last search, by id, or by title; the last characters of an id are enough. A
    number opens the conversation at the message that was found, with two messages before and after it; so does the id
    of a message. A document opens at the place that was found, with twenty lines before and after it. Words that the
    last search found are marked.
    """
    from recollect.faces.cli.transcript import Transcript, thread_document

    chosen = _choose(run, " ".join(which), around)
    if isinstance(chosen, _ChosenDocument):
        return _show_document(run, chosen, context, full=full, paged=not no_pager)
    shown = _shown(chosen, context, all_branches)
    if code:
        return _print_code(run, chosen, shown)
    if run.in_json(lambda: thread_document(chosen.thread, shown, chosen.hit)):
        return 0
    kinds = ("all",) if full else tuple(kind or ())
    transcript = Transcript(chosen.thread, shown, chosen.hit, run.out, kinds=kinds)
    _print(run, list(transcript.lines()), paged=not no_pager)
    return 0


def _print_code(run: Invocation, chosen: _ChosenTurn, shown: Sequence[Message]) -> int:
    """Prints the last block of code of the message, or of the conversation, and nothing else."""
    from recollect.text.markdown import code_blocks

    messages = [chosen.message] if chosen.message is not None else shown
    said = [message.content for message in messages if not message.deleted]
    blocks = [code.removesuffix("\n") for text in said for block in code_blocks(text) if (code := block.of(text))]
    if not blocks:
        where = "message" if chosen.message is not None else "conversation"
        raise NotFound(f"There is no code in this {where}.", hint="To read it, leave out --code.")
    if not run.in_json(lambda: {"code": blocks[-1]}):
        run.out.verbatim(blocks[-1] if run.out.width is None else harmless(blocks[-1]))
    return 0


@dataclass(frozen=True, slots=True)
class _ChosenTurn:
    """What is to be shown: the conversation, the message at which it opens, the hit of the last search in it."""

    thread: Thread
    message: Message | None
    hit: LastHit | None


@dataclass(frozen=True, slots=True)
class _ChosenDocument:
    """A document that is to be shown, and where the last search found it."""

    document: Document
    found: LastDocument | None


def _show_document(run: Invocation, chosen: _ChosenDocument, context: int | None, *, full: bool, paged: bool) -> int:
    from recollect.faces.cli.transcript import document_lines, file_document

    found = None if full else chosen.found
    if not run.in_json(lambda: file_document(chosen.document, chosen.found)):
        _print(run, list(document_lines(chosen.document, found, run.out, context)), paged=paged)
    return 0


def _choose(run: Invocation, which: str, around: str | None) -> _ChosenTurn | _ChosenDocument:
    memory = run.existing_memory()
    if is_hit_number(which):
        numbered = run.last_hit(int(which))
        if isinstance(numbered, LastDocument):
            return _ChosenDocument(memory.document(numbered.document), numbered)
        hit: LastHit | None = numbered
        thread, found = memory.conversation(numbered.conversation), numbered.message
        message = next((m for m in thread.messages if m.id == found), None)
    else:
        try:
            thread, message = memory.resolve(which)
        except NotFound as unknown:
            try:
                return _ChosenDocument(memory.document(which), None)
            except NotFound:
                raise unknown from None
        hit = run.state.hit_in(thread.conversation.id)
    if around is not None:
        _, message = memory.resolve(around)
        if message is None or message.conversation_id != thread.conversation.id:
            raise NotFound(
                f"There is no message {around} in this conversation.", hint="Results show the ids of messages."
            )
    return _ChosenTurn(thread, message, hit)


def _shown(chosen: _ChosenTurn, context: int | None, all_branches: bool) -> list[Message]:
    """The messages to show: around one, on its branch, or the active path and, where asked for, all others after it."""
    from recollect.record.tree import reading_order

    active = [m for m in chosen.thread.messages if m.active]
    if chosen.message is not None:
        path = active if chosen.message.active else _path_to(chosen.thread, chosen.message)
        at = next(i for i, m in enumerate(path) if m.id == chosen.message.id)
        near = _CONTEXT if context is None else context
        return [*reversed(_of_chat(path[:at][::-1], near)), path[at], *_of_chat(path[at + 1 :], near)]
    if context is not None:
        raise InvalidInput("--context needs a message to be around.", hint="Add --around MESSAGE.")
    return reading_order(chosen.thread.messages) if all_branches else active


def _of_chat(messages: Sequence[Message], count: int) -> list[Message]:
    """So many messages of the chat from the first on, with what is folded between them."""
    taken: list[Message] = []
    for message in messages:
        if count <= 0:
            break
        taken.append(message)
        count -= message.kind in (Kind.SAID, Kind.SUBAGENT) and not message.deleted
    return taken


def _path_to(thread: Thread, message: Message) -> list[Message]:
    """The branch that a message lies on: all above it, and the first answers below."""
    by_id = {m.id: m for m in thread.messages}
    path = [message]
    while path[0].parent_id in by_id and len(path) <= len(by_id):
        path.insert(0, by_id[path[0].parent_id])
    while below := next((m for m in thread.messages if m.parent_id == path[-1].id), None):
        path.append(below)
    return path


def _print(run: Invocation, lines: list[str], *, paged: bool) -> None:
    height = run.out.height
    pager = _pager(run.settings.pager) if paged and height and len(lines) >= height else None
    if pager is None:
        for line in lines:
            run.out.verbatim(line)
        return
    try:
        subprocess.run(pager, input="\n".join(lines) + "\n", encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        run.out.note(f"The pager {pager[0]} cannot be started: {error.strerror}.")
        _print(run, lines, paged=False)


def _pager(chosen: str) -> list[str] | None:
    """The pager's command line: the one that was set, $PAGER, less or more; None where there is none."""
    if named := chosen or os.environ.get("PAGER"):
        return shlex.split(named)
    return next((list(pager) for pager in _PAGERS if shutil.which(pager[0])), None)


SHOW = Command(
    show,
    (
        "recollect show 1",
        "recollect show 7Q2KAB --context 5",
        'recollect show "Full Stack App Planning" --full',
    ),
    (
        Option(("--around",), "Only around this message (its id).", "MESSAGE"),
        Option(("--context", "-C"), f"Messages before and after it; {_CONTEXT} unless given.", "K", read=whole(0)),
        Option(("--all-branches",), "Other branches too, after the active path.", default=False),
        Option(("--full",), "Tool calls, reasoning and context in full, not folded to a line.", default=False),
        Option(("--kind",), "These kinds in full: tool, reasoning, all.", "KIND", several=True, values=_KINDS),
        Option(("--code",), "Print only the last block of code in it.", default=False),
        Option(("--no-pager",), "Do not use a pager.", default=False),
    ),
    Arguments("N|ID|TITLE", "which", required=True, several=True),
)


_LIMIT = 50


def list_(
    run: Invocation,
    text: list[str] | None = None,
    source: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    title: str | None = None,
    limit: int = _LIMIT,
) -> int:
    """List the conversations, newest first.

    The six characters at the left are the end of the id: `recollect show` takes them. TEXT restricts the list to titles
    that contain it.
    """
    first, last = period(since, until, before)
    memory = run.existing_memory()
    rows = memory.conversations(
        source=source or (),
        title=title or " ".join(text or ()),
        since=first,
        until=last,
        limit=limit + 1,
    )
    more = len(rows) > limit
    if not run.in_json(lambda: {"conversations": rows[:limit], "more": more}):
        _print_list(run, rows[:limit], more=more)
    return 0 if rows else 1


def _print_list(run: Invocation, rows: list[ConversationRow], *, more: bool) -> None:
    out = run.out
    if not rows:
        out.line("No conversations match.")
    for row in rows:
        c = row.conversation
        facts = f"{day(c.updated or c.created):>11}  {padded(source_label(c.source), 11)}  {row.messages:>5,}  "
        room = None if out.width is None else out.width - len(facts) - len(short(c.id)) - 2
        out.line(f"{short(c.id)}  {out.dim(facts)}{shortened(harmless(titled(c.title)), room)}")
    if more:
        out.more(len(rows), "narrow down with --since or a word of the title")


LIST = Command(
    list_,
    ("recollect list --source claude --since 2025", "recollect list bread -n 5"),
    (
        SOURCE,
        SINCE,
        UNTIL,
        BEFORE,
        Option(("--title",), "The same as TEXT.", "TEXT"),
        Option(("--limit", "-n"), "How many are listed.", "N", default=_LIMIT, read=whole(1)),
    ),
    Arguments("TEXT", "text", several=True),
)


_TASKS = {"due": "tasks to do", "leased": "tasks in work", "later": "tasks for later", "dead": "tasks that failed"}
_DERIVED = {
    "fact": "facts",
    "past": "  past",
    "entity": "entities",
    "topic": "topics",
    "segment": "segments",
    "summary": "summaries",
    "episode": "episodes",
}


def stats(run: Invocation) -> int:
    """Count what is in the memory, by kind and by source.

    Where a language model was asked, it also shows how often, and what it cost.
    """
    from recollect.faces.present.views import as_json
    from recollect.models.language.budget import FILE, SpendingLog

    memory = run.existing_memory()
    counts, index = memory.upkeep.stats(), memory.upkeep.index()
    ledger = SpendingLog(run.places.data / FILE)
    spent = ledger.spent(memory.location, memory.namespace)
    facts: dict[str, Any] = {
        "store": memory.location,
        "namespace": memory.namespace,
        "namespaces": list(memory.upkeep.namespaces()),
        "bytes": memory.upkeep.info().bytes or None,
        "embedder": index.embedder.name if index.embedder else None,
        "tasks": task_counts(memory, counts),
    }
    if run.json:
        shown = {
            "other_branches": counts.messages - counts.active,
            "quality": {"made": counts.quality, "wanted": counts.said_passages},
            "index": {"rebuilding": index.building is not None},
            "models": spent,
            "paused": bool(pause_words()),
        }
        run.out.document(as_json(counts) | facts | shown)
        return 0
    for name, value in _rows(facts, counts, index, run.out.symbols.dash):
        run.out.line(f"{name:<18} {value}")
    for name, value in _spent_rows(spent, ledger.spent(memory.location, memory.namespace, today=True)):
        run.out.line(f"{name:<18} {value}")
    print_pause(run)
    return 0


def _spent_rows(spent: list[Spent], today: list[Spent]) -> Iterator[tuple[str, str]]:
    """What models were asked for this namespace, and what it cost; nothing where none ever was."""
    if not spent:
        return
    yield "model calls", _sum(spent)
    yield "  today", _sum(today)
    for kind in sorted({row.kind for row in spent}):
        yield f"  {kind}", _sum([row for row in spent if row.kind == kind])


def _sum(rows: list[Spent]) -> str:
    calls, tokens = sum(row.calls for row in rows), sum(row.input_tokens + row.output_tokens for row in rows)
    unpriced = sum(row.unpriced for row in rows)
    cost = f"${sum(row.cost for row in rows):.4f}" if unpriced < calls or not calls else ""
    rest = f"{unpriced:,} without a known price" if unpriced else ""
    return ", ".join(filter(None, (f"{calls:,} ({tokens:,} tokens)", cost, rest)))


def _rows(facts: dict[str, Any], counts: Counts, index: IndexInfo, dash: str) -> Iterator[tuple[str, str]]:
    from recollect.faces.present.status import index_state

    yield "store", facts["store"] + (f" ({size(facts['bytes'])})" if facts["bytes"] else "")
    others = [name for name in facts["namespaces"] if name != facts["namespace"]]
    yield "namespace", facts["namespace"] + (f" (others: {', '.join(others)})" if others else "")
    yield "conversations", f"{counts.conversations:,}"
    for source, count in sorted(counts.by_source.items(), key=lambda item: -item[1]):
        yield f"  {source_label(source)}", f"{count:,}"
    yield "messages", f"{counts.messages:,}"
    yield "  active path", f"{counts.active:,}"
    yield "  other branches", f"{counts.messages - counts.active:,}"
    for kind, count in sorted(counts.by_kind.items(), key=lambda item: -item[1]):
        yield f"  {kind}", f"{count:,}"
    for name in ("tool_calls", "attachments", "documents", "turns", "chunks", "passages"):
        yield name.replace("_", " "), f"{getattr(counts, name):,}"
    yield from ((name, f"{counts.by_node[kind]:,}") for kind, name in _DERIVED.items() if counts.by_node.get(kind))
    yield "quality vectors", f"{counts.quality:,} ({percent(counts.quality, counts.said_passages)})"
    yield from ((_TASKS[state], f"{count:,}") for state, count in facts["tasks"].items() if count)
    yield "embedder", facts["embedder"] or "none yet"
    if state := index_state(index, counts.messages):
        yield "search index", state
    first, last = counts.first, counts.last
    if first and last:
        yield "time", f"{day(first)} {dash} {day(last)}"


STATS = Command(
    stats,
    ("recollect stats", "recollect stats --json"),
)
