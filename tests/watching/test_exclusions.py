"""What the user keeps out: folders, pauses, and sessions that are marked."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.record import Kind
from recollect.watching.exclusions import KeepingOut, Patterns
from recollect.watching.imported_files import ImportedFiles, Watched
from recollect.watching.watcher import Watcher
from tests.watching.sessions import Rollout, Session
from tests.watching.test_watcher import messages

SECRET = "/home/me/work/secret"


def said(memory: Memory) -> list[str]:
    return sorted(message.content for message in messages(memory) if message.kind is Kind.SAID)


def at(second: int) -> datetime:
    return datetime(2026, 3, 1, 10, 0, second, tzinfo=UTC)


@pytest.fixture
def paused_between(tmp_path: Path) -> Callable[[datetime, datetime], Recording]:
    """A recording that was paused between two times."""

    def made(began: datetime, ended: datetime) -> Recording:
        now = [began]
        recording = Recording(tmp_path / "recording.db", clock=lambda: now[0])
        recording.pause()
        now[0] = ended
        recording.resume()
        return recording

    return made


@pytest.mark.parametrize(
    ("patterns", "folder", "fits"),
    [
        (["~/work/secret"], SECRET, True),
        (["~/work/secret"], f"{SECRET}/deep/in/it", True),
        (["~/work/secret"], "/home/me/work/secrets", False),
        (["~/work/secret"], "/srv/work/secret", False),
        (["secret/"], SECRET, True),
        (["work/secret"], SECRET, True),
        (["*.private"], "/srv/a.private/src", True),
        (["/srv/clients/*/notes"], "/srv/clients/ana/notes", True),
        (["/srv/clients/*/notes"], "/home/srv/clients/ana/notes", False),
        (["~/work/**", "!~/work/open/"], "/home/me/work/shut", True),
        (["~/work/*", "!~/work/open/"], "/home/me/work/open", False),
        (["~/Work/Secret"], SECRET, True),
        (["C:\\Users\\me\\secret"], "c:\\users\\me\\secret\\src", True),
        (["~/work/x/..//./secret"], SECRET, True),
        (["~\\work\\secret"], SECRET, True),
        (["café"], "/srv/cafe\u0301/x", True),
        (["//server/share"], "\\\\Server\\share\\src", True),
        (["/"], SECRET, True),
        ([], SECRET, False),
    ],
)
def test_folders_are_named_as_in_a_gitignore(patterns: list[str], folder: str, fits: bool) -> None:
    assert Patterns(patterns, Path("/home/me")).fits(folder) is fits


def test_a_link_to_a_folder_that_is_kept_out_is_kept_out(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    for named, worked in (("secret", "link"), ("link", "secret")):
        assert Patterns([str(tmp_path / named)], Path("/home/me")).fits(str(tmp_path / worked / "src"))


def test_a_session_in_a_folder_that_is_kept_out_is_not_followed(
    memory: Memory, projects: Path, rollouts: Path, tmp_path: Path, recording: Recording
) -> None:
    Session(projects, 1).says("Where are the bells set?")
    Session(projects, 2, cwd=f"{SECRET}/src", project="-home-me-work-secret-src").says("Who is it for?")
    wandering = Session(projects, 3)
    wandering.says("What is in the other folder?")
    wandering.cwd = SECRET
    wandering.says("And here?")
    keeping_out = KeepingOut(Patterns(["~/work/secret"], Path("/home/me")), recording)
    kept = ImportedFiles(tmp_path / "state", Path(memory.location), memory.namespace)
    watcher = Watcher(memory, [Watched("Claude Code", projects)], kept, keeping_out, clock=lambda: 0.0)
    assert watcher.round().kept_out == 2
    assert said(memory) == ["Where are the bells set?"]
    assert watcher.round().kept_out == 0


def test_while_it_is_paused_nothing_is_read_and_what_was_said_then_never_is(
    watcher: Watcher, memory: Memory, projects: Path, recording: Recording
) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    watcher.round()
    recording.pause()
    session.write(session.line("user", "This is nobody's business.", timestamp=_now()))
    session.append('{"type": "custom-title", "customTitle": "Nobody\'s business", "sessionId": "x"}\n')
    assert not watcher.round()
    recording.resume()
    session.write(session.line("user", "Ring them again.", timestamp=_now()))
    watcher.round()
    assert said(memory) == ["Ring them again.", "Where are the bells set?"]
    assert [row.conversation.title for row in memory.conversations()] != ["Nobody's business"]


def _now() -> str:
    return datetime.now(UTC).isoformat()


def test_a_session_of_codex_that_began_in_a_pause_is_recorded_from_its_end_on(
    memory: Memory, rollouts: Path, tmp_path: Path, paused_between: Callable[[datetime, datetime], Recording]
) -> None:
    rollout = Rollout(rollouts / "rollout-1.jsonl", number=1)
    rollout.begin()
    rollout.says(1, "user", "This is nobody's business.")
    rollout.says(20, "user", "Ring the bells.")
    recording = paused_between(at(0), at(10))
    kept = ImportedFiles(tmp_path / "state", Path(memory.location), memory.namespace)
    keeping_out = KeepingOut(Patterns((), Path("/home/me")), recording)
    Watcher(memory, [Watched("Codex", rollouts)], kept, keeping_out, clock=lambda: 0.0).round()
    assert said(memory) == ["Ring the bells."]


def test_what_other_files_hold_of_a_marked_session_is_kept_out_too(
    watcher: Watcher, keeping_out: KeepingOut, memory: Memory, projects: Path
) -> None:
    """A subagent's file beside it, and a session that repeats the one it resumes."""
    marked, resuming = Session(projects, 1), Session(projects, 2, day=2)
    keeping_out.mark(marked.path.stem)
    secret = marked.line("user", "This is nobody's business.")
    marked.write(secret)
    helper = marked.path.with_name("agent-a1b2c3d4.jsonl")
    helper.write_text(json.dumps(secret | {"isSidechain": True, "agentId": "a1b2c3d4", "uuid": "s"}) + "\n")
    resuming.append(json.dumps(secret) + "\n")
    resuming.says("Ring the bells.")
    watcher.round()
    assert said(memory) == ["Ring the bells."]
