"""The clients that are known: where each keeps its settings on which system, and what an entry looks like there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recollect.faces.cli.setup.launch import Launch

NAME = "recollect"  # of the entry

MAC, WINDOWS = "darwin", "win32"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a user's things lie: `system` is that of sys.platform."""

    home: Path
    environment: Mapping[str, str]
    system: str

    def settings(self, mac: str = "Library/Application Support") -> Path:
        """The folder in which programs keep their settings."""
        if self.system == MAC:
            return self.home / mac
        if self.system == WINDOWS:
            return Path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config")

    def folder(self, variable: str, name: str) -> Path:
        """A folder in the home, moved by a variable."""
        return Path(self.environment.get(variable) or self.home / name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client. `keys` lead to the servers in its settings; `found` are places that show that it is there, besides the
    folder of its settings; `after` is what its user does then.
    """

    name: str
    label: str
    settings: Callable[[Machine], Path]
    keys: tuple[str, ...] = ("mcpServers",)
    entry: Callable[[Launch], dict[str, Any]]
    format: Literal["json", "toml"] = "json"
    found: Callable[[Machine], Path] | None = None
    after: str

    def is_there(self, machine: Machine) -> bool:
        """Whether it seems to be used on this machine."""
        place = self.settings(machine)
        return place.exists() or (self.found(machine) if self.found is not None else place.parent).exists()


def _plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": list(launch.arguments), **_variables("env", launch)}


def _typed(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_plain(launch)}


def _copilot(launch: Launch) -> dict[str, Any]:
    return {"type": "local", **_plain(launch), "tools": ["*"]}


def _opencode(launch: Launch) -> dict[str, Any]:
    command = [launch.command, *launch.arguments]
    return {"type": "local", "command": command, "enabled": True, **_variables("environment", launch)}


def _variables(key: str, launch: Launch) -> dict[str, Any]:
    return {key: dict(launch.variables)} if launch.variables else {}


def _opencode_settings(machine: Machine) -> Path:
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return folder / ("opencode.jsonc" if (folder / "opencode.jsonc").exists() else "opencode.json")


def _zed_settings(machine: Machine) -> Path:
    return machine.settings(mac=".config") / ("Zed" if machine.system == WINDOWS else "zed") / "settings.json"


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-desktop",
            label="Claude Desktop",
            settings=lambda machine: machine.settings() / "Claude" / "claude_desktop_config.json",
            entry=_plain,
            after="Quit Claude Desktop and start it again.",
        ),
        Client(
            name="claude-code",
            label="Claude Code",
            settings=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json",
            entry=_typed,
            found=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude"),
            after="Start a new session of Claude Code; /mcp shows it.",
        ),
        Client(
            name="cursor",
            label="Cursor",
            settings=lambda machine: machine.home / ".cursor" / "mcp.json",
            entry=_plain,
            after="Cursor asks to enable it, in Settings, MCP.",
        ),
        Client(
            name="vscode",
            label="VS Code",
            settings=lambda machine: machine.settings() / "Code" / "User" / "mcp.json",
            keys=("servers",),
            entry=_typed,
            after="Run the command MCP: List Servers in VS Code, and start it.",
        ),
        Client(
            name="codex",
            label="Codex",
            settings=lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
            keys=("mcp_servers",),
            entry=_plain,
            format="toml",
            after="Start a new session of Codex; /mcp shows it.",
        ),
        Client(
            name="gemini",
            label="Gemini CLI",
            settings=lambda machine: machine.home / ".gemini" / "settings.json",
            entry=_plain,
            after="Start Gemini CLI again; /mcp shows it.",
        ),
        Client(
            name="windsurf",
            label="Windsurf",
            settings=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
            entry=_plain,
            after="Refresh the servers in Windsurf's settings.",
        ),
        Client(
            name="zed",
            label="Zed",
            settings=_zed_settings,
            keys=("context_servers",),
            entry=lambda launch: {"source": "custom", **_plain(launch)},
            after="Zed starts it by itself; its settings show it.",
        ),
        Client(
            name="copilot",
            label="Copilot CLI",
            settings=lambda machine: machine.home / ".copilot" / "mcp-config.json",
            entry=_copilot,
            after="Start a new session of Copilot CLI; /mcp shows it.",
        ),
        Client(
            name="opencode",
            label="opencode",
            settings=_opencode_settings,
            keys=("mcp",),
            entry=_opencode,
            after="Start opencode again.",
        ),
        Client(
            name="lm-studio",
            label="LM Studio",
            settings=lambda machine: machine.home / ".lmstudio" / "mcp.json",
            entry=_plain,
            after="LM Studio shows it under Program, Integrations.",
        ),
        Client(
            name="kiro",
            label="Kiro",
            settings=lambda machine: machine.home / ".kiro" / "settings" / "mcp.json",
            entry=_plain,
            found=lambda machine: machine.home / ".kiro",
            after="Kiro starts it by itself; its MCP panel shows it.",
        ),
    )
}
