"""`recollect mcp install`: the entry comes into a client's settings, and what it names starts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tomllib
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from recollect.faces.cli.setup.clients import CLIENTS, NAME, Machine
from recollect.faces.cli.setup.launch import Launch
from tests.faces.conftest import CommandLine
from tests.test_import_time import loaded_by_command

_LAUNCH = Launch("/opt/recollect", ("mcp", "--namespace", "work"), {"RECOLLECT_HOME": "/opt/memory"})


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_every_client_has_its_place_on_every_system(name: str, system: str, tmp_path: Path) -> None:
    client, machine = CLIENTS[name], Machine(tmp_path, {}, system)
    place = client.settings(machine)
    assert place.is_relative_to(tmp_path)
    assert not client.is_there(machine)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    assert client.is_there(machine)
    assert client.entry(_LAUNCH)
    assert client.after.endswith(".")


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_is_set_up_once(run: CommandLine, home: Path, name: str) -> None:
    first = run("mcp", "install", name, "--json").document["clients"][0]
    path = Path(first["path"])
    assert first["changed"]
    assert first["backup"] is None
    assert path.is_relative_to(home)
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text(encoding="utf-8")
    said = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    for key in (*CLIENTS[name].keys, NAME):
        said = said[key]
    assert "mcp" in (said["command"] if isinstance(said["command"], list) else said["args"])
    again = run("mcp", "install", name)
    assert again.code == 0
    assert "is set up already" in again.out
    assert path.read_text(encoding="utf-8") == text
    rows = run("mcp", "install", "--json").document["clients"]
    assert [row["client"] for row in rows if row["set_up"]] == [name]


def test_what_is_in_the_file_stays_and_is_kept(run: CommandLine, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    before = '{\r\n    // mine\r\n    "mcpServers": {"docs": {"command": "docs", "env": {"TOKEN": "secret"}}},\r\n}\r\n'
    path.write_bytes(before.encode())
    path.chmod(0o640)
    done = run("mcp", "install", "cursor", "--namespace", "work")
    after = path.read_bytes().decode()
    assert done.code == 0
    assert "// mine" in after
    assert '"docs": {"command": "docs", "env": {"TOKEN": "secret"}}' in after
    assert '"--namespace", "work"' in after
    assert after.count("\n") == after.count("\r\n")
    assert path.stat().st_mode & 0o777 == 0o640
    kept = next(path.parent.glob("*.bak"))
    assert kept.read_bytes().decode() == before
    assert kept.name in done.out
    assert "Cursor: changed ~/.cursor/mcp.json" in done.out


def test_what_a_user_added_to_the_entry_stays(run: CommandLine, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(
        '[mcp_servers.recollect]\ncommand = "old"\nstartup_timeout_sec = 20\n\n'
        '[mcp_servers.recollect.env]\nOPENAI_API_KEY = "k"\nRECOLLECT_HOME = "/old"\n'
    )
    run("mcp", "install", "codex", "--tools", "all", "--read-only")
    entry = tomllib.loads(path.read_text())["mcp_servers"]["recollect"]
    assert entry["startup_timeout_sec"] == 20
    assert entry["env"] == {"OPENAI_API_KEY": "k", "RECOLLECT_HOME": os.environ["RECOLLECT_HOME"]}
    assert entry["args"][-3:] == ["--tools", "all", "--read-only"]
    assert entry["command"] != "old"


@pytest.mark.parametrize("text", ["{ not json", "[]", '{"mcpServers": []}', b"\xff\xfe{}"])
def test_a_file_that_cannot_be_added_to_is_left_alone(run: CommandLine, home: Path, text: str | bytes) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = path.read_bytes()
    done = run("mcp", "install", "gemini", "cursor")
    assert done.code == 2
    assert "recollect mcp install gemini --print" in done.err
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    assert not (home / ".cursor").exists(), "all are checked before one is written"


@pytest.mark.parametrize(
    "text",
    [
        'model = "x"  # a { comment\nmcp_servers = { docs = { command = "docs", args = ["}", "#"] } }  # mine\nz = 1\n',
        "mcp_servers = {}",
        '[mcp_servers]\nrecollect = { command = "old", timeout = 20, env = { KEY = "k" } }\ndocs = { a = 1 }\n',
        'mcp_servers.recollect = { command = "old" }\nlist = [\n  "{", # one\n]\n',
        '"mcp_servers" = { "recollect" = { command = "old" }, docs = { since = 2025-01-02T03:04:05Z } }\r\nz = 1\r\n',
        'text = """\nmcp_servers = { }\n"""\nmcp_servers = { docs = { command = \'it\' } }\n',
    ],
)
def test_tables_on_one_line_are_added_to(run: CommandLine, home: Path, text: str) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    before = tomllib.loads(text)
    assert run("mcp", "install", "codex").code == 0
    after = tomllib.loads(path.read_bytes().decode())
    entry = after["mcp_servers"].pop("recollect")
    assert entry["args"][-1] == "mcp"
    there = before["mcp_servers"].pop("recollect", {})
    assert entry == there | entry
    assert after == before
    for kept in ("# mine", "a { comment", "# one", 'text = """\nmcp_servers = { }\n"""'):
        assert (kept in text) == (kept in path.read_bytes().decode())
    assert path.read_bytes().count(b"\r\n") == text.count("\r\n")
    assert "Nothing" in (again := run("mcp", "install", "codex")).out or "already" in again.out


@pytest.mark.parametrize(
    "text",
    ["model = \n", "mcp_servers = 3\n", "mcp_servers = { recollect = { x = nan } }\n", "mcp_servers = [{ a = 1 }]\n"],
)
def test_what_cannot_be_added_to_safely_is_left_alone(run: CommandLine, home: Path, text: str) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(text)
    assert run("mcp", "install", "codex").code == 2
    assert path.read_text() == text


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_link_stays_a_link(run: CommandLine, home: Path) -> None:
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "mcp.json"
    real.write_text("{}\n")
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(real)
    run("mcp", "install", "cursor")
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "recollect" in json.loads(real.read_text())["mcpServers"]


def test_a_file_on_one_line_does_not_show_its_secrets(run: CommandLine, home: Path) -> None:
    (home / ".claude.json").write_text('{"oauth": "my-secret", "projects": {}}')
    done = run("mcp", "install", "claude-code")
    assert done.code == 0
    assert "my-secret" not in done.out
    assert json.loads((home / ".claude.json").read_text())["oauth"] == "my-secret"


def test_print_writes_nothing(run: CommandLine, home: Path) -> None:
    done = run("mcp", "install", "codex", "--print")
    assert tomllib.loads(done.out)["mcp_servers"]["recollect"]["args"][-1] == "mcp"
    assert ".codex" in done.err
    assert json.loads(run("mcp", "install", "--print").out)["mcpServers"]["recollect"]
    assert run("mcp", "install", "--print", "--json").document["clients"][0]["keys"] == ["mcpServers"]
    assert not any(path.name.startswith(".") for path in home.iterdir())


def test_without_a_name_it_lists_the_clients(run: CommandLine, home: Path) -> None:
    (home / ".claude").mkdir()
    listed = run("mcp", "install").out
    assert "claude-code    not yet  ~/.claude.json" in listed
    assert "Not found on this machine: claude-desktop, cursor" in listed
    assert "To set one up: recollect mcp install claude-code" in listed
    assert not (home / ".claude.json").exists()


def test_a_mistyped_name_is_answered(run: CommandLine) -> None:
    done = run("mcp", "install", "curser")
    assert done.code == 2
    assert "Did you mean cursor?" in done.err
    assert 'There is no "instal" here.' in run("mcp", "instal").err


def test_a_password_is_not_written(run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    run("mcp", "install", "cursor", "--store", "neo4j://neo4j:swordfish@localhost:7687")
    text = (home / ".cursor" / "mcp.json").read_text()
    assert "neo4j://localhost:7687" in text
    assert "swordfish" not in text
    assert "sk-secret" not in text


def test_what_is_written_starts(run: CommandLine, home: Path, tmp_path: Path) -> None:
    run("mcp", "install", "cursor", "--namespace", "work", "--store", tmp_path / "memory.db")
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["recollect"]
    few = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT")}
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=few | entry["env"] | {"RECOLLECT_BACKGROUND": "0"}
    )

    async def use() -> str | None:
        async with Client(parameters, read_timeout_seconds=60) as client:
            kept = await client.call_tool("remember", {"text": "Ana keeps the key."})
            return (kept.meta or {}).get("recollect/namespace")

    assert asyncio.run(use()) == "work"
    assert (tmp_path / "memory.db").exists()


def test_setting_up_loads_no_sdk(home: Path) -> None:
    loaded = loaded_by_command("mcp", "install")
    assert not {name for name in loaded if name.split(".")[0] in ("mcp", "mcp_types", "pydantic", "starlette", "numpy")}
