"""Claude's memory tool: the same answers as the SDK's own tool for files, on documents that are kept and searched."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory

tools = pytest.importorskip("anthropic.lib.tools", reason="anthropic is not installed")
sdk = pytest.importorskip("anthropic.tools", reason="this anthropic has no tool for files")

from recollect.frameworks.claude_memory import AsyncRecollectMemoryTool, RecollectMemoryTool  # noqa: E402
from recollect.frameworks.records import Records  # noqa: E402

PATHS = ("/memories", "/memories/a.txt", "/memories/d/b.md", "/memories/d", "/memories/d/e/c.txt", "/memories/x.txt",
         "/etc", "/memories/../etc", "/memories/d/../a.txt")  # fmt: skip
TEXTS = ("one\ntwo\nthree", "", "alpha beta\nbeta\n", "one one", "ü")


def answer(tool: Any, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except tools.ToolError as error:
        return f"error: {error}"
    except OSError:
        return "the SDK's tool does not say why"


def any_command(chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(["view", "create", "create", "str_replace", "insert", "delete", "rename"])
    command: dict[str, Any] = {"command": kind, "path": chance.choice(PATHS)}
    if kind == "view" and chance.random() < 0.4:
        command["view_range"] = chance.choice([[1, 2], [2, -1], [0, 1], [5, 9]])
    elif kind == "create":
        command["file_text"] = chance.choice(TEXTS)
    elif kind == "str_replace":
        command |= {
            "old_str": chance.choice(["one", "beta", "zz", "two\n"]),
            "new_str": chance.choice(["1", "", "n\nm"]),
        }
    elif kind == "insert":
        command |= {"insert_line": chance.choice([0, 1, 2, 9, -1]), "insert_text": chance.choice(["in\n", "a\nb"])}
    elif kind == "rename":
        command = {"command": kind, "old_path": command["path"], "new_path": chance.choice(PATHS)}
    return command


def test_answers_are_those_of_the_sdk(memory: Memory, tmp_path: Path) -> None:
    """But for folders: theirs stay when they are empty, and have the size of a folder's entry on disk."""
    ours, theirs = RecollectMemoryTool(memory), sdk.BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    assert ours.to_dict() == theirs.to_dict() == {"type": "memory_20250818", "name": "memory"}
    chance, same = random.Random(3), 0
    for _ in range(400):
        command = any_command(chance)
        told, expected = answer(ours, command), answer(theirs, command)
        for empty in sorted((tmp_path / "files" / "memories").rglob("*"), reverse=True):
            if empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
        if "files and directories" in expected or "does not say why" in expected:
            continue
        assert told == expected, command
        same += 1
    assert same > 300
    assert not memory.upkeep.check()


def test_a_folder_is_listed_two_levels_deep(memory: Memory) -> None:
    tool = RecollectMemoryTool(memory)
    for path in ("a.txt", "d/b.txt", "d/e/f/c.txt", ".hidden"):
        tool.call({"command": "create", "path": f"/memories/{path}", "file_text": "x" * 1536})
    assert tool.call({"command": "view", "path": "/memories"}).splitlines()[1:] == [
        "6K\t/memories",
        "1.5K\t/memories/a.txt",
        "3K\t/memories/d/",
        "1.5K\t/memories/d/b.txt",
        "1.5K\t/memories/d/e/",
    ]


def test_files_are_searched_and_their_history_is_kept(memory: Memory) -> None:
    tool = RecollectMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/prefs.md", "file_text": "# Tea\n\nNo sugar, ever.\n"})
    tool.call({"command": "str_replace", "path": "/memories/prefs.md", "old_str": "No sugar", "new_str": "One spoon"})
    assert memory.search("one spoon").documents[0].cited == "/memories/prefs.md, line 3"
    [version] = memory.document("/memories/prefs.md").versions
    assert "No sugar" in version.content
    own = memory.document("/memories/prefs.md").id
    tool.call({"command": "delete", "path": "/memories/prefs.md"})
    assert not memory.search("one spoon").documents
    assert [d for d in memory.documents() if d.id == own] == []
    assert RecollectMemoryTool(memory).call({"command": "view", "path": "/memories"}).endswith("0B\t/memories")
    tool.call({"command": "create", "path": "/memories/prefs.md", "file_text": "Coffee now."})
    assert len(memory.document("/memories/prefs.md").versions) == 2


def test_the_same_without_waiting(memory: Memory) -> None:
    async def talk() -> None:
        tool = AsyncRecollectMemoryTool(memory)
        await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
        assert "1\tx" in await tool.call({"command": "view", "path": "/memories/a"})
        assert await tool.clear_all_memory() == "All memory cleared"
        with pytest.raises(tools.ToolError):
            await tool.call({"command": "view", "path": "/memories/a"})

    asyncio.run(talk())


def test_a_file_of_a_million_lines_is_not_shown_as_the_sdk_does_not(memory: Memory, tmp_path: Path) -> None:
    ours, theirs = RecollectMemoryTool(memory), sdk.BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    create = {"command": "create", "path": "/memories/log", "file_text": "\n" * 999_999}
    assert answer(ours, create) == answer(theirs, create)
    for more in ({}, {"view_range": [1, 2]}):
        view = {"command": "view", "path": "/memories/log", **more}
        assert answer(ours, view) == answer(theirs, view)
    assert "exceeds maximum line limit" in answer(ours, {"command": "view", "path": "/memories/log"})


@pytest.mark.parametrize("path", ["/memories/a\0b.txt", "/memories/\0", "/memories\0/a.txt"])
def test_a_path_with_a_nul_is_refused_as_by_the_system(memory: Memory, path: str) -> None:
    tool = RecollectMemoryTool(memory)
    created = answer(tool, {"command": "create", "path": path, "file_text": "one"})
    assert created.startswith("error: ")
    assert "NUL" in created
    assert answer(tool, {"command": "view", "path": path}).startswith("error: ")
    assert "a b.txt" not in answer(tool, {"command": "view", "path": "/memories"})


def test_tools_on_one_memory_lose_no_edit_of_each_other(memory: Memory) -> None:
    both = [RecollectMemoryTool(memory), RecollectMemoryTool(memory.beside(memory.namespace))]
    answer(both[0], {"command": "create", "path": "/memories/n.md", "file_text": "first\n"})

    def insert(which: int) -> None:
        for number in range(10):
            said = {"command": "insert", "path": "/memories/n.md", "insert_line": 1, "insert_text": f"{which}-{number}"}
            answer(both[which], said)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(insert, range(2)))
    lines = answer(both[0], {"command": "view", "path": "/memories/n.md"})
    assert all(f"{which}-{number}\n" in lines + "\n" for which in range(2) for number in range(10))


def test_an_edit_meanwhile_is_renamed_too(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = RecollectMemoryTool(memory), RecollectMemoryTool(memory)
    for name in "ab":
        answer(one, {"command": "create", "path": f"/memories/d/{name}.md", "file_text": f"{name} old\n"})
    put, edits = Records.put_as_read, [{"command": "insert", "path": "/memories/d/a.md", "insert_line": 1}]

    def late(self: Records, *arguments: Any) -> None:
        while edits:
            answer(other, {**edits.pop(), "insert_text": "a new"})
        put(self, *arguments)

    monkeypatch.setattr(Records, "put_as_read", late)
    answer(one, {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"})
    assert "a new" in answer(one, {"command": "view", "path": "/memories/e/a.md"})
    assert "/memories/d" not in answer(one, {"command": "view", "path": "/memories"})
