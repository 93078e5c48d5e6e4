"""Which files and lines of Claude Code are one session: main files, resumed copies, subagents and tool outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import Entry, Problems
from recollect.importers.formats.claude_code.lines import text_of
from recollect.importers.reading.json_stream import Line, document, elements, lines
from recollect.record import parse_time

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
