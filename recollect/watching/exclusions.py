"""What is left out of the files that agents write: folders, marked sessions, pauses, and sessions of memory tools."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from unicodedata import normalize

from recollect.importers.base import Entry
from recollect.importers.formats.claude_code.claude_code import place_of
from recollect.importers.reading.json import lines
from recollect.record import NodeId, parse_time, stable_id

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from recollect.memory.recording import Pause, Recording


_LINES = ".jsonl"
#: Where an agent worked. Within a string the quotes would be escaped, so that talk about this key is none.
_FOLDER = re.compile(rb'(?<!\\)"cwd"\s*:\s*("(?:[^"\\]|\\.){1,4096}")')
#: Which session a line is of: those of a subagent, and what a session repeats of the one that it resumes.
_SESSION = re.compile(rb'(?<!\\)"sessionId"\s*:\s*("[\w-]{1,100}")')
_BLOCK, _OVERLAP = 1 << 20, 8192
_WINDOWS = re.compile(r"(?:[a-z]:|\\)[\\/]")
_TIMES = ("timestamp", "updated_at")  # of a line; the second in Codex's list of titles
_HEADS = ("session_meta",)  # lines that say where a session runs, and nothing that was said


class Patterns:
    """Folders as people name them in a .gitignore, the last that fits counting: `~/work/secret`, `*.private/`,
    `clients/*/notes`, `!~/work/secret/open`. One that begins with neither "/" nor "~" fits at any depth; upper and
    lower case are the same.
    """

    def __init__(self, patterns: Sequence[str], home: Path) -> None:
        self._lines = [line for pattern in patterns for line in _anchored(pattern, home)]
        self._spec: GitIgnoreSpec | None = None

    def __bool__(self) -> bool:
        return bool(self._lines)

    def fits(self, folder: str) -> bool:
        """Whether a folder is one of them, or lies in one; by its own name or by what its links lead to."""
        if not self._lines:
            return False
        if self._spec is None:
            from pathspec import GitIgnoreSpec

            self._spec = GitIgnoreSpec.from_lines(self._lines)
        paths = {_plain(folder)} | ({_plain(_real(folder))} if folder.startswith("/") else set())
        return any(self._spec.match_file(path.rstrip("/") + "/") for path in paths)


class KeepingOut:
    """Decides of each file, at the time it is read. Called with one, it gives it as it is to be read, or None."""

    def __init__(self, patterns: Patterns, recording: Recording) -> None:
        self._patterns, self._recording = patterns, recording

    @classmethod
    def own(cls, patterns: Sequence[str]) -> KeepingOut:
        """What the user of this process keeps out."""
        from recollect.memory.recording import Recording

        return cls(Patterns(patterns, Path.home()), Recording.own())

    def mark(self, session: str) -> None:
        """Keeps a session of Claude Code out for good."""
        self._recording.keep_out([session_mark(session)])

    @property
    def is_paused(self) -> bool:
        """Whether nothing is to be read now."""
        return not self._recording.is_on()

    def __call__(self, entry: Entry) -> Entry | None:
        """A file as it is to be read: without what was said in a pause; None where it is kept out."""
        base = Path(entry.container)
        path = base / entry.path if base.is_dir() else base
        if self.leaves_out(path, base):
            return None
        if not path.name.endswith(_LINES):
            return entry
        pauses, marked = self._recording.pauses(), self._marked_in(path)
        return replace(entry, open=lambda: _open_without(entry, pauses, marked)) if pauses or marked else entry

    def _marked_in(self, file: Path) -> frozenset[str]:
        """The sessions that lines of a file are of, and that are kept out."""
        if not self._recording.keeps_any_out:
            return frozenset()
        marks = {session_mark(session): session for session in _named_in(file, _SESSION)}
        return frozenset(marks[mark] for mark in self._recording.kept_out(marks))

    def leaves_out(self, file: Path, base: Path) -> bool:
        """Whether a file below a folder is kept out: where it lies, or the session that it belongs to."""
        session = session_of(file, base)
        if self._recording.kept_out([session_mark(session.stem)]):
            return True
        if not self._patterns:
            return False
        if self._patterns.fits(str(file.parent)):
            return True
        folders = {folder for one in {session, file} if one.name.endswith(_LINES) for folder in _named_in(one, _FOLDER)}
        return any(self._patterns.fits(folder) for folder in folders)


def session_mark(session: str) -> NodeId:
    """Under which name a session of Claude Code is kept out."""
    return stable_id("session", session)


def session_of(file: Path, base: Path) -> Path:
    """The session that a file below a folder belongs to: a subagent's, a long output; the file itself for others."""
    if file == base:
        return file
    place = place_of(file.relative_to(base).as_posix())
    return file if place.session is None else base / place.folder / f"{place.session}{_LINES}"


def _anchored(pattern: str, home: Path) -> list[str]:
    """A pattern as .gitignore has it in the topmost folder, and a second where its own links lead elsewhere."""
    sign, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    if body == "~" or body.startswith(("~/", "~\\")):
        body = f"{home}/{body[2:]}".replace("\\", "/")
    told = _plain(body)
    if not body.startswith("/"):
        within = "/" in told.rstrip("/") and not told.startswith("/")  # else a path of Windows, or a name alone
        return [sign + (f"**/{told}" if within else told)] if told else []
    steps = body.split("/")
    fixed = next((number for number, step in enumerate(steps) if _WILD.search(step)), len(steps))
    leading = _real("/".join(steps[:fixed])) if fixed > 1 else ""
    return list(dict.fromkeys(sign + (one or "/**") for one in (told, _plain("/".join([leading, *steps[fixed:]])))))


_WILD = re.compile(r"[*?\[\\]")


def _plain(path: str) -> str:
    """A path as it is compared: in small letters of one form, without steps that lead nowhere or back. One of Windows
    gets strokes.
    """
    folded = normalize("NFC", path.casefold())
    if _WINDOWS.match(folded):
        folded = "/" + folded.replace("\\", "/")
    steps: list[str] = []
    for step in folded.split("/"):
        if step == ".." and steps and steps[-1] not in ("..", "**", ""):
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    ends = "/" if steps and folded.endswith("/") else ""
    return "/" * (folded.startswith("/") and bool(steps)) + "/".join(steps) + ends


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _named_in(file: Path, pattern: re.Pattern[bytes]) -> set[str]:
    """What the lines of a session name, such as the folders that it is in; empty where it cannot be read."""
    found: set[bytes] = set()
    try:
        with file.open("rb") as stream:
            before = b""
            while block := stream.read(_BLOCK):
                found.update(pattern.findall(before + block))
                before = (before + block)[-_OVERLAP:]
    except OSError:
        return set()
    told: set[str] = set()
    for text in found:
        try:
            told.add(str(json.loads(text)))
        except ValueError:
            continue
    return told


def _open_without(entry: Entry, pauses: Sequence[Pause], marked: Set[str]) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Without(entry.open(), pauses, marked)))


class _Without(io.RawIOBase):
    """The lines of a stream that were not written in a pause, nor in a marked session. One that tells no time is as old
    as the one before it.
    """

    def __init__(self, stream: BinaryIO, pauses: Sequence[Pause], marked: Set[str]) -> None:
        self._stream, self._lines, self._rest = stream, _recorded(stream, pauses, marked), b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fills the buffer as far as there is something left."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        if not self._rest:
            self._rest = next(self._lines, b"")
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        """Closes the stream."""
        self._stream.close()
        super().close()


def _recorded(stream: BinaryIO, pauses: Sequence[Pause], marked: Set[str]) -> Iterator[bytes]:
    paused = False
    for line in stream:
        told = _value(line)
        moment = _time_of(told)
        if moment is not None:
            paused = any(pause.holds(moment) for pause in pauses)
        if told.get("sessionId") in marked:
            continue
        if not paused or told.get("type") in _HEADS:
            yield line


def _value(line: bytes) -> dict[str, Any]:
    import orjson

    try:
        value = orjson.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _time_of(told: dict[str, Any]) -> datetime | None:
    return next((moment for name in _TIMES if (moment := parse_time(told.get(name))) is not None), None)


_HEAD = 65_536
#: Hidden folders in which memory tools let their agents run; who works *on* such a tool does so in a folder like any.
_FOLDERS = frozenset(
    [
        *(".agentmemory", ".basic-memory", ".claude-mem", ".claude-memory", ".hindsight", ".mem0", ".mempalace"),
        *(".memsearch", ".memu", ".recollect", ".supermemory"),
    ]
)
#: How their agents are told who they are, in the first prompt.
_PROMPTS = re.compile(
    r"\s*(?:hello memory agent\b"
    r"|you are (?:an? |the )?(?:claude-mem|memory (?:agent|observer|extraction|consolidation))\b)",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"memor", re.IGNORECASE)


def is_of_memory_tool(file: Path) -> bool:
    """Whether a memory tool held this session, by its first lines: where it ran, what it was told, who started it."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return False
    prompted = False
    for line in lines(BytesIO(head)):
        if not isinstance(line.value, dict):
            continue
        payload = line.value.get("payload")
        told = payload if isinstance(payload, dict) else line.value
        if runs_in_a_tool(told.get("cwd")) or _was_started_by_one(told.get("source")):
            return True
        if not prompted and (words := _prompt(line.value)):
            prompted = True
            if _PROMPTS.match(words):
                return True
    return False


def runs_in_a_tool(folder: object) -> bool:
    """Whether a memory tool lets its agents run in this folder."""
    return isinstance(folder, str) and not _FOLDERS.isdisjoint(PurePosixPath(folder.replace("\\", "/")).parts)


def _was_started_by_one(source: object) -> bool:
    """Codex names what a session was started for: {"subagent": "memory_consolidation"}."""
    if not isinstance(source, dict):
        return False
    return any(str(key).lower() == "subagent" and _MEMORY.search(str(value)) for key, value in source.items())


def _prompt(line: dict[str, Any]) -> str:
    """What a line of a person says, in Claude Code's words or Codex's; empty for other lines."""
    payload = line.get("payload")
    if isinstance(payload, dict) and payload.get("type") == "user_message":
        return str(payload.get("message") or "")
    message = line.get("message") if line.get("type") == "user" else payload
    if not isinstance(message, dict) or message.get("role") != "user":
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [str(block.get("text") or "") for block in blocks if isinstance(block, dict)]
    return next((text for text in texts if text and not text.lstrip().startswith("<")), "")
