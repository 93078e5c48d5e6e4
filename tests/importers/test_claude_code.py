"""Claude Code's sessions: the made fixtures against their truth, foreign ones, and which files are one conversation.

The numbers are the lines of FORMATS.md, "What other readers got wrong".
"""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recollect.importers.base import Entry, Problems
from recollect.importers.formats.claude_code.claude_code import ClaudeCode
from recollect.importers.reading.archive import walk
from recollect.record import Kind, PartKind, Role, Thread
from tests.importers.given import KINDS, found_by, read, truth
from tests.importers.sessions_given import RESUMED, SESSION, answer, call, file, one, result, user
from tests.paths import SHARED

MADE = SHARED / "fixtures" / "made"
FOREIGN = SHARED / "fixtures" / "claude-code"

with_fixtures = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


def below(folder: Path) -> list[Entry]:
    return list(walk(folder, Problems()))


@pytest.fixture(scope="module")
def made() -> dict[str, Thread]:
    threads, _ = read(ClaudeCode(), *below(MADE / "claude-code"))
    return {str(thread.conversation.source_id): thread for thread in threads}


@with_fixtures
class TestMadeSessions:
    def test_thirteen_files_are_twelve_conversations(self, made: dict[str, Thread]) -> None:
        """Line 9: no subagent is a session of its own; what resumes a session is the same conversation."""
        expected = {one["id"]: one["title"] for one in truth(MADE / "claude-code.truth.json")}
        assert {name: thread.conversation.title for name, thread in made.items()} == expected

    def test_every_message_is_found_as_the_truth_has_it(self, made: dict[str, Thread]) -> None:
        for conversation in truth(MADE / "claude-code.truth.json"):
            thread = made[conversation["id"]]
            messages = {message.source_id: message for message in thread.messages}
            assert len(messages) == len(thread.messages)
            for expected in conversation["messages"]:
                message = messages[expected["id"]]
                kinds = KINDS | {"sidechain": Kind.SUBAGENT}
                assert (message.role.value, message.kind) == (expected["role"], kinds[expected["kind"]])
                assert message.active is expected["active"]
                assert message.content == expected["text"]
                assert all(phrase in found_by(message, thread) for phrase in expected.get("also", []))
                if expected["kind"] != "sidechain":  # their truth gives the prompt the time of its answer
                    assert message.timestamp is not None
                    assert abs(message.timestamp.timestamp() - expected["time"]) < 0.01

    def test_each_phrase_stands_in_one_message_said(self, made: dict[str, Thread]) -> None:
        said = [m.content for thread in made.values() for m in thread.messages if m.kind is Kind.SAID]
        for conversation in truth(MADE / "claude-code.truth.json"):
            for expected in conversation["messages"]:
                assert sum(expected["phrase"] in content for content in said) == (expected["kind"] == "said")

    def test_parents_are_the_messages_of_the_lines_named(self, made: dict[str, Thread]) -> None:
        """A result's place is told by its call: results of parallel calls follow one another."""
        answers = line_owners(MADE / "claude-code")
        for conversation in truth(MADE / "claude-code.truth.json"):
            thread = made[conversation["id"]]
            messages = {message.source_id: message for message in thread.messages}
            for expected in conversation["messages"]:
                if expected["parent"] in (None, expected["id"]):
                    continue
                message, above = messages[expected["id"]], messages[answers[expected["parent"]]]
                if message.role is Role.TOOL:
                    assert above.id in {c.message_id for c in thread.tool_calls if c.result_message_id == message.id}
                else:
                    assert message.parent_id == above.id

    def test_nothing_is_said_that_nobody_said(self, made: dict[str, Thread]) -> None:
        """Line 5, and 7: as many messages as the truth has, not one for each line."""
        expected = Counter(
            message["role"]
            for conversation in truth(MADE / "claude-code.truth.json")
            for message in conversation["messages"]
            if message["kind"] == "said"
        )
        said = Counter(m.role.value for thread in made.values() for m in thread.messages if m.kind is Kind.SAID)
        assert said == expected

    def test_conversations_begin_when_the_session_was_opened(self, made: dict[str, Thread]) -> None:
        for conversation in truth(MADE / "claude-code.truth.json"):
            created = made[conversation["id"]].conversation.created
            assert created is not None
            assert abs(created.timestamp() - conversation["created"]) < 0.01

    def test_a_cut_last_line_is_told_and_the_rest_is_in(self) -> None:
        problems = Problems()
        read(ClaudeCode(), *below(MADE / "claude-code"), problems=problems)
        assert [("cd026f48-" in problem.place, problem.lost) for problem in problems.found] == [(True, False)]


def line_owners(folder: Path) -> dict[str, str]:
    """By a line's uuid, the uuid of the first line of the answer that it is a block of."""
    first: dict[str, str] = {}
    owners: dict[str, str] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for text in path.read_text("utf-8").replace("\0", "").splitlines():
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if uuid := value.get("uuid"):
                message = value.get("message")
                shared = message.get("id") if isinstance(message, dict) else None
                owners.setdefault(uuid, first.setdefault(shared or uuid, uuid))
    return owners


@with_fixtures
def test_foreign_sessions_are_read_with_sensible_counts() -> None:
    problems = Problems()
    threads, _ = read(ClaudeCode(), *below(FOREIGN), problems=problems)
    counts = {
        thread.conversation.source_id: Counter(message.kind.value for message in thread.messages) for thread in threads
    }
    assert not problems.found
    assert counts == {
        "sess-compact-001": {"said": 4},
        "test_session": {"said": 7, "tool": 4},
        "session_b": {"said": 3},
        "553dd2b5-8a53-4fbf-9db2-240632522fe5": {"said": 2},
        "test-session-id": {"said": 4, "tool": 3},
        "bd937e2a-89e9-4d7b-8125-293a35863fa4": {"said": 3},
        "claude-normalization-main": {"said": 4, "context": 3, "tool": 2, "subagent": 1},
        "claude-normalization-other": {"said": 2},
        "claude-lineage-parent": {"said": 6, "context": 1, "subagent": 3},
        None: {"said": 6, "tool": 2},  # no line names a session, and the file is called japanese.jsonl
        "50a7220d-7250-46f3-b38e-b716ce25032e": {"said": 2, "tool": 2, "subagent": 3},
    }


@with_fixtures
def test_other_formats_are_refused() -> None:
    others = [
        entry
        for folder in ("codex", "cursor", "chatgpt", "claude-ai", "gemini-cli", "librechat", "sharegpt", "generic")
        for entry in below(SHARED / "fixtures" / folder)
    ]
    others += [entry for entry in below(MADE) if not entry.path.startswith("claude-code/")]
    assert [entry.path for entry in others if ClaudeCode().recognises(entry)] == []


def test_a_resumed_session_is_the_same_conversation() -> None:
    first = [user("u1", None, "One"), answer("a2", "u1", "Two")]
    copied = [
        user("u1", None, [{"type": "text", "text": "One"}]),
        answer("a2", "u1", "Two", sessionId=RESUMED),
        user("u3", "a2", "Three", sessionId=RESUMED),
    ]
    thread = one(file(*copied, path=f"project/{RESUMED}.jsonl"), file(*first))
    assert thread.conversation.source_id == SESSION
    assert [m.source_id for m in thread.messages] == ["u1", "a2", "u3"]
    assert thread.conversation.metadata["sessions"] == [SESSION, RESUMED]


def test_doubled_lines_runs_of_nul_and_a_cut_end_cost_nothing_else() -> None:
    first = user("u1", None, "One")
    thread = one(file(first, first, b"\0" * 5000 + b"\n", answer("a2", "u1", "Two"), b'{"type": "assis'))
    assert [m.source_id for m in thread.messages] == ["u1", "a2"]


def test_the_form_of_the_web_version_is_read() -> None:
    session = {"id": "session_01", "loglines": [user("u1", None, "One"), answer("a2", "u1", "Two")]}
    assert [m.content for m in one(file(session, path="session.json")).messages] == ["One", "Two"]


def test_a_long_output_is_found_in_the_file_that_it_was_written_to() -> None:
    saved = f"Output too large. Full output saved to: /home/dev/{SESSION}/tool-results/b7.txt"
    path = f"project/{SESSION}/tool-results/b7.txt"
    thread = one(
        file(user("u1", None, "Go"), answer("a2", "u1", call("t1")), user("r3", "a2", [result("t1", saved)])),
        Entry(path, path, "given", 9, lambda: io.BytesIO(b"all of it")),
    )
    assert [(p.kind, p.name, p.text) for p in thread.messages[2].parts] == [
        (PartKind.ATTACHMENT, "b7.txt", "all of it")
    ]


def title(kind: str, text: str, **more: Any) -> dict[str, Any]:
    key = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}[kind]
    return {"type": kind, key: text, **more}


def test_titles_a_persons_before_a_models_before_a_summary_before_the_first_prompt() -> None:
    talk = [user("u1", None, "Why is it slow?\nIt was fast"), answer("a2", "u1", "Let me see")]
    titles = [
        title("custom-title", "Ours", sessionId=SESSION),
        title("ai-title", "A model's", sessionId=SESSION),
        title("summary", "A summary", leafUuid="a2"),
    ]
    found = [one(file(*talk, *titles[at:])).conversation.title for at in range(4)]
    assert found == ["Ours", "A model's", "A summary", "Why is it slow?"]


def test_a_summary_may_stand_in_the_file_of_another_session() -> None:
    other = [
        title("summary", "The first", leafUuid="a2"),
        user("v1", None, "Another", sessionId=RESUMED),
    ]
    threads, _ = read(
        ClaudeCode(),
        file(user("u1", None, "One"), answer("a2", "u1", "Two")),
        file(*other, path=f"project/{RESUMED}.jsonl"),
    )
    titles = {thread.conversation.source_id: thread.conversation.title for thread in threads}
    assert titles == {SESSION: "The first", RESUMED: "Another"}


def test_folder_branch_and_version_are_kept() -> None:
    thread = one(file(user("u1", None, "One", cwd="/src/shop", gitBranch="main", version="2.1.0")))
    metadata = thread.conversation.metadata
    assert (metadata["cwd"], metadata["gitBranch"], metadata["version"]) == ("/src/shop", "main", "2.1.0")
