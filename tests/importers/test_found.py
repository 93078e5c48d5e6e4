"""What the first screen offers: found by looking, not by reading."""

import json
import os
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.importers.found import FoundSource, found_on_this_machine

CHATGPT = [{"id": "c", "mapping": {"n": {"id": "n", "parent": None, "message": {"author": {"role": "user"}}}}}]
CLAUDE = [{"uuid": "c", "name": "", "created_at": "2026-01-01T00:00:00Z", "chat_messages": []}]


def write(path: Path, content: str = "{}\n", at: int = 1_770_000_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (at, at))
    return path


def archive(path: Path, **members: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as written:
        for name, value in members.items():
            written.writestr(name.replace("__", "/") + ".json", json.dumps(value))
    return path


def labels(home: Path, **environment: str) -> list[str]:
    return [found.label for found in found_on_this_machine(home, environment)]


def test_an_empty_home_offers_nothing(tmp_path: Path) -> None:
    assert found_on_this_machine(tmp_path, {}) == []
    assert found_on_this_machine(tmp_path / "nowhere", {}) == []


def test_sessions_are_counted_without_their_subagents(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    write(projects / "shop" / "s1.jsonl")
    write(projects / "shop" / "s2.jsonl")
    write(projects / "shop" / "agent-x.jsonl")
    write(projects / "shop" / "s1" / "subagents" / "agent-y.jsonl", at=1_780_000_000)
    write(projects / "shop" / "s1" / "tool-results" / "b1.txt")
    newest = datetime.fromtimestamp(1_780_000_000, UTC)
    assert found_on_this_machine(tmp_path, {}) == [FoundSource("Claude Code", projects, 2, newest)]


def test_codex_sessions_are_found_by_year_month_and_day(tmp_path: Path) -> None:
    write(tmp_path / ".codex" / "sessions" / "2026" / "03" / "01" / "rollout-1.jsonl")
    assert [(found.label, found.files) for found in found_on_this_machine(tmp_path, {})] == [("Codex", 1)]


@pytest.mark.parametrize(
    ("variable", "below", "label"),
    [("CLAUDE_CONFIG_DIR", "projects/shop", "Claude Code"), ("CODEX_HOME", "sessions/2026", "Codex")],
)
def test_the_environment_says_where_to_look(tmp_path: Path, variable: str, below: str, label: str) -> None:
    write(tmp_path / "elsewhere" / below / "one.jsonl")
    assert labels(tmp_path, **{variable: str(tmp_path / "elsewhere")}) == [label]
    assert labels(tmp_path) == []


def test_exports_are_told_by_what_is_in_them_not_by_their_names(tmp_path: Path) -> None:
    downloads = tmp_path / "Downloads"
    archive(downloads / "a.zip", conversations=CHATGPT, message_feedback=[])
    archive(downloads / "b.zip", **{"conversations-000": CHATGPT})
    archive(downloads / "c.zip", conversations=CLAUDE, users=[], projects=[])
    archive(downloads / "d.zip", export__conversations=CLAUDE)
    write(downloads / "e.json", json.dumps(CHATGPT))
    write(downloads / "f.json", json.dumps(CLAUDE))
    found = {one.path.name: one.label for one in found_on_this_machine(tmp_path, {})}
    assert found == {
        "a.zip": "ChatGPT",
        "b.zip": "ChatGPT",
        "c.zip": "Claude",
        "d.zip": "Claude",
        "e.json": "ChatGPT",
        "f.json": "Claude",
    }


def test_what_only_looks_alike_is_left_out(tmp_path: Path) -> None:
    downloads = tmp_path / "Downloads"
    archive(downloads / "photos.zip", album=[])
    archive(downloads / "other.zip", conversations=[{"messages": []}])
    write(downloads / "broken.zip", "not a zip")
    write(downloads / "package.json", '{"mapping": 1}')
    write(downloads / "empty.json", "")
    write(downloads / "conversations.json" / "inside.txt")
    assert labels(tmp_path) == []


def test_hundreds_of_files_are_looked_over_quickly(tmp_path: Path) -> None:
    for number in range(300):
        write(tmp_path / ".claude" / "projects" / f"p{number % 10}" / f"{number}.jsonl")
        write(tmp_path / "Downloads" / f"{number}.json", "[1, 2, 3]")
    began = time.perf_counter()
    assert [found.files for found in found_on_this_machine(tmp_path, {})] == [300]
    assert time.perf_counter() - began < 0.5  # 100 ms are promised, on a machine that does nothing else
