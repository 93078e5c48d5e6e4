"""Sessions of Claude Code and Codex that grow line by line, as the agents write them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHOP = "/home/me/shop"


def session_id(number: int) -> str:
    return f"5e551017-0000-4000-8000-{number:012}"


@dataclass
class Session:
    """One session file of Claude Code."""

    projects: Path
    number: int = 1
    cwd: str = SHOP
    day: int = 1
    project: str = "-home-me-shop"
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.projects / self.project / f"{session_id(self.number)}.jsonl"

    def line(self, role: str, content: Any, **more: Any) -> dict[str, Any]:
        """The next line, below the last."""
        number = len(self.lines)
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": more.pop("answer", f"msg_{self.number}_{number}"), "model": "claude-opus-4-6"}
        return {
            "type": role,
            "uuid": f"{self.number}-{number}",
            "parentUuid": f"{self.number}-{number - 1}" if number else None,
            "sessionId": session_id(self.number),
            "cwd": self.cwd,
            "timestamp": f"2026-03-{self.day:02}T10:{number // 60:02}:{number % 60:02}Z",
            "message": message,
            **more,
        }

    def write(self, line: dict[str, Any], *, only: int | None = None) -> str:
        """Appends a line, or only its first bytes; returns the rest."""
        self.lines.append(line)
        text = json.dumps(line) + "\n"
        self.append(text if only is None else text[:only])
        return "" if only is None else text[only:]

    def append(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(text)

    def says(self, text: str, **more: Any) -> None:
        self.write(self.line("user", text, **more))

    def answers(self, text: str, **more: Any) -> None:
        self.write(self.line("assistant", [{"type": "text", "text": text}], **more))


@dataclass
class Rollout:
    """One session file of Codex."""

    path: Path
    cwd: str = SHOP
    source: Any = "cli"
    number: int = 1

    def begin(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        meta = {"id": f"019a0000-0000-7000-8000-{self.number:012}", "cwd": self.cwd, "source": self.source}
        self._append("session_meta", meta, 0)

    def says(self, second: int, role: str, text: str) -> None:
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": text}]
        self._append("response_item", {"type": "message", "role": role, "content": content}, second)

    def _append(self, kind: str, payload: dict[str, Any], second: int) -> None:
        line = {"timestamp": f"2026-03-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
