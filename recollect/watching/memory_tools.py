"""Sessions that no person has held: memory tools let agents watch and sum up other sessions, and Recollect's own memory
would fill with what they say about what it holds already.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from recollect.importers.reading.json_stream import lines

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
