"""Claude Code: the transcripts under `~/.claude/projects`, session by session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import DraftConversation, DraftMessage, Entry, Piece, Problems
from recollect.importers.formats.claude_code.files import SessionFile, SessionGroup, file_lines, session_groups
from recollect.importers.formats.claude_code.lines import read_record, text_of
from recollect.importers.formats.claude_code.order import arrange
from recollect.importers.formats.claude_code.session import Session
from recollect.importers.reading.json_stream import lines
from recollect.record import Kind, Part, PartKind, Role
from recollect.text.clean import cut_recall

_HEAD = 65_536
_TITLE_LENGTH = 80
_SESSION_FOLDER = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")
_OUTPUT_FILE = re.compile(r"tool-results[/\\]([\w.-]+)")
_MARKS = (b'"sessionId"', b'"uuid"', b'"parentUuid"', b'"message"', b'"isSidechain"')
_WEB_MARKS = (b'"type"', b'"timestamp"', b'"message"')
_BOOKKEEPING = ("system", "progress", "attachment", "queue-operation", "permission-mode", "custom-title", "ai-title")
#: Lines that older tools write in Claude Code's words, without ids.
_BARE_TALK = frozenset({"human", "assistant", "tool_use", "tool_result"})


_ABOUT = """\
- **Files**: the folder `projects`, a project's folder, or single sessions; subagents' files and long tool outputs \
beside them.
- A conversation is a session together with those that resume it; lines that a resumed session repeats are there \
once. Title: your own, else the generated one, else the summary, else the first prompt.
- Lines of one answer are joined; calls and results are paired by id; several calls at once are no branches; \
rewinds are.
- **Context**: reminders, slash commands and their output, summaries of compaction, what the program wrote in your \
name. **Subagent**: agents among themselves.
- Bookkeeping lines are counted, not kept.
"""


class ClaudeCode:
    """Reads Claude Code's session files: one conversation a session, with its subagents and what resumed it."""

    name = "claude-code"
    label = "Claude Code"
    recognised = "lines with `sessionId`, `uuid`, `parentUuid`, `message`"
    about = _ABOUT

    def recognises(self, entry: Entry) -> bool:
        """Whether this is a session file, or one that belongs to a session: a subagent's note, a long tool output."""
        *folders, name = entry.path.split("/")
        if folders[-1:] == ["tool-results"]:
            return len(folders) > 1 and _SESSION_FOLDER.fullmatch(folders[-2]) is not None
        if name.endswith(".meta.json"):
            return name.startswith("agent-") and "subagents" in folders
        if not name.endswith((".jsonl", ".json")):
            return False
        try:
            head = entry.peek(_HEAD)
        except (ImportProblem, OSError):
            return False
        return _is_transcript(head)

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """One conversation a session, in the order of their beginning within each project folder.

        A session that others resume is one conversation with them. Memory: the ids of one folder's lines, and the
        words of one conversation.
        """
        for group in session_groups(entries, problems):
            yield Piece(group.files[0].entry.place, partial(_conversation, group, problems))


def _is_transcript(head: bytes) -> bool:
    """Whether the head is of Claude Code's lines: by several keys on several lines, also where the first is cut."""
    if b'"loglines"' in head[:4096]:
        return all(mark in head for mark in _WEB_MARKS)
    values = [line.value for line in lines(BytesIO(head)) if isinstance(line.value, dict)]
    if not values:
        return head.lstrip()[:1] == b"{" and all(mark in head for mark in _MARKS[:3])
    if any(_is_line(value) for value in values):
        return True
    kinds = {value.get("type") for value in values if "content" in value}
    return {"human", "assistant"} <= kinds <= _BARE_TALK


def _is_line(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if kind == "summary":
        return isinstance(value.get("summary"), str) and "leafUuid" in value
    if kind == "file-history-snapshot":
        return "messageId" in value and "snapshot" in value
    named = isinstance(value.get("sessionId"), str)
    if kind in ("user", "assistant"):
        return "message" in value and isinstance(value.get("uuid"), str) and (named or "parentUuid" in value)
    return named and (kind in _BOOKKEEPING or (isinstance(kind, str) and "uuid" in value))


def _conversation(group: SessionGroup, problems: Problems) -> Iterator[DraftConversation]:
    session = Session(agents=group.agents)
    metadata: dict[str, Any] = {}
    for number, file in enumerate(group.files):
        for line in _lines_of(file, group, problems):
            _note_surroundings(line, metadata)
            record = read_record(line)
            if record.role is None:
                problems.note(f"Claude Code lines of type {line.get('type')}, without words")
            session.take(record, file=number, agent=file.agent)
    if not session.utterances:
        problems.note("Claude Code sessions without messages")
        return
    order = arrange(session)
    messages = [_with_outputs(message, session, group, problems) for message in session.drafts(order.parents)]
    title = group.title or _first_prompt(messages)
    if len(group.names) > 1:
        metadata["sessions"] = sorted(group.names)
    yield DraftConversation(
        source=ClaudeCode.name,
        messages=messages,
        place=f'{group.files[0].entry.place} "{title}"',
        source_id=group.origin if group.named else None,
        title=title,
        created=group.began,
        leaf=order.leaf,
        metadata=metadata,
    )


def _lines_of(file: SessionFile, group: SessionGroup, problems: Problems) -> Iterator[dict[str, Any]]:
    """The file's lines that belong to the group; those that cannot be read are told once a file."""
    broken: list[str] = []
    try:
        for line, error in file_lines(file.entry):
            if error:
                broken.append(error)
            elif line and (text_of(line.get("sessionId")) or file.session) in group.names:
                yield line
    except (ImportProblem, OSError) as problem:
        problems.partial(file.entry.place, str(problem))
    if broken and file.session in group.names:
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        problems.partial(file.entry.place, f"{broken[0]}{more}")


def _note_surroundings(line: dict[str, Any], metadata: dict[str, Any]) -> None:
    for key in ("cwd", "gitBranch", "version", "entrypoint"):
        if value := text_of(line.get(key)):
            metadata.setdefault(key, value)


def _with_outputs(message: DraftMessage, session: Session, group: SessionGroup, problems: Problems) -> DraftMessage:
    """The message with the long output that was written to a file of its own, where it is a tool's result."""
    if message.role is not Role.TOOL or not group.outputs:
        return message
    names = _OUTPUT_FILE.findall(message.content)
    calls = {block.id for block, _ in session.utterances[message.key or ""].blocks}
    names += [name for name in group.outputs if name.rsplit(".", 1)[0] in calls]
    found = [group.outputs[name] for name in dict.fromkeys(names) if name in group.outputs]
    return replace(message, parts=(*message.parts, *(_output_part(entry, problems) for entry in found)))


def _output_part(entry: Entry, problems: Problems) -> Part:
    try:
        with entry.open() as stream:
            data = stream.read()
    except (ImportProblem, OSError) as problem:
        problems.partial(entry.place, str(problem))
        return Part(PartKind.ASSET, entry.name)
    if b"\0" in data[:8192]:
        return Part(PartKind.ASSET, entry.name)
    return Part(PartKind.ATTACHMENT, entry.name, data.decode("utf-8", "replace"))


def _first_prompt(messages: Sequence[DraftMessage]) -> str:
    """The first line that a person said or, where only subagents speak, that they were told."""
    asked = (m for m in messages if m.role is Role.USER and m.kind in (Kind.SAID, Kind.SUBAGENT))
    first = next(filter(None, (cut_recall(m.content).strip() for m in asked)), "").split("\n", 1)[0].strip()
    return first if len(first) <= _TITLE_LENGTH else first[: _TITLE_LENGTH - 1].rstrip() + "…"
