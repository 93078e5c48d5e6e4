"""What drives all formats: a broken conversation costs itself alone, a named format is read whatever it looks like."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import ImportProblem
from recollect.importers.base import DraftConversation, DraftMessage, DraftNotes, Problems
from recollect.importers.formats.messages.openai import OpenAIMessages
from recollect.importers.formats.messages.sharegpt import ShareGPT
from recollect.importers.found import named, unread_kind
from recollect.importers.reading.archive import walk
from recollect.importers.registry import READERS, as_importer, detect
from recollect.memory import Memory
from recollect.record import Role
from tests.exports import chat, file, lines, opened, texts_of
from tests.importers.given import entry, read
from tests.paths import ROOT, SHARED

HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return opened(tmp_path / "memory.db")


class Brittle:
    """A format that breaks on some conversations, in ways that nobody foresaw."""

    name = label = recognised = about = "brittle"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and "brittle" in value

    def draft(self, value: Any, told: DraftNotes) -> DraftConversation | None:
        match value["brittle"]:
            case "recursion":
                return self.draft(value, told)
            case "key":
                raise KeyError("secret words")
            case "refused":
                raise ImportProblem("it is empty")
            case "none":
                return None
        told.partial("half of it")
        return DraftConversation([DraftMessage(Role.USER, value["brittle"])], title="T")


def test_what_a_format_raises_costs_that_conversation_alone() -> None:
    problems = Problems()
    given = [{"brittle": what} for what in ("one", "recursion", "key", "refused", "none", "two")]
    threads, _ = read(Brittle(), entry(given, "b.json"), problems=problems)
    assert [thread.messages[0].content for thread in threads] == ["one", "two"]
    assert [(problem.place, problem.lost) for problem in problems.found] == [
        ('b.json #0 "T"', False), ("b.json #1", True), ("b.json #2", True), ("b.json #3", True),
        ('b.json #5 "T"', False),
    ]  # fmt: skip
    assert "secret" not in str(problems.found)
    assert problems.notes == {"entries without messages": 1}


def test_what_is_neither_kind_of_format_is_refused() -> None:
    with pytest.raises(TypeError):
        as_importer(object())


# --- I2: deep values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [300, 1_000, 5_000])
def test_deep_values_cost_no_other_conversation(memory: Memory, tmp_path: Path, depth: int) -> None:
    """In each format a deep value where it hurts: arguments, outputs, metadata. What is beside it is in."""

    def put(name: str, *values: Any, layout: str = "lines") -> None:
        texts = [json.dumps(value).replace('"DEEP"', "[" * depth + "]" * depth) for value in values]
        file(tmp_path / "in" / name, ",".join(texts).join("[]") if layout == "list" else "\n".join(texts))

    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "DEEP"}}]}
    put("openai.jsonl", {"messages": [HELLO[0], call]}, {"messages": HELLO, "id": "good"})

    def item(kind: str, **payload: Any) -> Any:
        return {"timestamp": "2025-10-01T10:00:00Z", "type": "response_item", "payload": {"type": kind, **payload}}

    packed = '{"a":' * depth + "1" + "}" * depth
    put(
        "rollout.jsonl",
        item("message", role="user", content=[{"type": "input_text", "text": "codex said"}]),
        item("function_call_output", call_id="c", output="DEEP"),
        item("function_call_output", call_id="d", output=packed),
    )

    def line(kind: str, uuid: str, content: Any) -> Any:
        return {"type": kind, "uuid": uuid, "parentUuid": None, "sessionId": "s", "message": {"content": content}}

    use = {"type": "tool_use", "id": "t", "name": "f", "input": "DEEP"}
    put("session.jsonl", line("user", "u1", "claude code said"), line("assistant", "u2", [use]))
    talks = [
        {"uuid": name, "name": "n", "chat_messages": [{"uuid": name, "sender": "human", "text": name, "x": "DEEP"}]}
        for name in ("claude one", "claude two")
    ]
    talks[1]["chat_messages"][0].pop("x")
    put("claude.json", *talks, layout="list")
    put(
        "conversations.json",
        {**chat("chatgpt one", name="c1"), "x": "DEEP"},
        chat("chatgpt two", name="c2"),
        layout="list",
    )
    report = memory.import_file(tmp_path / "in")
    said = set(texts_of(memory))
    assert said >= {"Hello", "Hi", "codex said", "claude code said", "claude two", "chatgpt two"}
    assert memory.upkeep.check() == []
    assert all("nested" in problem.reason for problem in report.problems if problem.lost)


# --- I5, I10: forcing, and heads that are cut ----------------------------------------------------------------------

LONG = "long " * 20_000


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"content": LONG, "role": "user"}, *HELLO]},
        {"summary": LONG, "messages": HELLO},
        {"messages": [*HELLO, {"role": "critic", "content": "x"}, *HELLO]},
        HELLO,
        [{"role": "user", "content": LONG}, *HELLO],
    ],
    ids=["long first message", "long summary before", "an unknown role", "a bare list", "a bare list, long"],
)
@pytest.mark.parametrize("forced", [None, "openai"])
def test_odd_files_in_the_openai_format_are_read(
    memory: Memory, tmp_path: Path, value: Any, forced: str | None
) -> None:
    memory.import_file(file(tmp_path / "talk.json", value), format=forced)
    messages = value["messages"] if isinstance(value, dict) else value
    assert texts_of(memory) == [message["content"] for message in messages]


def test_a_named_format_is_read_whatever_it_looks_like(memory: Memory, tmp_path: Path) -> None:
    odd = [{"messages": [{"role": "critic", "content": "one"}, {"role": "judge", "content": "two"}]}]
    path = file(tmp_path / "odd.dat", odd)
    with pytest.raises(ImportProblem):
        memory.import_file(path)
    memory.import_file(path, format="openai")
    assert texts_of(memory) == ["one", "two"]


def test_a_head_may_be_cut_anywhere() -> None:
    """I10: wherever 64 KB end in the first conversation, the file is recognised."""
    short = [{"content": f"message {i}", "role": "user"} for i in range(60)]
    for shift in range(0, 700, 7):
        messages = [{"role": "user", "content": "x" * (65_536 - 700 + shift)}, *short]
        assert as_importer(OpenAIMessages()).recognises(entry([{"messages": messages, "title": "t"}])), shift
        other = [{"value": message["content"], "from": "human"} for message in messages]
        assert as_importer(ShareGPT()).recognises(entry([{"conversations": other}])), shift


@pytest.mark.parametrize("name", ["a.dump", "talks", "talks.backup-2", "talks.JSON_"])
def test_content_decides_what_a_file_is_not_its_ending(memory: Memory, tmp_path: Path, name: str) -> None:
    memory.import_file(file(tmp_path / name, lines({"messages": HELLO})))
    with opened(tmp_path / "other.db") as other, (tmp_path / "x").open("wb") as target:
        memory.export(target)
        target.close()
        other.import_file((tmp_path / "x").rename(tmp_path / f"dump-{name}"))
        assert texts_of(other) == ["Hello", "Hi"]


def test_pictures_are_not_looked_at(tmp_path: Path) -> None:
    file(tmp_path / "a.png", lines({"messages": HELLO}))
    found, unknown = detect(walk(tmp_path, Problems()), Problems())
    assert (found, len(unknown)) == ([], 1)


# --- what is known and not read ------------------------------------------------------------------------------------

KNOWN = {
    "cursor/agent-transcript.jsonl": "Cursor",
    "gemini-aistudio/multimodal.json": "AI Studio",
    "gemini-cli/session.json": "Gemini CLI",
    "gemini-cli/parts.json": "Gemini CLI",
    "gemini-cli/model-type.json": "Gemini CLI",
    "gemini-takeout/MyActivity-mixed-products.json": "Gemini Takeout",
    "gemini-takeout/MyActivity-no-gemini.html": "Google Takeout",
    "grok/export.json": "Grok",
    "librechat/linear.json": "LibreChat",
    "made/chatbox.json": "Chatbox",
    "made/open-webui.json": "Open WebUI",
    "made/prod-grok-backend.json": "Grok",
    "made/typingmind.json": "TypingMind",
    "made/langchain": "LangChain",
    "made/librechat": "LibreChat",
    "made/vscode-chat": "VS Code",
    "made/vscode-chat-log": "VS Code",
    "made/gemini-takeout": "Gemini",
    "made/markdown": "Markdown",
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")
@pytest.mark.parametrize("path", KNOWN)
def test_an_export_that_is_known_and_not_read_is_called_by_its_name(path: str) -> None:
    for one in walk(SHARED / "fixtures" / path, Problems()):
        kind = unread_kind(one)
        assert kind is not None, one.place
        assert KNOWN[path] in kind.label


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")
def test_a_grok_export_is_named_alone_and_beside_what_is_read(memory: Memory, tmp_path: Path) -> None:
    grok = SHARED / "fixtures" / "grok" / "export.json"
    with pytest.raises(ImportProblem, match="it looks like a Grok export, which Recollect does not read yet"):
        memory.import_file(grok)
    report = memory.import_file(file(tmp_path / "talk.jsonl", lines({"messages": HELLO})), grok)
    assert report.stored.conversations == 1
    assert any("Grok export" in problem.reason and problem.lost for problem in report.problems)
    assert report.unread == {"Grok export": 1}
    assert report.skipped == ["export.json"]


def test_a_compressed_session_says_what_to_do() -> None:
    kind = unread_kind(entry(b"\x28\xb5\x2f\xfd....", "rollout-x.jsonl.zst"))
    assert kind is not None
    assert named(kind) == "it looks like a Zstandard-compressed session; unpack it first: zstd -d"


def test_no_file_that_is_read_is_called_unread(tmp_path: Path) -> None:
    assert unread_kind(entry({"messages": HELLO})) is None
    assert unread_kind(entry([chat("one", "two")])) is None


# --- formats of others ---------------------------------------------------------------------------------------------


def test_the_format_of_the_guide_is_read_by_its_entry_point(tmp_path: Path) -> None:
    """As a package would be installed: a module, and the metadata in which its entry point stands."""
    guide = (ROOT / "docs" / "how-to" / "add-a-format.md").read_text(encoding="utf-8")
    (module,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (project,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    about = tomllib.loads(project)["project"]
    (group,) = about["entry-points"]
    site = tmp_path / "site"
    info = site / f"harbour_chat-{about['version']}.dist-info"
    file(site / "harbour_chat.py", module)
    file(info / "METADATA", f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    points = "".join(f"{name} = {where}\n" for name, where in about["entry-points"][group].items())
    file(info / "entry_points.txt", f"[{group}]\n{points}")
    radio = [
        {"from": "ship", "words": "Which berth?", "at": "2026-03-01T09:00:00Z"},
        {"from": "office", "words": "Four."},
        {"words": "Aye."},
    ]
    export = file(tmp_path / "radio.json", [{"berth": "4", "ship": "Heron", "radio": radio}])
    script = (
        "import sys; sys.path[:0] = sys.argv[3:]\n"
        "from pathlib import Path\n"
        "from tests.exports import opened, texts_of\n"
        "with opened(Path(sys.argv[2])) as memory:\n"
        "    report = memory.import_file(sys.argv[1])\n"
        "    row, = memory.conversations()\n"
        "    print(report.sources[0].label, row.conversation.source, row.conversation.title, texts_of(memory))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(export), str(tmp_path / "m.db"), str(site), str(ROOT)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert ran.stdout.strip() == "Harbour Chat harbour Heron ['Which berth?', 'Four.', 'Aye.']", ran.stderr


def test_the_simplest_formats_are_one_short_file() -> None:
    folder = ROOT / "recollect" / "importers" / "formats" / "messages"
    assert len((folder / "sharegpt.py").read_text("utf-8").splitlines()) < 110
    assert {reader.name for reader in READERS} >= {"openai", "sharegpt"}
