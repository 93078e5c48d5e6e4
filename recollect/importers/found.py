"""What lies ready to be imported on this machine: agents' session folders, and exports among the downloads.

Looks at names, sizes and dates, and at the first bytes or the table of contents of what might be an export: no more.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.errors import ImportProblem
from recollect.importers.base import Entry

_CHATGPT, _CLAUDE = "ChatGPT", "Claude"
_HEAD = 65_536
_MOST_DOWNLOADS = 400  # the newest; who has more has older exports too, but need not wait for them
_LARGEST_ARCHIVE_TABLE = 20_000  # members


@dataclass(frozen=True, slots=True)
class FoundSource:
    """Something that can be imported: what it is, where it lies, how many files it has and when the newest was written.

    `newest` is None where there is no file yet.
    """

    label: str
    path: Path
    files: int
    newest: datetime | None


def found_on_this_machine(home: Path, environment: Mapping[str, str]) -> list[FoundSource]:
    """What can be imported for the user with this home and environment; empty folders are left out.

    Claude Code (CLAUDE_CONFIG_DIR, else `~/.claude` and `~/.config/claude`), Codex (CODEX_HOME, else `~/.codex`), and
    exports of ChatGPT and Claude in the downloads folder (XDG_DOWNLOAD_DIR, else `~/Downloads`), newest first. Never
    raises: what cannot be looked at is not there.
    """
    found = [_sessions(label, folder) for label, folder in session_folders(home, environment)]
    downloads = Path(environment.get("XDG_DOWNLOAD_DIR") or home / "Downloads")
    return [one for one in found if one.files] + list(_exports(downloads))


def session_folders(home: Path, environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """Where agents of this user write their sessions, whether there are any or not, with the agents' names."""
    return [
        *(("Claude Code", folder / "projects") for folder in claude_folders(home, environment)),
        *(("Codex", folder) for folder in _codex_folders(home, environment)),
    ]


def claude_folders(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where Claude Code of this user keeps its settings and sessions."""
    if named := environment.get("CLAUDE_CONFIG_DIR"):
        return [Path(folder.strip()) for folder in named.split(",") if folder.strip()]
    return [home / ".claude", home / ".config" / "claude"]


def _codex_folders(home: Path, environment: Mapping[str, str]) -> list[Path]:
    base = Path(environment.get("CODEX_HOME") or home / ".codex")
    return [base / "sessions", base / "archived_sessions"]


def _sessions(label: str, folder: Path) -> FoundSource:
    """Counts the sessions below a folder. Subagents' files are no sessions, but what is new may stand in them."""
    files, newest = 0, 0.0
    for file in _files_below(folder):
        if file.name.endswith((".jsonl", ".json")) and not file.name.endswith(".meta.json"):
            files += not file.name.startswith("agent-")
            newest = max(newest, _written(file))
    return FoundSource(label, folder, files, _moment(newest) if newest else None)


def _exports(downloads: Path) -> Iterator[FoundSource]:
    candidates = [file for file in _files_in(downloads) if file.name.lower().endswith((".zip", ".json"))]
    candidates.sort(key=_written, reverse=True)
    for file in candidates[:_MOST_DOWNLOADS]:
        path = Path(file.path)
        if label := _label_of_archive(path) if path.suffix.lower() == ".zip" else _label_of_file(path):
            yield FoundSource(label, path, 1, _moment(_written(file)))


def _label_of_archive(path: Path) -> str | None:
    """Judged by the names inside; where they fit both, by the beginning of the conversations."""
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.filelist) > _LARGEST_ARCHIVE_TABLE:
                return None
            paths = {member.filename: member.filename.rsplit("/", 1)[-1] for member in archive.filelist}
            conversations = next((path for path, name in paths.items() if _holds_conversations(name)), None)
            if conversations is None:
                return None
            if label := _label_of_names(set(paths.values())):
                return label
            with archive.open(conversations) as stream:
                return _label_of_head(stream.read(_HEAD))
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError, EOFError):
        return None


def _holds_conversations(name: str) -> bool:
    stem, _, ending = name.partition(".")
    return ending == "json" and (stem == "conversations" or stem.removeprefix("conversations-").isdigit())


def _label_of_names(names: set[str]) -> str | None:
    if names & {"chat.html", "message_feedback.json", "export_manifest.json", "shared_conversations.json"}:
        return _CHATGPT
    if "users.json" in names and names & {"projects.json", "memories.json"}:
        return _CLAUDE
    return None


def _label_of_file(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return _label_of_head(stream.read(_HEAD))
    except OSError:
        return None


def _label_of_head(head: bytes) -> str | None:
    """Several keys of a conversation, as each of the two writes it, in a list or an object."""
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"[", b"{")):
        return None
    if b'"mapping"' in head and b'"parent"' in head and (b'"author"' in head or b'"message"' in head):
        return _CHATGPT
    if b'"chat_messages"' in head and b'"uuid"' in head and b'"created_at"' in head:
        return _CLAUDE
    return None


def _files_below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The files of a folder and of those in it; links to folders are not followed, so that there are no circles."""
    waiting: list[Path] = [folder]
    while waiting:
        for entry in _entries_of(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.is_file():
                yield entry


def _files_in(folder: Path) -> Iterator[os.DirEntry[str]]:
    return (entry for entry in _entries_of(folder) if entry.is_file())


def _entries_of(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _written(file: os.DirEntry[str]) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


# Exports that are recognised and not read yet, so that they can be called by their name.


@dataclass(frozen=True, slots=True)
class Unread:
    """A kind of export by its first bytes (all patterns must be found) or, where there are none, by its path.

    `instead` says what helps, where something does.
    """

    label: str
    signs: tuple[bytes, ...] = ()
    path: str = ""
    instead: str = ""

    def is_of(self, path: str, head: bytes) -> bool:
        """Whether a file is of this kind."""
        return (not self.path or re.search(self.path, path, re.IGNORECASE) is not None) and all(
            re.search(sign, head) for sign in self.signs
        )


_KINDS = (
    Unread("Grok export", (rb'"responses"\s*:', rb'"conversation"\s*:\s*\{', rb'"sender"|"_id"')),
    Unread("Grok export", path=r"prod-grok-backend\.json$"),
    Unread("DeepSeek export", (rb'"mapping"\s*:', rb'"fragments"\s*:')),
    Unread("LibreChat export", (rb'"conversationId"\s*:', rb'"(?:messagesTree|isCreatedByUser|parentMessageId)"\s*:')),
    Unread("Open WebUI export", (rb'"chat"\s*:\s*\{', rb'"(?:childrenIds|currentId)"\s*:')),
    Unread("TypingMind export", (rb'"chatID"\s*:', rb'"chatTitle"\s*:')),
    Unread("Chatbox export", (rb'"(?:__exported_items|chat-sessions-list|contentParts)"\s*:',)),
    Unread("Gemini CLI session", (rb'"sessionId"\s*:', rb'"messages"\s*:', rb'"type"\s*:\s*"(?:gemini|model)"')),
    Unread("Google AI Studio prompt", (rb'"chunkedPrompt"\s*:',)),
    Unread("Gemini Takeout", (rb'"header"\s*:|outer-cell', rb'"products"\s*:|<html', rb"Gemini")),
    Unread("Google Takeout activity", path=r"(?:^|/)My ?Activity[^/]*\.(?:json|html)$"),
    Unread("VS Code chat session", (rb'"requests"\s*:', rb'"(?:responderUsername|requesterUsername|requestId)"\s*:')),
    Unread("Cursor database", (rb"\ASQLite format 3\0",), path=r"\.vscdb$"),
    Unread("Cursor transcript", (rb'\A\s*\{"role"\s*:\s*"user"\s*,\s*"message"\s*:\s*\{"content"',)),
    Unread(
        "LangChain message list", (rb'"type"\s*:\s*"(?:human|ai)"|"HumanMessage"', rb'"data"\s*:|"kwargs"|"response_')
    ),
    Unread("Microsoft Copilot export", (rb"\A\W*Conversation\W+Time\W+Author\W+Message",)),
    Unread("chat in Markdown", (rb"(?im)^(?:#{2,4} \W*(?:user|human|you)\b|\*\*(?:you|user|human):?\*\*)",), r"\.md$"),
    Unread("Zstandard-compressed session", (rb"\A\x28\xb5\x2f\xfd",), instead="unpack it first: zstd -d"),
    Unread("gzip archive", (rb"\A\x1f\x8b",), instead="unpack it first: tar -xzf, or gunzip"),
    Unread("tar archive", path=r"\.tar$", instead="unpack it first: tar -xf"),
    Unread("7-Zip archive", (rb"\A7z\xbc\xaf\x27\x1c",), instead="unpack it first"),
    Unread("RAR archive", (rb"\ARar!",), instead="unpack it first"),
)


def unread_kind(entry: Entry) -> Unread | None:
    """What the file looks like, of what is not read yet. Never raises."""
    try:
        head = entry.peek(_HEAD)
    except (ImportProblem, OSError):
        return None
    return next((kind for kind in _KINDS if kind.is_of(entry.path, head)), None)


def named(kind: Unread) -> str:
    """As a sentence about a file: "it looks like a Grok export, which is not read yet"."""
    article = "an" if kind.label[0] in "AEIO" else "a"
    return f"it looks like {article} {kind.label}" + (
        f"; {kind.instead}" if kind.instead else ", which Recollect does not read yet"
    )
