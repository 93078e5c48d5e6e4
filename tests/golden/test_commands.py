"""What every command prints with --json, one after the other on the sample archive, and the dump of it."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import time_machine

from recollect.faces.cli.commands import SUMMARIES
from tests.faces.conftest import CommandLine
from tests.golden.golden import TODAY, assert_golden, steady

pytestmark = pytest.mark.slow

#: They serve until they are stopped, or print no document.
_WITHOUT = {"serve", "mcp", "help", "demo"}

#: Each leaves what the next ones read.
COMMANDS = {
    "import": ("import", "ARCHIVE"),
    "export": ("export", "HOME/dump.jsonl"),
    "import-describe": ("import", "--describe", "ARCHIVE"),
    "import-found": ("import",),
    "import-problems": ("import", "--problems"),
    "worker-dry-run": ("worker", "--dry-run"),
    "tasks": ("tasks", "-n", "2"),
    "worker": ("worker", "--once"),
    "embed": ("embed",),
    "status": (),
    "search": ("search", "nginx reverse proxy", "-n", "2"),
    "search-why": ("search", "which port did the app listen on", "--group-by", "message", "--why", "-n", "2"),
    "ask": ("ask", "why did I choose Next.js?", "--model", "none"),
    "research": ("research", "why did I choose Next.js and which database", "--model", "none"),
    "research-list": ("research", "--list"),
    "show": ("show", "Background task vanishes"),
    "list": ("list", "-n", "5"),
    "summaries": ("summaries", "-n", "3"),
    "facts": ("facts", "-n", "5"),
    "entities": ("entities", "-n", "10"),
    "graph": ("graph", "Next.js"),
    "topics": ("topics", "-n", "3"),
    "topics-segments": ("topics", "--conversation", "full stack app planning"),
    "timeline": ("timeline", "--source", "claude"),
    "timeline-month": ("timeline", "2025-03"),
    "context": ("context", "nginx reverse proxy", "--budget", "1000"),
    "brief": ("brief",),
    "stats": ("stats",),
    "secrets": ("secrets",),
    "forget-secrets": ("forget", "--secrets", "--dry-run"),
    "chat": ("chat", "which port does nginx listen on", "--model", "none"),
    "watch": ("watch", "--once"),
    "hooks": ("hooks",),
    "hooks-install": ("hooks", "install", "--print"),
    "config": ("config",),
    "completion": ("completion", "bash"),
    "pause": ("pause",),
    "resume": ("resume",),
    "relate": ("relate", "Sam Berg", "LIVES_IN", "Porto", "--since", "2024-05"),
    "remember": ("remember", "the spare key is with Ana"),
    "backup": ("backup", "HOME/copy.db"),
    "reindex": ("reindex",),
    "check": ("check", "--repair"),
    "delete": ("delete", "Background task vanishes"),
    "restore": ("restore", "Background task vanishes"),
    "forget-dry-run": ("forget", "Background task vanishes", "--dry-run"),
    "forget": ("forget", "Background task vanishes", "--yes"),
    "drop": ("drop", "default", "--yes"),
    "restore-backup": ("restore", "HOME/copy.db", "--replace"),
    "error": ("show", "nothing of the kind"),
    "usage": ("list", "--nonsense"),
}


def test_every_command_is_run() -> None:
    assert {arguments[0] for arguments in COMMANDS.values() if arguments} == SUMMARIES.keys() - _WITHOUT


def test_what_every_command_prints(
    run: CommandLine, home: Path, sample_archive: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    archive = sample_archive[0].parent
    replaced = {str(home): "HOME", str(archive): "ARCHIVE", f"{Path(sys.prefix, 'bin')}/": "BIN/"}
    printed: dict[str, Any] = {}
    with time_machine.travel(TODAY):
        for name, arguments in COMMANDS.items():
            ran = run(*(_placed(argument, home, archive) for argument in arguments), "--json")
            printed[name] = {"exit": ran.code, "document": steady(json.loads(ran.out), replaced)}
        dump = [_digest(line) for line in (home / "dump.jsonl").read_text(encoding="utf-8").splitlines()]
    for name, value in printed.items():
        assert_golden(f"commands/{name}", value)
    assert_golden("dump", dump)


def _placed(argument: str, home: Path, archive: Path) -> str:
    return argument.replace("HOME", str(home)).replace("ARCHIVE", str(archive))


def _digest(line: str) -> str:
    """A record of the dump in short: its type, its names, and a digest of it without what is of today."""
    record = steady(json.loads(line), {})
    names = ",".join(sorted(record))
    return f"{record.get('type')} {names} {sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:12]}"
