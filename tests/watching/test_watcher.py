"""Following folders: what is new comes in, once, whatever happens while it is written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import StoreBusy
from recollect.memory import Memory
from recollect.memory.integration import Integration
from recollect.record import Kind, Message
from recollect.sample import write_archive
from recollect.watching.exclusions import KeepingOut
from recollect.watching.imported_files import ImportedFiles, Watched
from recollect.watching.watcher import Watcher
from tests.watching.sessions import Rollout, Session, session_id


def messages(memory: Memory) -> list[Message]:
    rows = sorted(memory.conversations(), key=lambda row: row.conversation.id)
    return [m for row in rows for m in memory.conversation(row.conversation.id).messages]


def said(memory: Memory) -> list[str]:
    return [message.content for message in messages(memory) if message.kind is Kind.SAID]


def brought(watcher: Watcher) -> int:
    """The messages that a round brings; it must not fail."""
    done = watcher.round()
    assert done.failed == []
    return sum(taken.report.written.messages for taken in done.taken)


def test_a_session_is_followed_line_by_line(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    assert brought(watcher) == 0  # there is not even a folder
    session.says("Where are the bells set?")
    assert brought(watcher) == 1
    session.answers("In tariff.toml.")
    session.says("Ring them.")
    assert brought(watcher) == 2
    assert brought(watcher) == 0
    assert said(memory) == ["Where are the bells set?", "In tariff.toml.", "Ring them."]


def test_half_a_line_waits_for_its_other_half(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    rest = session.write(session.line("user", "And where — 鐘 — is the clock?"), only=130)
    done = watcher.round()
    assert (said(memory), done.problems) == (["Where are the bells set?"], [])
    session.append(rest)
    assert brought(watcher) == 1
    assert said(memory)[-1] == "And where — 鐘 — is the clock?"


def test_a_last_line_without_an_end_is_a_line(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    session.path.write_text(session.path.read_text().rstrip("\n"))
    assert brought(watcher) == 1


def test_what_was_only_thought_is_no_earlier_wording(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    session.write(session.line("assistant", [{"type": "thinking", "thinking": "Perhaps in the tariff."}], answer="m1"))
    watcher.round()
    session.answers("In tariff.toml.", answer="m1")
    watcher.round()
    answer = messages(memory)[-1]
    assert (answer.kind, answer.content, answer.versions) == (Kind.SAID, "In tariff.toml.", ())
    assert [part.text for part in answer.parts] == ["Perhaps in the tariff."]


def test_step_by_step_comes_to_the_same_as_at_once(
    watcher: Watcher, memory: Memory, projects: Path, tmp_path: Path
) -> None:
    session = Session(projects)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make test"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "212 passed"}
    steps = [
        ("user", "Run the tests."),
        ("assistant", [{"type": "thinking", "thinking": "make test it is"}]),
        ("assistant", [call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": "All 212 pass."}]),
        ("user", "Good."),
    ]
    for role, content in steps:
        session.write(session.line(role, content))
        watcher.round()
    with recollect.open(tmp_path / "at-once.db", durable=False) as other:
        other.import_file(projects)
        assert messages(memory) == messages(other)
        assert memory.upkeep.stats() == other.upkeep.stats()


def test_a_session_that_resumes_another_is_one_with_it(watcher: Watcher, memory: Memory, projects: Path) -> None:
    first, second = Session(projects, 1), Session(projects, 2)
    first.says("Where are the bells set?")
    first.answers("In tariff.toml.")
    assert brought(watcher) == 2
    for line in first.lines:  # as Claude Code copies them
        second.append(json.dumps(line | {"sessionId": session_id(2)}) + "\n")
    second.write(second.line("user", "Ring them.", parentUuid="1-1"))
    assert brought(watcher) == 1
    second.write(second.line("assistant", [{"type": "text", "text": "Done."}]))
    assert brought(watcher) == 1
    assert len(memory.conversations()) == 1
    assert said(memory) == ["Where are the bells set?", "In tariff.toml.", "Ring them.", "Done."]


def test_only_what_belongs_together_is_read(watcher: Watcher, memory: Memory, projects: Path) -> None:
    first, second = Session(projects, 1), Session(projects, 2)
    first.says("Where are the bells set?")
    second.says("Who winds the clock?")
    watcher.round()
    second.answers("The sexton.")
    done = watcher.round()
    assert [taken.report.sources[0].files for taken in done.taken] == [1]
    assert len(memory.conversations()) == 2


def test_a_subagent_is_read_with_its_session(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    session.says("Count the bells.")
    watcher.round()
    agent = session.path.with_suffix("") / "subagents" / "agent-a7.jsonl"
    agent.parent.mkdir(parents=True)
    line = session.line("user", "Count them in the tower.", agentId="a7", isSidechain=True, uuid="a-1", parentUuid=None)
    agent.write_text(json.dumps(line) + "\n")
    assert brought(watcher) == 1
    assert len(memory.conversations()) == 1
    assert [m.kind for m in messages(memory)] == [Kind.SAID, Kind.SUBAGENT]


def test_codex_is_followed_with_its_titles(watcher: Watcher, memory: Memory, rollouts: Path) -> None:
    rollout = Rollout(rollouts / "2026" / "03" / "01" / "rollout-2026-03-01-1.jsonl")
    rollout.begin()
    rollout.says(1, "user", "Where are the bells set?")
    assert brought(watcher) == 1
    titles = {"id": "019a0000-0000-7000-8000-000000000001", "thread_name": "Bells"}
    (rollouts.parent / "session_index.jsonl").write_text(json.dumps(titles) + "\n")
    rollout.says(2, "assistant", "In tariff.toml.")
    assert brought(watcher) == 1
    assert [row.conversation.title for row in memory.conversations()] == ["Bells"]


def test_after_a_restart_only_what_is_new_is_read(
    follow: Callable[[], Watcher], memory: Memory, projects: Path
) -> None:
    first, second = Session(projects, 1), Session(projects, 2)
    first.says("Where are the bells set?")
    second.says("Who winds the clock?")
    assert brought(follow()) == 2
    second.answers("The sexton.")
    done = follow().round()
    assert [taken.report.sources[0].files for taken in done.taken] == [1]
    assert follow().round().taken == []


def test_another_store_knows_nothing_of_what_was_kept(
    follow: Callable[[], Watcher], memory: Memory, projects: Path, tmp_path: Path, keeping_out: KeepingOut
) -> None:
    Session(projects).says("Where are the bells set?")
    follow().round()
    memory.close()
    Path(memory.location).unlink()
    kept = ImportedFiles(tmp_path / "state", tmp_path / "memory.db", "default")
    with recollect.open(tmp_path / "memory.db", durable=False) as anew:
        assert brought(Watcher(anew, [Watched("Claude Code", projects)], kept, keeping_out)) == 1


def test_a_namespace_without_anything_is_looked_at_anew(
    follow: Callable[[], Watcher], memory: Memory, projects: Path
) -> None:
    Session(projects).says("Where are the bells set?")
    follow().round()
    memory.forget(everything=True)
    done = follow().round()
    assert [taken.report.forgotten for taken in done.taken] == [1]  # read again, and not brought back
    assert said(memory) == []


def test_what_was_forgotten_stays_away_while_the_session_goes_on(
    watcher: Watcher, memory: Memory, projects: Path
) -> None:
    session = Session(projects)
    session.says("My password is hunter2.")
    session.answers("I have seen nothing.")
    watcher.round()
    memory.forget(messages(memory)[0].id)
    session.says("Good.")
    watcher.round()
    assert [text for text in said(memory) if text] == ["I have seen nothing.", "Good."]


def test_sessions_that_vanish_stay_in_the_memory(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    watcher.round()
    shutil.rmtree(projects)
    assert brought(watcher) == 0
    assert said(memory) == ["Where are the bells set?"]


def test_a_file_that_is_written_anew_is_read_anew(watcher: Watcher, memory: Memory, projects: Path) -> None:
    session = Session(projects)
    session.says("Where are the bells set?")
    session.answers("In tariff.toml.")
    watcher.round()
    short = session.path.read_text().splitlines()[0]
    session.path.write_text(short + "\n")
    watcher.round()
    assert len(said(memory)) == 2  # an import takes nothing away


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_opened_is_told_once(watcher: Watcher, memory: Memory, projects: Path) -> None:
    Session(projects, 1).says("Where are the bells set?")
    Session(projects, 2).says("Who winds the clock?")
    Session(projects, 1).path.chmod(0)
    watcher.round()
    assert said(memory) == ["Who winds the clock?"]


def test_a_failure_is_told_and_tried_again(
    memory: Memory, projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeping_out: KeepingOut
) -> None:
    now = [0.0]
    kept = ImportedFiles(tmp_path / "state", Path(memory.location), memory.namespace)
    watcher = Watcher(memory, [Watched("Claude Code", projects)], kept, keeping_out, clock=lambda: now[0])
    Session(projects).says("Where are the bells set?")
    with monkeypatch.context() as broken:
        broken.setattr(Integration, "import_growing", lambda *a, **b: (_ for _ in ()).throw(StoreBusy("It is busy.")))
        assert [str(failure) for failure in watcher.round().failed] == ["It is busy."]
    assert watcher.round().waiting  # not at once
    now[0] += 31
    assert brought(watcher) == 1


def test_what_took_long_rests(
    memory: Memory, projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeping_out: KeepingOut
) -> None:
    now, session, really = [0.0], Session(projects), Integration.import_growing

    def slowly(*arguments: Any, **named: Any) -> Any:
        now[0] += 5
        return really(*arguments, **named)

    monkeypatch.setattr(Integration, "import_growing", slowly)
    kept = ImportedFiles(tmp_path / "state", Path(memory.location), memory.namespace)
    watcher = Watcher(memory, [Watched("Claude Code", projects)], kept, keeping_out, clock=lambda: now[0])
    session.says("Where are the bells set?")
    assert brought(watcher) == 1
    session.answers("In tariff.toml.")
    assert watcher.round().waiting
    now[0] += 11
    assert brought(watcher) == 1


def test_many_sessions_are_taken_together(watcher: Watcher, memory: Memory, rollouts: Path) -> None:
    for number in range(70):
        rollout = Rollout(rollouts / f"rollout-{number}.jsonl", number=number)
        rollout.begin()
        rollout.says(1, "user", f"Ring bell {number}.")
    done = watcher.round()
    assert [taken.report.written.new for taken in done.taken] == [64, 6]
    assert memory.upkeep.stats().conversations == 70


def test_an_export_is_taken_when_it_has_arrived(memory: Memory, tmp_path: Path, keeping_out: KeepingOut) -> None:
    folder, wall = tmp_path / "exports", [0]
    folder.mkdir()
    kept = ImportedFiles(tmp_path / "state", Path(memory.location), memory.namespace)
    watcher = Watcher(memory, [Watched("exports", folder)], kept, keeping_out, wall=lambda: wall[0])
    export = write_archive(tmp_path / "made")[0]
    half = folder / "export.zip.part"
    shutil.copy(export, half)
    (folder / "notes.json").write_text('{"nothing": "of ours"}')
    for file in folder.iterdir():
        os.utime(file, ns=(10**9, 10**9))
    wall[0] = 2 * 10**9
    assert (watcher.round().taken, memory.upkeep.stats().conversations) == ([], 0)
    half.rename(folder / f"export{export.suffix}")
    assert watcher.round().waiting  # it may still grow
    wall[0] = 10 * 10**9
    assert sum(taken.report.written.new for taken in watcher.round().taken) == memory.upkeep.stats().conversations > 0
    assert watcher.round().taken == []
