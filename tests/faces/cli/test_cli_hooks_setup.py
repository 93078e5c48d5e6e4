"""The hooks in Claude Code's settings: ours come and go, everything else stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from recollect.watching.hooks import EVENTS, HookEvent, events_hooked, read_event, with_hooks, without_hooks
from tests.faces.conftest import CommandLine
from tests.properties import examples

COMMAND = "/home/me/.local/bin/recollect hooks run"
OTHERS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "echo hi"}]}],
        "Stop": [],
        "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "recollect-format run"}]}],
    },
    "permissions": {"allow": ["Bash(make:*)"]},
}

_leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_json = _leaf | st.lists(_leaf, max_size=3) | st.dictionaries(st.text(max_size=8), _leaf, max_size=3)
_hook = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=12)}) | _json
_group = st.fixed_dictionaries({"hooks": st.lists(_hook, min_size=1, max_size=3)}) | _json
_hooks = st.dictionaries(st.sampled_from([*EVENTS, "Stop"]), st.lists(_group, min_size=1, max_size=3), min_size=1)
_settings = st.fixed_dictionaries({"model": _json}, optional={"hooks": _hooks})


@settings_of(max_examples=examples(60))
@given(_settings)
def test_what_is_put_in_and_taken_out_leaves_everything_as_it_was(settings: dict[str, Any]) -> None:
    put_in = with_hooks(settings, COMMAND)
    assert set(events_hooked(put_in)) == set(EVENTS)
    assert with_hooks(put_in, COMMAND) == put_in
    assert without_hooks(put_in) == settings


def test_a_command_that_has_moved_takes_the_place_of_the_old_one() -> None:
    moved = with_hooks(with_hooks(OTHERS, "/old/bin/recollect hooks run"), COMMAND)
    assert "/old/bin" not in json.dumps(moved)
    assert without_hooks(moved) == OTHERS


def test_the_end_of_a_session_is_given_time() -> None:
    assert with_hooks({}, COMMAND)["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] > 1.5


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cwd": "/x"}', "null", '{"hook_event_name": 7}'])
def test_what_is_no_event_is_none(text: str) -> None:
    assert read_event(text) is None


@pytest.mark.parametrize(
    ("source", "briefed"), [("startup", True), ("clear", True), ("compact", True), ("resume", False), (None, True)]
)
def test_a_session_with_words_of_its_own_needs_no_brief(source: str | None, briefed: bool) -> None:
    event = read_event(json.dumps({"hook_event_name": "SessionStart", "source": source}))
    assert event is not None
    assert event.wants_brief is briefed
    assert not HookEvent("SessionEnd", source="startup").wants_brief


def test_a_transcript_lies_in_its_project() -> None:
    for path in ("/c/projects/x/s.jsonl", "/c/projects/x/s/subagents/agent-1.jsonl"):
        event = read_event(json.dumps({"hook_event_name": "PreCompact", "transcript_path": path}))
        assert event is not None
        assert event.transcripts == Path("/c/projects/x")


@pytest.mark.parametrize("path", ["/s.jsonl", "/home/ida/s.jsonl", "s.jsonl", "/c/projects/s.jsonl", "/c/subagents/s"])
def test_no_folder_is_read_that_is_none_of_a_project(path: str) -> None:
    event = read_event(json.dumps({"hook_event_name": "PreCompact", "transcript_path": path}))
    assert event is not None
    assert event.transcripts is None


# --- the command ---------------------------------------------------------------------------------------------------
@pytest.fixture
def settings_file(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    return path


def test_installing_keeps_what_is_there_and_a_copy_of_it(run: CommandLine, settings_file: Path) -> None:
    before = json.dumps(OTHERS, indent=4)
    settings_file.write_text(before)
    settings_file.chmod(0o644)
    shown = run("hooks", "install", "--print")
    assert settings_file.read_text() == before
    assert '+            "timeout": 20' in shown.out
    assert "make:*" not in shown.out  # what stands there besides is nobody's business
    ran = run("hooks", "install")
    after = settings_file.read_text()
    assert after.startswith(before[: before.index('"hooks"')])
    assert after.endswith(before[before.index('"permissions"') :])
    assert (ran.code, json.loads(after)["model"], settings_file.stat().st_mode & 0o777) == (0, "opus", 0o644)
    (copy,) = settings_file.parent.glob("settings.json.*.bak")
    assert copy.read_text() == before
    assert "Nothing to change" in run("hooks", "install").out
    assert run("hooks").out.startswith("Claude Code calls Recollect: SessionStart")
    run("hooks", "remove")
    assert json.loads(settings_file.read_text()) == OTHERS
    assert run("hooks", "--json").document["installed"] is False


def test_the_hooks_name_the_memory_that_was_named(run: CommandLine, settings_file: Path, tmp_path: Path) -> None:
    ran = run("hooks", "install", "--json", "--store", tmp_path / "a b.db", "--namespace", "acme")
    hook = json.loads(settings_file.read_text())["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    assert hook.startswith("RECOLLECT_HOME=")  # of this test: what calls the hook has another environment
    assert hook.endswith(f"hooks run --store '{tmp_path}/a b.db' --namespace acme")
    assert (ran.document["changed"], ran.document["copy"]) == (True, None)
    assert run("hooks", "--json").document == {
        "settings": str(settings_file),
        "events": list(EVENTS),
        "installed": True,
    }


def test_a_link_stays_one(run: CommandLine, settings_file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    settings_file.symlink_to(real)
    run("hooks", "install")
    assert settings_file.is_symlink()
    assert "hooks" in json.loads(real.read_text())


def test_comments_stay(run: CommandLine, settings_file: Path) -> None:
    settings_file.write_text('// mine\n{\n  "model": "opus", // the best\n}\n')
    run("hooks", "install")
    assert settings_file.read_text().startswith('// mine\n{\n  "model": "opus", // the best\n')


@pytest.mark.parametrize("content", ['{"a": 1', "{}, {}", "[]", '{"hooks": []}', '{"hooks": {"SessionEnd": {}}}'])
def test_what_cannot_be_read_is_not_touched(content: str, run: CommandLine, settings_file: Path) -> None:
    settings_file.write_text(content)
    ran = run("hooks", "install")
    assert (ran.code, settings_file.read_text()) == (2, content)
    assert ran.err


def test_of_one_folder_alone(
    run: CommandLine, settings_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("hooks", "install", "--project")
    assert not settings_file.exists()
    assert "hooks" in json.loads((tmp_path / ".claude" / "settings.local.json").read_text())


def test_removing_from_nothing_makes_no_file(run: CommandLine, settings_file: Path) -> None:
    assert "Nothing to change" in run("hooks", "remove").out
    assert not settings_file.exists()


def test_an_unknown_action_is_told(run: CommandLine, settings_file: Path) -> None:
    assert run("hooks", "instal").code == 2


@pytest.mark.parametrize(
    "before",
    [
        '// mine\n{\n  "model": "opus", // the best\n  "env": {"A": "1"}, /* last */\n}\n',
        '\ufeff{\n    "model": "opus"\n}\n',
        '{\r\n\t"model": "opus",\r\n\t"most": 1e400,\r\n\t"least": 1.10\r\n}\r\n',
        '{\n  "half": "\\ud83d",\n  "model": "opus"\n}\n',
        '{\n  "hooks": {\n    // keep me\n    "Stop": [], // and me\n  },\n  "model": "opus"\n}\n',
        '{\n  "hooks": {\n    "Stop": [ {"hooks": []} ]\n  }\n}\n',
        '{\n  "hooks": {\n    "SessionStart": [ // at the start\n      {\n        "matcher": "startup", // only then\n'
        '        "hooks": [{ "type": "command", "command": "echo hi" }]\n      }\n    ]\n  }\n}\n',
        '{\n  "hooks": {"SessionEnd": [{"hooks": [{ "type": "command", "command": "bye" }]}]}\n}\n',
        '{"model":"opus","hooks":{"Stop":[]}} /* one line */',
        "{}",
        '{\r\n  "model": "opus",\n  "most": 1\r\n}\n',
        '{\n  "model": "opus" /* of two\n  lines */\n}\n',
    ],
)
def test_what_was_put_in_comes_out_again_to_the_letter(before: str, run: CommandLine, settings_file: Path) -> None:
    settings_file.write_bytes(before.encode())
    assert run("hooks", "install").code == 0
    assert settings_file.read_bytes().decode() != before
    assert all(line in settings_file.read_bytes().decode() for line in before.splitlines() if "//" in line)
    assert run("hooks", "remove").code == 0
    assert settings_file.read_bytes().decode() == before


@pytest.mark.parametrize("before", ['{"hooks": null}', '{"hooks": []}', '{"hooks": {}}', '{"hooks": {"Stop": []}}'])
def test_removing_takes_nothing_that_is_not_ours(before: str, run: CommandLine, settings_file: Path) -> None:
    settings_file.write_text(before)
    assert "Nothing to change" in run("hooks", "remove").out
    assert settings_file.read_text() == before


@pytest.mark.parametrize("before", [b"", b" \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_one_without_settings(before: bytes, run: CommandLine, settings_file: Path) -> None:
    settings_file.write_bytes(before)
    assert run("hooks", "install").code == 0
    assert "hooks" in json.loads(settings_file.read_text("utf-8-sig"))


def test_a_file_that_nobody_may_write_is_left_alone(run: CommandLine, settings_file: Path) -> None:
    settings_file.write_text("{}")
    settings_file.chmod(0o444)
    ran = run("hooks", "install")
    assert (ran.code, settings_file.read_text()) == (2, "{}")
    assert "read-only" in ran.err
    assert str(settings_file) in ran.err
    assert list(settings_file.parent.iterdir()) == [settings_file]


@pytest.mark.parametrize("before", ['{"name": "Grüße"}'.encode("latin-1"), '{"a": 1}'.encode("utf-16")])
def test_a_file_in_another_encoding_is_named(before: bytes, run: CommandLine, settings_file: Path) -> None:
    settings_file.write_bytes(before)
    for action in ("install", "remove"):
        ran = run("hooks", action)
        assert (ran.code, settings_file.read_bytes()) == (2, before)
        assert str(settings_file) in ran.err
