"""What Claude Code tells a hook: which session, in which folder, and where its transcript is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A session that is resumed has its own words before it; one that begins, was cleared or summed up has not.
_PROJECTS = "projects"  # the folder of all projects, with one for each
_BRIEFED = frozenset({"startup", "clear", "compact"})


@dataclass(frozen=True, slots=True)
class HookEvent:
    """An event of a session. `folder` is where the agent works, `transcripts` the folder that its sessions lie in, and
    `session` the name of its file there.
    """

    name: str
    folder: Path | None = None
    transcripts: Path | None = None
    source: str = ""
    session: str = ""

    @property
    def wants_brief(self) -> bool:
        """Whether the agent is to be told what matters."""
        return self.name == "SessionStart" and self.source in _BRIEFED


def read_event(given: str | bytes) -> HookEvent | None:
    """The event that a hook was given on its standard input; None for anything else."""
    try:
        told: Any = json.loads(given)
    except ValueError:
        return None
    if not isinstance(told, dict) or not isinstance(told.get("hook_event_name"), str):
        return None
    transcript, folder = _path(told.get("transcript_path")), _path(told.get("cwd"))
    return HookEvent(
        name=told["hook_event_name"],
        folder=folder,
        transcripts=_project_of(transcript) if transcript is not None else None,
        source=str(told.get("source") or "startup"),
        session=transcript.stem if transcript else str(told.get("session_id") or ""),
    )


def _path(value: object) -> Path | None:
    return Path(value).expanduser() if isinstance(value, str) and value else None


def _project_of(transcript: Path) -> Path | None:
    """The project's folder, also for a subagent's transcript, which lies two folders deeper. None for a place where
    Claude Code keeps no transcripts, of which who knows how much would be read.
    """
    folder = transcript.parent
    folder = folder.parent.parent if folder.name == "subagents" else folder
    return folder if folder.parent.name == _PROJECTS else None
