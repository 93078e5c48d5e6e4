"""`recollect pause` and `recollect resume`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.memory.recording import FILE, Recording
from tests.faces.conftest import CommandLine
from tests.watching.sessions import Session


def test_a_pause_says_until_when_and_everything_that_shows_the_state_says_it(run: CommandLine, home: Path) -> None:
    assert "paused until you resume" in run("pause").out
    run("remember", "Bells are set in tariff.toml.")
    assert "Recording is paused" in run().out
    assert "Recording is paused" in run("stats").out
    assert run("stats", "--json").document["paused"] is True
    assert "stays out" in run("resume").out
    assert "paused" not in run().out
    assert run("stats", "--json").document["paused"] is False
    again = run("resume")
    assert (again.code, again.out) == (1, "Recording was not paused.\n")


def test_what_is_found_and_followed_waits_and_what_you_record_yourself_does_not(run: CommandLine, home: Path) -> None:
    Session(home / ".claude" / "projects").says("Where are the bells set?")
    run("pause")
    assert "paused" in run("watch", "--once").out
    assert run("import", "--found").code == 1
    run("remember", "I wind the clock.")
    assert "clock" in run("search", "clock").out
    assert "bells" not in run("search", "bells").out
    run("resume")
    assert "1 message" in run("watch", "--once").out


@pytest.mark.parametrize(
    ("told", "length"),
    [("30m", timedelta(minutes=30)), ("2h", timedelta(hours=2)), ("3 days", timedelta(days=3)),
     ("1 week", timedelta(weeks=1)), ("45 min", timedelta(minutes=45)), ("1 Hour", timedelta(hours=1))],
)  # fmt: skip
def test_a_pause_ends_by_itself(run: CommandLine, home: Path, told: str, length: timedelta) -> None:
    before = datetime.now(UTC)
    until = datetime.fromisoformat(run("pause", told, "--json").document["until"])
    assert timedelta() <= until - before - length < timedelta(minutes=1)
    later = Recording(home / "recollect" / FILE, clock=lambda: until)
    assert later.paused() is None
    assert later.is_on({})


@pytest.mark.parametrize("wrong", ["", "soon", "0h", "-1h", "1y", "99999999h"])
def test_a_length_that_is_none_pauses_nothing(run: CommandLine, home: Path, wrong: str) -> None:
    assert run("pause", "--", wrong).code == 2
    assert not (home / "recollect" / FILE).exists()


def test_a_pause_gets_a_new_end_and_stays_one_pause(tmp_path: Path) -> None:
    now = [datetime(2026, 3, 1, 10, tzinfo=UTC)]
    recording = Recording(tmp_path / FILE, clock=lambda: now[0])
    recording.pause(now[0] + timedelta(hours=1))
    now[0] += timedelta(minutes=30)
    recording.pause()
    now[0] += timedelta(days=2)
    assert recording.paused() is not None
    recording.resume()
    assert [(pause.began.hour, pause.ends) for pause in recording.pauses()] == [(10, now[0])]


def test_its_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    recording = Recording(tmp_path / FILE)
    recording.pause()
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_a_clock_that_is_set_back_ends_no_pause(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, 10, tzinfo=UTC)
    recording = Recording(tmp_path / FILE, clock=lambda: now)
    for until in (None, now + timedelta(hours=2)):
        recording.pause(until)
        now -= timedelta(hours=3)
        assert not recording.is_on({})
        now += timedelta(hours=3)
        assert recording.resume() is not None
        assert recording.is_on({})


def test_a_time_of_two_words_needs_no_quotes(run: CommandLine) -> None:
    assert "paused until" in run("pause", "3", "days").out
    assert run("pause", "3", "days", "more").code == 2
