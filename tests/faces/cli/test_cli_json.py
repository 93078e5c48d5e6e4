"""Every `--json` document is as docs/reference/json.md shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.faces.conftest import CommandLine
from tests.paths import ROOT

pytestmark = pytest.mark.slow

SHAPES: dict[str, Any] = {
    name: json.loads(text)
    for name, text in re.findall(
        r"^```json (\w+)\n(.*?)^```", (ROOT / "docs/reference/json.md").read_text(encoding="utf-8"), re.DOTALL | re.M
    )
}


def differences(value: Any, shape: Any, place: str = "document") -> list[str]:
    """Where a document is not of its documented shape."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [d for n, inner in enumerate(value) for d in differences(inner, shape[0], f"{place}[{n}]")]
    if isinstance(shape, dict):
        return _in_object(value, shape, place)
    right = {
        "any": True,
        "text": isinstance(value, str),
        "text or null": value is None or isinstance(value, str),
        "number or null": value is None or (isinstance(value, int | float) and not isinstance(value, bool)),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
    }[shape]
    return [] if right else [f"{place} is {value!r}, not {shape}"]


def _in_object(value: Any, shape: dict[str, Any], place: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{place} is no object"]
    if "*" in shape:
        return [d for name, inner in value.items() for d in differences(inner, shape["*"], f"{place}.{name}")]
    wanted = {name.rstrip("?"): inner for name, inner in shape.items()}
    optional = {name.rstrip("?") for name in shape if name.endswith("?")}
    found = [f"{place}.{name} is not documented" for name in value.keys() - wanted.keys()]
    found += [f"{place}.{name} is missing" for name in wanted.keys() - value.keys() - optional]
    for name in value.keys() & wanted.keys():
        found += differences(value[name], wanted[name], f"{place}.{name}")
    return found


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("status", ()),
        ("search", ("search", "nginx reverse proxy")),
        ("search", ("search", '"no such phrase anywhere"')),
        ("search", ("search", "nginx", "--group-by", "message")),
        ("found", ("import",)),
        ("problems", ("import", "--problems")),
        ("show", ("show", "full stack app planning")),
        ("list", ("list",)),
        ("summaries", ("summaries",)),
        ("entities", ("entities",)),
        ("topics", ("topics",)),
        ("timeline", ("timeline",)),
        ("days", ("timeline", "2025-03")),
        ("segments", ("topics", "--conversation", "full stack app planning")),
        ("stats", ("stats",)),
        ("check", ("check",)),
        ("config", ("config",)),
        ("tasks", ("tasks",)),
        ("stopped", ("worker", "--stop")),
        ("backlog", ("worker", "--dry-run")),
        ("backlog", ("worker", "--dry-run", "--model", "anthropic:claude-haiku-5-5")),
        ("watch", ("watch", "--once")),
        ("hooks", ("hooks",)),
        ("hooked", ("hooks", "install", "--print")),
        ("brief", ("brief",)),
        ("last", ("context", "--last")),
        ("completion", ("completion", "bash")),
        ("error", ("show", "nothing of the kind")),
        ("error", ("list", "--nonsense")),
    ],
)
def test_what_a_reading_command_prints_is_documented(
    sample: CommandLine, name: str, arguments: tuple[str, ...]
) -> None:
    assert differences(sample(*arguments, "--json").document, SHAPES[name]) == []


def test_what_a_writing_command_prints_is_documented(
    run: CommandLine, tmp_path: Path, sample_archive: list[Path]
) -> None:
    for name, arguments in (
        ("import", ("import", sample_archive[2])),
        ("describe", ("import", "--describe", sample_archive[2])),
        ("remember", ("remember", "the spare key is with Ana")),
        ("ask", ("ask", "where is the spare key?", "--model", "none")),
        ("chat", ("chat", "where is the spare key", "--model", "none")),
        ("research", ("research", "where is the spare key and the gate code", "--model", "none")),
        ("reports", ("research", "--list")),
        ("tasks", ("tasks", "-n", "2")),
        ("retried", ("tasks", "--retry")),
        ("embed", ("embed", "--limit", "2")),
        ("worker", ("worker", "--once")),
        ("export", ("export", tmp_path / "dump.jsonl")),
        ("backup", ("backup", tmp_path / "copy.db")),
        ("reindex", ("reindex",)),
        ("check", ("check", "--repair")),
        ("delete", ("delete", "Background task vanishes")),
        ("restored", ("restore", "Background task vanishes")),
        ("restore", ("restore", tmp_path / "copy.db", "--replace")),
        ("secrets", ("secrets",)),
        ("forgotten_secrets", ("forget", "--secrets", "--dry-run")),
        ("pause", ("pause", "1h")),
        ("resume", ("resume",)),
        ("person", ("forget", "--person", "Ana", "--dry-run")),
        ("forget", ("forget", "--all", "--dry-run")),
        ("forget", ("forget", "--all", "--yes")),
    ):
        assert differences(run(*arguments, "--json").document, SHAPES[name]) == [], name


def test_nothing_but_the_document_is_printed(sample: CommandLine) -> None:
    ran = sample("search", "nginx", "--json", "--color", "always")
    assert ran.err == ""
    assert ran.out.startswith("{")
    assert "\033" not in ran.out


def test_what_is_printed_of_documents_is_as_documented(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Travel\n\nTickets of the Brennero line.\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    assert not differences(run("import", "--documents", tmp_path, "--json").document, SHAPES["documents"])
    found = run("search", "Brennero", "--json").document
    assert found["documents"]
    assert not differences(found, SHAPES["search"])
    assert not differences(run("show", "1", "--json").document, SHAPES["document"])
    assert not differences(run("show", "notes.md", "--json").document, SHAPES["document"])


def test_json_holds_no_control_character_that_a_terminal_would_obey(run: CommandLine) -> None:
    run("remember", "kiln \x1b[2J \x9b31m red \x7f \u202e")
    ran = run("search", "kiln", "--json")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", ran.out)
    assert "\x9b31m red \x7f" in ran.document["results"][0]["messages"][0]["snippet"]
