"""What the status page says of sessions that are not in, and of those that their agent is about to delete."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine
from tests.watching.sessions import Session

_DAY = 86_400.0


@pytest.fixture
def projects(home: Path) -> Path:
    return home / ".claude" / "projects"


def aged(session: Session, days: float) -> None:
    then = time.time() - days * _DAY
    os.utime(session.path, (then, then))


def test_what_is_followed_is_not_offered_for_import(run: CommandLine, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    assert "recollect import --found" in run().out
    run("watch", "--once")
    assert "recollect import --found" not in run().out
    session.answers("In tariff.toml.")
    assert "recollect import --found" in run().out
    run("import", "--found")
    assert "recollect import --found" not in run().out


def test_sessions_that_expire_are_told_until_they_are_in(run: CommandLine, projects: Path) -> None:
    old, new = Session(projects, 1), Session(projects, 2)
    old.says("Where are the bells set?")
    new.says("Who winds the clock?")
    aged(old, 27)
    assert "Claude Code deletes one of these sessions within 7 days." in run().out
    assert run("--json").document["expiring"] == 1
    run("watch", "--once")
    assert "deletes" not in run().out
    assert run("--json").document["expiring"] == 0


@pytest.mark.parametrize(("settings", "expiring"), [('{"cleanupPeriodDays": 365}', 0), ("{broken", 1), ("[]", 1)])
def test_the_period_is_that_of_the_settings(settings: str, expiring: int, run: CommandLine, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    aged(session, 27)
    (projects.parent / "settings.json").write_text(settings)
    assert run("--json").document["expiring"] == expiring
