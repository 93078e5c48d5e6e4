"""The hooks that Claude Code calls: in its settings, and the events it sends."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput

#: For each event how many seconds it may take. At the end of a session Claude Code else allows one and a half.
EVENTS: Mapping[str, int] = {"SessionStart": 20, "PreCompact": 20, "SessionEnd": 20}

_OURS = re.compile(r"\brecollect\b.*\bhooks run\b")


def with_hooks(settings: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The settings with our hooks in their places, and everything else as it is.

    Raises InvalidInput where there is something else in these places.
    """
    hooks = _hooks_of(without_hooks(settings, keep=command))
    if not isinstance(settings.get("hooks", {}), dict):
        raise InvalidInput("The hooks in Claude Code's settings are no object.", hint="Mend them first.")
    for event, seconds in EVENTS.items():
        found = hooks.get(event, [])
        if not isinstance(found, list):
            raise InvalidInput(f"{event} in Claude Code's hooks is no list.", hint="Mend it first.")
        groups = list(found)
        if not any(_is_ours(hook) for group in groups for hook in _hooks_in(group)):
            groups.append({"hooks": [{"type": "command", "command": command, "timeout": seconds}]})
        hooks[event] = groups
    return {**settings, "hooks": hooks}


def without_hooks(settings: Mapping[str, Any], keep: str | None = None) -> dict[str, Any]:
    """The settings without our hooks, but for those that call `keep`; what is empty then goes too."""
    if not events_hooked(settings):
        return dict(settings)
    hooks = _hooks_of(settings)
    for event, groups in list(hooks.items()):
        if not isinstance(groups, list):
            continue
        left = [kept for group in groups for kept in _without_ours(group, keep)]
        if left:
            hooks[event] = left
        elif groups:
            del hooks[event]
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    return {**settings, "hooks": hooks} if hooks else rest


def events_hooked(settings: Mapping[str, Any]) -> list[str]:
    """The events at which we are called."""
    return [
        event
        for event, groups in _hooks_of(settings).items()
        if isinstance(groups, list) and any(_is_ours(hook) for group in groups for hook in _hooks_in(group))
    ]


def _hooks_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks")
    return dict(hooks) if isinstance(hooks, dict) else {}


def _hooks_in(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _without_ours(group: Any, keep: str | None) -> list[Any]:
    """The group without our hooks; nothing where nothing else was in it."""
    hooks = _hooks_in(group)
    left = [hook for hook in hooks if not _is_ours(hook) or hook.get("command") == keep]
    if len(left) == len(hooks):
        return [group]
    return [{**group, "hooks": left}] if left else []


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and _OURS.search(str(hook.get("command", ""))) is not None


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
