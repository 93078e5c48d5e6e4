"""Sessions of memory tools are left out; sessions about them are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.watching.exclusions import is_of_memory_tool, runs_in_a_tool
from recollect.watching.watcher import Watcher
from tests.watching.sessions import Rollout, Session


@pytest.mark.parametrize(
    "folder", ["/home/me/.claude-mem/observer-sessions", "C:\\Users\\me\\.mempalace\\run", "/root/.hindsight"]
)
def test_a_session_in_the_folder_of_a_memory_tool_is_its_own(folder: str, projects: Path) -> None:
    session = Session(projects, cwd=folder)
    session.says("Sum this up.")
    assert is_of_memory_tool(session.path)


@pytest.mark.parametrize("folder", ["/home/me/src/claude-mem", "/home/me/mem0", "/home/me/.config", "", None, 7])
def test_who_works_on_a_memory_tool_is_a_person(folder: Any, projects: Path) -> None:
    session = Session(projects, cwd=folder)
    session.says("Why does the hook of claude-mem hang? You are a Claude-Mem expert.")
    assert not is_of_memory_tool(session.path)
    assert not runs_in_a_tool(folder)


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a Claude-Mem, a specialized observer tool for creating searchable memory",
        "Hello memory agent, you are continuing to observe the primary session.",
        "You are a memory extraction assistant.",
    ],
)
def test_a_session_whose_first_prompt_makes_it_one(prompt: str, projects: Path) -> None:
    session = Session(projects)
    session.says(prompt)
    assert is_of_memory_tool(session.path)


def test_a_later_prompt_makes_it_none(projects: Path) -> None:
    session = Session(projects)
    session.says("Look at this prompt.")
    session.says("You are a memory agent.")
    assert not is_of_memory_tool(session.path)


@pytest.mark.parametrize(
    ("source", "left_out"),
    [({"subagent": "memory_consolidation"}, True), ({"subagent": "review"}, False), ("cli", False), (None, False)],
)
def test_codex_says_what_started_a_session(source: Any, left_out: bool, tmp_path: Path) -> None:
    rollout = Rollout(tmp_path / "rollout-1.jsonl", source=source)
    rollout.begin()
    rollout.says(1, "user", "Sum this up.")
    assert is_of_memory_tool(rollout.path) is left_out


def test_what_is_left_out_is_counted_once_and_never_comes_in(watcher: Watcher, memory: Memory, projects: Path) -> None:
    tool = Session(projects, 1, cwd="/home/me/.claude-mem/run", project="-home-me--claude-mem-run")
    person = Session(projects, 2)
    tool.says("You are a Claude-Mem, a specialized observer tool.")
    person.says("Where are the bells set?")
    assert watcher.round().left_out == 1
    tool.answers("The user asked for the bells.")
    agent = tool.path.with_suffix("") / "subagents" / "agent-a7.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_text(tool.path.read_text())
    done = watcher.round()
    assert (done.left_out, done.taken) == (0, [])
    assert [row.conversation.title for row in memory.conversations()] == ["Where are the bells set?"]


def test_what_is_gone_is_no_session(tmp_path: Path) -> None:
    assert not is_of_memory_tool(tmp_path / "nothing.jsonl")
