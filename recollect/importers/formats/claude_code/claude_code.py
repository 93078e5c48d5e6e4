"""Claude Code: the transcripts under `~/.claude/projects`, session by session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import DraftConversation, DraftMessage, Entry, Piece, Problems
from recollect.importers.formats.claude_code.lines import read_record, text_of
from recollect.importers.formats.claude_code.session import Session, arrange
from recollect.importers.reading.json import Line, document, elements, lines
from recollect.record import Kind, Part, PartKind, Role, parse_time
from recollect.text.clean import cut_recall

_TITLES = (("summary", "summary"), ("ai-title", "aiTitle"), ("custom-title", "customTitle"))  # the best last
_LATEST = datetime.max.replace(tzinfo=UTC)
_AGENT_FILE = re.compile(r"agent-(.+?)\.(?:jsonl|meta\.json)")
_SESSION = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")
_WEB = re.compile(rb'\s*\{.{0,4096}?"loglines"\s*:\s*\[', re.DOTALL)


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where a file belongs by its path: the project's folder, the session's own folder if it lies in one, the agent."""

    folder: str
    session: str | None
    agent: str | None


@dataclass(slots=True)
class SessionFile:
    """A file of lines. `session` is the one that its lines without a session belong to."""

    entry: Entry
    agent: str | None
    session: str
    began: datetime = _LATEST
    ended: datetime | None = None
    sessions: set[str] = field(default_factory=set)


@dataclass(slots=True)
class SessionGroup:
    """The sessions that are one conversation (one, and those that resume it), and all that belongs to them.

    `names` holds the ids of the sessions, `origin` the one that the others continue; `named` says whether that is an id
    of a session, not just the name of a file without one. `files` stand in order of time,
    `agents` gives what is told of a subagent, `outputs` the files of long tool results by their names.
    """

    origin: str
    named: bool
    names: frozenset[str]
    files: tuple[SessionFile, ...]
    title: str
    began: datetime | None
    agents: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, Entry]


def place_of(path: str) -> SessionPlace:
    """Where the file of this path belongs."""
    *folders, name = path.split("/")
    found = _AGENT_FILE.fullmatch(name)
    agent = found[1] if found else None
    for own in ("subagents", "tool-results"):
        if own in folders[1:]:
            at = folders.index(own, 1)
            return SessionPlace("/".join(folders[: at - 1]), folders[at - 1], agent)
    return SessionPlace("/".join(folders), None, agent)


def session_groups(entries: Sequence[Entry], problems: Problems) -> Iterator[SessionGroup]:
    """The conversations of a container, one project folder after another.

    Keeps the ids of one folder's lines in memory, no more. Files that cannot be read go into `problems`.
    """
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        folders.setdefault(place_of(entry.path).folder, []).append(entry)
    for inside in folders.values():
        yield from _Folder(inside, problems).groups()


def file_lines(entry: Entry) -> Iterator[tuple[dict[str, Any] | None, str | None]]:
    """The file's lines as objects, or what is wrong with them; also where they stand in a list, as the web keeps them.

    Raises ImportProblem or OSError where the file cannot be read.
    """
    is_web = _WEB.match(entry.peek(8192)) is not None
    with entry.open() as stream:
        for found in elements(stream, keys=("loglines",)) if is_web else lines(stream):
            if isinstance(found.value, dict):
                yield found.value, None
            else:
                number = found.number if isinstance(found, Line) else found.index + 1
                yield None, f"line {number}: {found.error or 'it is no object'}"


class _Folder:
    """One project's files, read once to learn which lines are one session."""

    def __init__(self, entries: Sequence[Entry], problems: Problems) -> None:
        self._problems = problems
        self._files: list[SessionFile] = []
        self._agents: dict[str, Mapping[str, Any]] = {}
        self._outputs: dict[str, dict[str, Entry]] = {}
        self._named: set[str] = set()  # sessions that a line or a folder names
        self._above: dict[str, str] = {}  # a session, and the session that stands for it
        self._session_of: dict[str, str] = {}  # by the uuid of a line
        self._waiting: list[tuple[str, str]] = []  # parents not met yet, and the session that names them
        self._span: dict[str, tuple[datetime, datetime]] = {}
        self._titles: list[tuple[int, str, str | None, str]] = []  # rank, session, leaf, title
        for entry in entries:
            self._take(entry)

    def groups(self) -> Iterator[SessionGroup]:
        """The conversations of the folder, in the order of their beginning."""
        for parent, session in self._waiting:
            if parent in self._session_of:
                self._join(self._session_of[parent], session)
        members: dict[str, set[str]] = {}
        for session in self._above:
            members.setdefault(self._root(session), set()).add(session)
        groups = [self._group(frozenset(names)) for names in members.values()]
        yield from sorted((group for group in groups if group.files), key=lambda group: group.began or _LATEST)

    def _take(self, entry: Entry) -> None:
        place = place_of(entry.path)
        try:
            if entry.name.endswith(".meta.json"):
                with entry.open() as stream:
                    told = document(stream)
                self._agents[place.agent or ""] = told if isinstance(told, dict) else {}
            elif place.session and "/tool-results/" in entry.path:
                self._outputs.setdefault(place.session, {})[entry.name] = entry
            else:
                self._scan(entry, place)
        except (ImportProblem, OSError) as problem:
            self._problems.lost(entry.place, str(problem))

    def _scan(self, entry: Entry, place: SessionPlace) -> None:
        stated = (text_of(line.get("sessionId")) for line, _ in file_lines(entry) if line)
        named = next(filter(None, stated), None) or place.session
        self._named |= {named} if named else set()
        session = named or entry.name.rsplit(".", 1)[0]
        file = SessionFile(entry, place.agent, session)
        for line, _ in file_lines(entry):
            if line:
                self._learn(file, line)
        self._files.append(file)

    def _learn(self, file: SessionFile, line: Mapping[str, Any]) -> None:
        stated = text_of(line.get("sessionId"))
        self._named |= {stated} if stated else set()
        session = stated or file.session
        self._above.setdefault(session, session)
        file.sessions.add(session)
        self._learn_kinship(session, line)
        if time := parse_time(line.get("timestamp")):
            first, last = self._span.get(session, (time, time))
            self._span[session] = min(first, time), max(last, time)
            file.began = min(file.began, time)
            file.ended = max(file.ended or time, time)
        for rank, (kind, key) in enumerate(_TITLES):
            if line.get("type") == kind and (title := text_of(line.get(key))):
                self._titles.append((rank, session, text_of(line.get("leafUuid")), title))

    def _learn_kinship(self, session: str, line: Mapping[str, Any]) -> None:
        """The same line in two sessions, or a line below one of another, makes the two one."""
        if uuid := text_of(line.get("uuid")):
            self._join(self._session_of.setdefault(uuid, session), session)
        for key in ("parentUuid", "logicalParentUuid"):
            if parent := text_of(line.get(key)):
                known = self._session_of.get(parent)
                if known is None:
                    self._waiting.append((parent, session))
                elif known != session:
                    self._join(known, session)

    def _join(self, one: str, other: str) -> None:
        if one != other:
            self._above[self._root(other)] = self._root(one)

    def _root(self, session: str) -> str:
        while (above := self._above.setdefault(session, session)) != session:
            self._above[session] = self._above[above]
            session = above
        return session

    def _group(self, names: frozenset[str]) -> SessionGroup:
        files = [file for file in self._files if file.sessions & names]
        origin = min(names, key=lambda name: (*self._span.get(name, (_LATEST, _LATEST)), name))
        outputs = [self._outputs[name] for name in sorted(names) if name in self._outputs]
        return SessionGroup(
            origin=origin,
            named=origin in self._named or _SESSION.fullmatch(origin) is not None,
            names=names,
            files=tuple(sorted(files, key=lambda file: (file.began, file.ended or _LATEST, file.entry.path))),
            title=self._title(names),
            began=min((self._span[name][0] for name in names if name in self._span), default=None),
            agents=self._agents,
            outputs={name: entry for found in outputs for name, entry in found.items()},
        )

    def _title(self, names: frozenset[str]) -> str:
        """The last title of the best kind: a person's, a model's, a summary of what ends in this conversation."""
        found = [
            (rank, number, title)
            for number, (rank, session, leaf, title) in enumerate(self._titles)
            if (self._session_of.get(leaf, session) if leaf else session) in names
        ]
        return max(found, default=(0, 0, ""))[2]


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
