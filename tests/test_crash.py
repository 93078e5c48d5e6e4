"""Killed at any moment: what was acknowledged is there, and an import that is run again ends as if never disturbed."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from tests.exports import archive, chat, dump_of, node, opened, tree
from tests.processes import finished, started

SUBJECTS = ("tide", "weir", "belfry", "heron", "otter", "lease", "bread", "kiln")


def export_of(path: Path, conversations: int) -> Path:
    """A folder with an export of ChatGPT, with branches and tool calls, and one of Claude, with a project."""
    chats = [
        chat(
            *(f"{SUBJECTS[(n + i) % 8]} number {i} of {n}, as ever" for i in range(24)), name=f"c{n}", title=f"Talk {n}"
        )
        for n in range(conversations)
    ]
    branched = [
        tree(
            node("q", None, f"Which {subject}?"),
            node("t", "q", f"look_up({subject!r})", "assistant", minute=1, recipient="python"),
            node("r", "t", f"{subject} found", "tool", minute=2),
            node("a", "r", f"The second {subject}.", "assistant", minute=3),
            node("b", "q", f"The first {subject}.", "assistant", minute=4),
            name=f"b-{subject}",
        )
        for subject in SUBJECTS
    ]
    archive(
        path / "chatgpt.zip", {"conversations-000.json": chats[::2], "conversations-001.json": chats[1::2] + branched}
    )
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [
        {"uuid": f"d{i}", "filename": f"{i}.md", "content": f"{SUBJECTS[i % 8]} rules. " * 500, **times}
        for i in range(12)
    ]
    project = {"uuid": "p", "name": "Harbour", "prompt_template": "Be brief.", "docs": docs, **times}
    archive(path / "claude.zip", {"projects.json": [project]})
    return path


def seconds_of(process: subprocess.Popen[str]) -> float:
    return float(json.loads(finished(process)[-1])["seconds"])


def killed_and_resumed(tmp_path: Path, export: Path, kills: int, *, check_each: bool) -> None:
    """Kills an import again and again, lets it end at last, and compares with one that was left in peace."""
    length = seconds_of(started("import", tmp_path / "calm.db", export))
    chance = random.Random(20250301)
    store = tmp_path / "killed.db"
    cut_short = 0
    for kill in range(kills):
        # Later kills let more pass, or the first of them would see the only unfinished imports.
        with started("import", store, export) as process:
            try:
                process.wait(chance.uniform(min(0.05, length / 2), length * (0.3 + 0.7 * (kill + 1) / kills)))
            except subprocess.TimeoutExpired:
                cut_short += 1
            process.kill()
        if check_each:
            with opened(store) as memory:
                assert memory.check() == []
    assert cut_short > kills / 3
    finished(started("import", store, export))
    with opened(store) as killed, opened(tmp_path / "calm.db") as calm:
        assert killed.check() == []
        assert dump_of(killed) == dump_of(calm)
        assert killed.stats() == calm.stats()


def test_an_import_killed_three_times_ends_like_one_that_never_was(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, export_of(tmp_path / "export", 60), 3, check_each=True)


@pytest.mark.long
def test_an_import_killed_fifty_times_ends_like_one_that_never_was(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, export_of(tmp_path / "export", 300), 50, check_each=False)


def acknowledged_until_killed(store: Path, conversation: str, after: int) -> list[str]:
    """The messages that a process said it had stored before it was killed."""
    with started("append", store, conversation) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().strip() for _ in range(after)]
        process.kill()
        return [*told, *(line.strip() for line in process.stdout if line.endswith("\n"))]


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.long)])
def test_every_message_that_was_acknowledged_is_there(tmp_path: Path, kills: int) -> None:
    store, chance = tmp_path / "memory.db", random.Random(7)
    told = [
        message
        for kill in range(kills)
        for message in acknowledged_until_killed(store, f"C{kill % 2}", chance.randrange(1, 60))
    ]
    with opened(store) as memory:
        assert memory.check() == []
        there = {message.id: message for message in memory.messages(told)}
        assert set(there) == set(told)
        assert all(message.content.endswith("of the tide") for message in there.values())
        assert memory.stats().messages - len(told) <= kills  # at most the one that was under way each time
        assert len(memory.search("tide", group_by="message", limit=1000)) > 0
