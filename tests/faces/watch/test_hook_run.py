"""What a hook does when Claude Code calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine
from tests.faces.terminal import COMMAND
from tests.faces.watch.sessions import SHOP, Session


def event(session: Session, name: str, source: str = "startup") -> str:
    return json.dumps(
        {
            "session_id": "x",
            "transcript_path": str(session.path),
            "cwd": session.cwd,
            "hook_event_name": name,
            "source": source,
        }
    )


@pytest.fixture
def session(home: Path) -> Session:
    session = Session(home / ".claude" / "projects")
    session.says("Where are the bells set?")
    session.answers("In tariff.toml.")
    return session


@pytest.mark.parametrize("name", ["SessionEnd", "PreCompact"])
def test_the_end_of_a_session_saves_it(name: str, run: CommandLine, session: Session) -> None:
    ran = run("hooks", "run", stdin=event(session, name))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert run("search", "tariff.toml", "--json").code == 0


def test_the_start_of_a_session_gets_a_brief_and_saves_what_was_left(run: CommandLine, session: Session) -> None:
    first = run("hooks", "run", stdin=event(session, "SessionStart"))
    assert (first.code, first.out) == (0, "")  # nothing is known yet
    second = run("hooks", "run", stdin=event(session, "SessionStart"))
    assert second.out.startswith(f'<recollect-context folder="{SHOP}">\n')
    assert "In tariff.toml." in second.out
    assert run("hooks", "run", stdin=event(session, "SessionStart", "resume")).out == ""


def test_a_brief_that_was_handed_out_is_not_taken_in(run: CommandLine, session: Session) -> None:
    run("hooks", "run", stdin=event(session, "SessionEnd"))
    brief = run("hooks", "run", stdin=event(session, "SessionStart")).out
    after = Session(session.projects, 2, day=2)
    after.says(f"{brief}\nRing the bells.")
    run("hooks", "run", stdin=event(after, "SessionEnd"))
    found = run("search", "Ring the bells", "--json").document
    assert "recollect-context" not in json.dumps(found)


def test_a_memory_tool_gets_no_brief(run: CommandLine, session: Session) -> None:
    run("hooks", "run", stdin=event(session, "SessionEnd"))
    tool = Session(session.projects, 2, cwd=f"{SHOP}/.claude-mem/run")
    tool.says("Sum this up.")
    assert run("hooks", "run", stdin=event(tool, "SessionStart")).out == ""


def test_what_goes_wrong_does_not_disturb_the_session(run: CommandLine, session: Session, home: Path) -> None:
    store = home / "recollect" / "memory.db"
    store.parent.mkdir(parents=True)
    store.write_text("this is no database, and long enough to be looked at as one" * 20)
    ran = run("hooks", "run", stdin=event(session, "SessionEnd"))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert "SessionEnd: " in (home / "recollect" / "state" / "hooks.log").read_text()


def test_a_transcript_that_is_gone_is_no_problem(run: CommandLine, session: Session) -> None:
    session.path.unlink()
    session.path.parent.rmdir()
    assert run("hooks", "run", stdin=event(session, "SessionEnd")).code == 0


def test_whoever_types_it_is_told(run: CommandLine) -> None:
    ran = run("hooks", "run", stdin="")
    assert (ran.code, "It calls this itself." in ran.err) == (2, True)


def test_the_end_of_a_session_does_not_wait_for_the_import(session: Session, home: Path) -> None:
    """The process that imports outlives the hook; a worker is not left behind, so that the test leaves nothing."""
    environment = {**os.environ, "RECOLLECT_BACKGROUND": "1"}
    code = "from recollect.faces.cli.commands.hooks import _take_in"  # loaded before, as the time of Python is not ours
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    words = [*COMMAND, "hooks", "run"]
    subprocess.run(words, input=event(session, "SessionEnd"), text=True, check=True, env=environment, timeout=20)
    environment["RECOLLECT_BACKGROUND"] = "0"
    end = time.monotonic() + 60
    while subprocess.run([*COMMAND, "search", "tariff.toml"], env=environment, capture_output=True).returncode:
        assert time.monotonic() < end
        time.sleep(0.1)
    subprocess.run([*COMMAND, "worker", "--stop"], env=environment, capture_output=True, check=True)
