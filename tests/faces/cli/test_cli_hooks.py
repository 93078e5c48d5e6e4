"""What a hook does when Claude Code calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.memory import Memory
from tests.faces.conftest import CommandLine, Device
from tests.faces.terminal import COMMAND, on_a_terminal
from tests.watching.sessions import SHOP, Session


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


def log_of(home: Path) -> str:
    return (home / "recollect" / "state" / "hooks.log").read_text()


@pytest.mark.parametrize(
    "given",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"hook_event_name": 5}',
        "[" * 100_000,
        '{"hook_event_name": "SessionEnd", "transcript_path": "~nobody-of-this-name/x.jsonl"}',
        '{"hook_event_name": "SessionStart", "cwd": "a\\u0000b", "transcript_path": "\\ud800/x"}',
        '{"hook_event_name": "SessionStart", "cwd": "' + "x" * 100_000 + '"}',
    ],
)
def test_odd_input_never_blocks_claude_code(run: CommandLine, home: Path, given: str) -> None:
    ran = run("hooks", "run", stdin=given)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_why_nothing_was_done_stands_in_the_log(run: CommandLine, home: Path) -> None:
    run("hooks", "run", stdin="no JSON")
    assert "`recollect hooks run` expects an event on standard input." in log_of(home)


def test_whoever_types_it_is_told(home: Path) -> None:
    assert "Claude Code calls it." in on_a_terminal(["hooks", "run"], os.environ)


@pytest.mark.parametrize(
    ("words", "variables", "reason"),
    [
        (["hooks", "run", "--nonsense"], {}, "has no option --nonsense"),
        (["--nonsense", "hooks", "run"], {}, "has no option --nonsense"),
        (["--store", "hooks", "hooks", "run", "twice"], {}, "takes one ACTION"),
        (["hooks", "--json", "run", "--namespace", "a//b"], {}, "a//b"),
        (["hooks", "run"], {"RECOLLECT_BACKGROUND": "perhaps"}, "RECOLLECT_BACKGROUND"),
        (["hooks", "run"], {"RECOLLECT_EMBEDDER": "nonsense:x"}, "nonsense"),
        (["hooks", "run"], {"RECOLLECT_DEBUG": "1", "RECOLLECT_BACKGROUND": "perhaps"}, "Traceback"),
    ],
)
def test_a_wrong_setting_never_blocks_claude_code(
    run: CommandLine,
    session: Session,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variables: dict[str, str],
    reason: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = run(*words, stdin=event(session, "PreCompact"))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert reason in log_of(home)


def test_only_a_hook_is_so_quiet(run: CommandLine) -> None:
    for words in (["search", "hooks", "run"], ["hooks", "install", "--namespace", "run", "more"], ["hooks", "walk"]):
        assert run(*words).code != 0


def test_where_no_log_can_be_written_it_exits_0_all_the_same(
    run: CommandLine, session: Session, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("RECOLLECT_HOME", str(home / "file"))
    ran = run("hooks", "run", stdin=event(session, "SessionEnd"))
    assert (ran.code, ran.out) == (0, "")
    assert "is a file, not a folder" in ran.err


def test_a_crash_at_import_never_blocks_claude_code(session: Session, home: Path, tmp_path: Path) -> None:
    for crash in ("raise SystemExit(2)", "raise RuntimeError('half installed')", "import nothing_of_this_name"):
        (tmp_path / "apsw.py").write_text(crash)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd())])}
        given = event(session, "SessionEnd").encode()
        ran = subprocess.run([*COMMAND, "hooks", "run"], input=given, env=environment, capture_output=True)
        assert (ran.returncode, ran.stdout) == (0, b"")
    log = log_of(home)
    assert "SystemExit: 2" in log
    assert "half installed" in log
    assert "nothing_of_this_name" in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_hook_exits_0(home: Path, number: int) -> None:
    """It waits for its input when it is interrupted, twice, and says so in the log."""
    begin = "import sys; sys.stdin.isatty = lambda: print(1, file=sys.stderr, flush=True) or False; "
    command = [COMMAND[0], "-c", begin + COMMAND[2], "hooks", "run"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        process.stderr.readline()
        process.send_signal(number)
        process.send_signal(number)
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
    assert "KeyboardInterrupt" in log_of(home)


def test_a_full_disk_behind_standard_output_never_blocks_claude_code(
    run: CommandLine, session: Session, home: Path, device: Device
) -> None:
    run("hooks", "run", stdin=event(session, "SessionEnd"))
    with device("full").open("w") as full:
        given = event(session, "SessionStart").encode()
        ran = subprocess.run([*COMMAND, "hooks", "run"], input=given, stdout=full, stderr=subprocess.PIPE)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "No space left on device" in log_of(home)


def test_the_end_of_a_session_does_not_wait_for_the_import(session: Session, home: Path) -> None:
    """The process that imports outlives the hook; a worker is not left behind, so that the test leaves nothing."""
    # The module is loaded before: the time that takes is not ours.
    environment = {**os.environ, "RECOLLECT_BACKGROUND": "1"}
    code = "from recollect.faces.cli.commands.recording import _take_in"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    words = [*COMMAND, "hooks", "run"]
    subprocess.run(words, input=event(session, "SessionEnd"), text=True, check=True, env=environment, timeout=20)
    environment["RECOLLECT_BACKGROUND"] = "0"
    end = time.monotonic() + 60
    while subprocess.run([*COMMAND, "search", "tariff.toml"], env=environment, capture_output=True).returncode:
        assert time.monotonic() < end
        time.sleep(0.1)
    subprocess.run([*COMMAND, "worker", "--stop"], env=environment, capture_output=True, check=True)


def test_why_the_process_that_is_left_behind_failed_stands_in_the_log(session: Session, home: Path) -> None:
    environment = {**os.environ, "RECOLLECT_BACKGROUND": "1", "RECOLLECT_EMBEDDER": "nonsense:x"}
    given = event(session, "SessionEnd")
    subprocess.run([*COMMAND, "hooks", "run"], input=given, text=True, check=True, env=environment, timeout=20)
    end, log = time.monotonic() + 60, home / "recollect" / "state" / "hooks.log"
    while not (log.exists() and "'nonsense:x' is not an embedder" in log.read_text()):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_session_that_is_marked_is_never_saved_by_a_hook(
    run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked, other = Session(home / ".claude" / "projects", 1), Session(home / ".claude" / "projects", 2)
    marked.says("This is nobody's business.")
    other.says("Where are the bells set?")
    monkeypatch.setenv("RECOLLECT_RECORD", "no")
    assert run("hooks", "run", stdin=event(marked, "SessionStart")).code == 0
    assert not (home / "recollect" / "memory.db").exists()
    monkeypatch.delenv("RECOLLECT_RECORD")
    assert run("hooks", "run", stdin=event(other, "SessionEnd")).code == 0
    assert run("import", "--found").code == 0
    assert "bells" in run("search", "bells").out
    assert "nobody's" not in run("search", "nobody's business").out


@pytest.mark.parametrize("pattern", ["$HOME/secret", "~ann/secret", "!~ann/secret"])
def test_a_pattern_that_would_fit_nothing_is_refused(
    run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    monkeypatch.setenv("RECOLLECT_LEAVE_OUT", pattern)
    ran = run("import", "--found")
    assert ran.code == 2
    assert "would fit no folder" in ran.err


@pytest.mark.parametrize("mark", ["no", "nein"])
def test_a_marked_session_is_kept_out_whatever_else_goes_wrong(
    run: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    Session(home / ".claude" / "projects", 1).says("Where are the bells set?")
    assert run("import", "--found").code == 0
    marked = Session(home / ".claude" / "projects", 2)
    marked.says("This is nobody's business.")
    with monkeypatch.context() as broken:
        broken.setenv("RECOLLECT_RECORD", mark)
        broken.setattr(Memory, "brief", _fails)
        run("hooks", "run", stdin=event(marked, "SessionStart"))
    assert run("import", "--found").code == 0
    assert "bells" in run("search", "bells").out
    assert "nobody" not in run("search", "nobody").out


def _fails(*_: object) -> None:
    raise OSError("disk")
