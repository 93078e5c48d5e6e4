"""Exports that are recognised and not read yet, so that they can be called by their name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.errors import ImportProblem
from recollect.importers.base import Entry

_HEAD = 1 << 16


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
