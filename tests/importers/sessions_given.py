"""Claude Code sessions made in a test: lines, the files that hold them, and the one thread that is read of them."""

import io
import json
from typing import Any

from recollect.importers.base import Entry
from recollect.importers.formats.claude_code.claude_code import ClaudeCode
from recollect.record import Kind, Thread
from tests.importers.given import read

SESSION = "5e551017-0000-4000-8000-000000000001"
RESUMED = "5e551017-0000-4000-8000-000000000002"


def file(*lines: Any, path: str = f"project/{SESSION}.jsonl") -> Entry:
    data = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    return Entry(path, path, "given", len(data), lambda: io.BytesIO(data))


def line(uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    number = int("".join(c for c in uuid if c.isdigit()) or 0)
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "timestamp": f"2026-03-01T10:{number // 60:02}:{number % 60:02}Z",
        "message": message,
        **more,
    }


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return line(uuid, parent, "user", content, **more)


def answer(uuid: str, parent: str | None, *blocks: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"id": id or f"msg {uuid}", "model": "claude-opus-4-6"} | more.pop("message", {})
    return line(uuid, parent, "assistant", content, message=message, **more)


def call(id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": arguments}


def result(id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def one(*entries: Entry) -> Thread:
    threads, _ = read(ClaudeCode(), *entries)
    assert len(threads) == 1
    return threads[0]


def told(thread: Thread) -> list[tuple[str | None, Kind, str]]:
    return [(message.source_id, message.kind, message.content) for message in thread.messages]
