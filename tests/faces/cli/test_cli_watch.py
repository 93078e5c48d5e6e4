"""`recollect watch` as one meets it: in a terminal, killed, started twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

import recollect
from recollect.record import Kind
from tests.faces.conftest import CommandLine
from tests.faces.terminal import COMMAND
from tests.watching.sessions import Session

_PATIENCE = 60.0


@pytest.fixture
def projects(home: Path) -> Path:
    return home / ".claude" / "projects"


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, "watch", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(home: Path) -> list[str]:
    with recollect.open(home / "recollect" / "memory.db", background=False) as memory:
        rows = sorted(memory.conversations(limit=1000), key=lambda row: row.conversation.source_id or "")
        threads = [memory.conversation(row.conversation.id) for row in rows]
    return [m.content for thread in threads for m in thread.messages if m.kind is Kind.SAID]


def test_once(run: CommandLine, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    first = run("watch", "--once")
    assert "Claude Code  Where are the bells set?: 1 message" in first.out
    assert run("watch", "--once").out == "Nothing new.\n"
    session.answers("In tariff.toml.")
    document = run("watch", "--once", "--json").document
    (taken,) = document.pop("taken")
    assert taken.pop("seconds") >= 0
    assert taken == {
        "label": "Claude Code",
        "sources": ["Claude Code"],
        "new": 0,
        "changed": 1,
        "same": 0,
        "messages": 1,
    }
    assert document == {"left_out": 0, "kept_out": 0, "problems": [], "failed": []}


def test_where_there_is_nothing_it_waits(run: CommandLine, home: Path) -> None:
    ran = run("watch", "--once")
    assert (ran.code, ran.out) == (0, "Nothing new.\n")


def test_a_folder_that_is_none_is_told(run: CommandLine, tmp_path: Path) -> None:
    assert run("watch", tmp_path / "nowhere", "--once").code == 1
    (tmp_path / "file").write_text("x")
    assert run("watch", tmp_path / "file", "--once").code == 2


def test_it_takes_in_what_is_written_within_seconds_and_ends_when_told(home: Path, projects: Path) -> None:
    session = Session(projects)
    with started("--json") as process:
        assert process.stdout is not None
        for text in ("Where are the bells set?", "And the clock?"):
            session.says(text)
            began = time.monotonic()
            told = json.loads(process.stdout.readline())
            assert told["taken"][0]["messages"] == 1
            assert time.monotonic() - began < _PATIENCE
        process.send_signal(signal.SIGTERM)
        assert process.wait(_PATIENCE) == 0
    assert said(home) == ["Where are the bells set?", "And the clock?"]


def test_two_at_a_time_are_one_too_many(home: Path, projects: Path, run: CommandLine) -> None:
    Session(projects).says("Where are the bells set?")
    with started() as process:
        assert process.stdout is not None
        process.stdout.readline()
        second = run("watch")
        assert (second.code, f": {process.pid}." in second.err) == (2, True)
        assert run("watch", "--once").code == 0
        process.terminate()
        assert process.wait(_PATIENCE) == 0


def test_killed_at_any_moment_nothing_is_lost_or_there_twice(home: Path, projects: Path) -> None:
    chance = random.Random(7)
    sessions = [Session(projects, number) for number in (1, 2, 3)]
    for _ in range(6):
        with started() as process:
            for _ in range(12):
                session = chance.choice(sessions)
                text = f"message {len(session.lines)} of session {session.number}"
                line = session.line("user", text)
                rest = session.write(line, only=chance.randrange(1, 100))
                time.sleep(chance.uniform(0, 0.1))
                session.append(rest)
            time.sleep(chance.uniform(0, 0.5))
            process.kill()
            process.wait()
    subprocess.run([*COMMAND, "watch", "--once"], check=True, stdout=subprocess.DEVNULL)
    wanted = [line["message"]["content"] for session in sessions for line in session.lines]
    assert said(home) == wanted
    with recollect.open(home / "recollect" / "memory.db", background=False) as memory:
        assert memory.upkeep.check() == []


def test_what_is_kept_is_for_its_owner_alone(home: Path, projects: Path, run: CommandLine) -> None:
    Session(projects).says("Where are the bells set?")
    run("watch", "--once")
    (kept,) = (home / "recollect" / "state").glob("watched-*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text("{broken")
    assert run("watch", "--once").code == 0
    assert len(said(home)) == 1
    assert os.environ["RECOLLECT_HOME"] in str(kept)


def test_a_brief_is_of_the_folder(run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home.parent))
    folder = home / "shop"
    folder.mkdir()
    session = Session(home / "projects", cwd=str(folder))
    session.says("Where are the bells set?")
    run("import", home / "projects")
    assert "Where are the bells set?" in run("brief", folder).out
    assert run("brief", folder, "--json").document["name"] == "shop"
    monkeypatch.chdir(folder)
    assert run("brief").code == 0
    monkeypatch.chdir(home)
    assert run("brief", "--json").document["text"].count("bells") == 2  # this folder holds the other
    monkeypatch.chdir("/")
    empty = run("brief")
    assert (empty.code, empty.out) == (1, "")
    assert "recollect import --found" in empty.err
    assert run("brief", "--budget", "7").code == 2
