"""`recollect show`: a conversation, whole or around one of its messages; or a document."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotFound
from recollect.faces.cli.parser import Arguments, Command, Option, whole
from recollect.faces.cli.terminal.session import Invocation

if TYPE_CHECKING:
    from recollect.faces.present.state import LastDocument, LastHit
    from recollect.record import Document, Message, Thread

_CONTEXT = 2
_KINDS = ("tool", "reasoning", "context", "subagent", "document", "all")
_PAGERS = (("less", "-FRX"), ("more",))


def show(
    session: Invocation,
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
    from recollect.faces.cli.views.transcript import Transcript, as_json

    chosen = _choose(session, " ".join(which), around)
    if isinstance(chosen, _ChosenDocument):
        return _show_document(session, chosen, context, full=full, paged=not no_pager)
    shown = _shown(chosen, context, all_branches)
    if code:
        return _print_code(session, chosen, shown)
    if session.json:
        session.out.document(as_json(chosen.thread, shown, chosen.hit))
        return 0
    kinds = ("all",) if full else tuple(kind or ())
    transcript = Transcript(chosen.thread, shown, chosen.hit, session.out, kinds=kinds)
    _print(session, list(transcript.lines()), paged=not no_pager)
    return 0


def _print_code(session: Invocation, chosen: _Chosen, shown: Sequence[Message]) -> int:
    """Prints the last block of code of the message, or of the conversation, and nothing else."""
    from recollect.faces.cli.terminal.output import harmless
    from recollect.text.markdown import code_blocks

    messages = [chosen.message] if chosen.message is not None else shown
    said = [message.content for message in messages if not message.deleted]
    blocks = [code.removesuffix("\n") for text in said for block in code_blocks(text) if (code := block.of(text))]
    if not blocks:
        where = "message" if chosen.message is not None else "conversation"
        raise NotFound(f"There is no code in this {where}.", hint="To read it, leave out --code.")
    if session.json:
        session.out.document({"code": blocks[-1]})
    else:
        session.out.verbatim(blocks[-1] if session.out.width is None else harmless(blocks[-1]))
    return 0


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is to be shown: the conversation, the message at which it opens, the hit of the last search in it."""

    thread: Thread
    message: Message | None
    hit: LastHit | None


@dataclass(frozen=True, slots=True)
class _ChosenDocument:
    """A document that is to be shown, and where the last search found it."""

    document: Document
    found: LastDocument | None


def _show_document(
    session: Invocation, chosen: _ChosenDocument, context: int | None, *, full: bool, paged: bool
) -> int:
    from recollect.faces.cli.views.documents import document_as_json, document_lines

    found = None if full else chosen.found
    if session.json:
        session.out.document(document_as_json(chosen.document, chosen.found))
    else:
        _print(session, list(document_lines(chosen.document, found, session.out, context)), paged=paged)
    return 0


def _choose(session: Invocation, which: str, around: str | None) -> _Chosen | _ChosenDocument:
    from recollect.faces.present.names import is_hit_number
    from recollect.faces.present.state import LastDocument

    memory = session.existing_memory()
    if is_hit_number(which):
        numbered = session.last_hit(int(which))
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
        hit = session.state.hit_in(thread.conversation.id)
    if around is not None:
        _, message = memory.resolve(around)
        if message is None or message.conversation_id != thread.conversation.id:
            raise NotFound(
                f"There is no message {around} in this conversation.", hint="Results show the ids of messages."
            )
    return _Chosen(thread, message, hit)


def _shown(chosen: _Chosen, context: int | None, all_branches: bool) -> list[Message]:
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
    from recollect.record import Kind

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


def _print(session: Invocation, lines: list[str], *, paged: bool) -> None:
    height = session.out.height
    pager = _pager(session.settings.pager) if paged and height and len(lines) >= height else None
    if pager is None:
        for line in lines:
            session.out.verbatim(line)
        return
    try:
        subprocess.run(pager, input="\n".join(lines) + "\n", encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        session.out.note(f"The pager {pager[0]} cannot be started: {error.strerror}.")
        _print(session, lines, paged=False)


def _pager(chosen: str) -> list[str] | None:
    """The pager's command line: the one that was set, $PAGER, less or more; None where there is none."""
    if named := chosen or os.environ.get("PAGER"):
        return shlex.split(named)
    return next((list(pager) for pager in _PAGERS if shutil.which(pager[0])), None)


COMMAND = Command(
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
