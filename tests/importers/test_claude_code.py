"""Claude Code's sessions: the made fixtures against their truth, foreign ones, and each trap with an input of its own.

The numbers are the lines of FORMATS.md, "What other readers got wrong".
"""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recollect.importers.base import Entry, Problems
from recollect.importers.claude_code import ClaudeCode
from recollect.record import Kind, Message, PartKind, Role, Thread
from tests.importers.given import KINDS, found_by, read, truth
from tests.paths import SHARED

MADE = SHARED / "fixtures" / "made"
FOREIGN = SHARED / "fixtures" / "claude-code"
SESSION = "5e551017-0000-4000-8000-000000000001"
RESUMED = "5e551017-0000-4000-8000-000000000002"

with_fixtures = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


def below(folder: Path) -> list[Entry]:
    return [
        Entry(
            path.name,
            path.relative_to(folder).as_posix(),
            str(folder),
            path.stat().st_size,
            lambda p=path: p.open("rb"),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def file(*lines: Any, path: str = f"project/{SESSION}.jsonl") -> Entry:
    data = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    return Entry(path, path, "given", len(data), lambda: io.BytesIO(data))


def line(uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    number = int("".join(c for c in uuid if c.isdigit()) or 0)
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "timestamp": f"2026-03-01T10:{number // 60:02}:{number % 60:02}Z",
        "message": message,
        **more,
    }


def user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return line(uuid, parent, "user", content, **more)


def answer(uuid: str, parent: str | None, *blocks: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"id": id or f"msg {uuid}", "model": "claude-opus-4-6"} | more.pop("message", {})
    return line(uuid, parent, "assistant", content, message=message, **more)


def call(id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": arguments}


def result(id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def one(*entries: Entry) -> Thread:
    threads, _ = read(ClaudeCode(), *entries)
    assert len(threads) == 1
    return threads[0]


def told(thread: Thread) -> list[tuple[str | None, Kind, str]]:
    return [(message.source_id, message.kind, message.content) for message in thread.messages]


def parent_of(thread: Thread, message: Message) -> Message | None:
    return next((other for other in thread.messages if other.id == message.parent_id), None)


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
        assert [(problem.place[:8], problem.lost) for problem in problems.found] == [("cd026f48", False)]


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
        "claude-normalization-main": {"said": 3, "context": 3, "tool": 2, "subagent": 1},
        "claude-normalization-other": {"said": 2},
        "claude-lineage-parent": {"said": 6, "context": 1, "subagent": 3},
        "japanese": {"said": 6, "tool": 2},
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


def test_the_lines_of_an_answer_are_one_message_with_all_of_its_calls() -> None:
    """Line 7: one message.id, many lines, one message; the last copy of a block counts."""
    thread = one(
        file(
            user("u1", None, "Look at the tests"),
            answer("a2", "u1", {"type": "thinking", "thinking": "Where are they?"}, id="m"),
            answer("a3", "a2", "I will", id="m"),
            answer("a4", "a3", "I will look.", call("t1", command="ls"), id="m"),
            answer("a5", "a4", "I will look.", call("t1", command="ls -a"), call("t2", command="pwd"), id="m"),
        )
    )
    message = thread.messages[1]
    assert (message.source_id, message.content, message.kind) == ("a2", "I will look.", Kind.SAID)
    assert [(part.kind, part.text) for part in message.parts] == [(PartKind.REASONING, "Where are they?")]
    assert [json.loads(c.arguments)["command"] for c in thread.tool_calls] == ["ls -a", "pwd"]
    assert message.timestamp is not None
    assert message.timestamp.second == 3  # of the words, not of the thinking


def test_parallel_calls_are_no_branches_and_results_find_their_calls_in_any_order() -> None:
    thread = one(
        file(
            user("u1", None, "Go"),
            answer("a2", "u1", call("t1"), id="m"),
            answer("a3", "a2", call("t2"), id="m"),
            user("r4", "a3", [result("t2", "second")]),
            user("r5", "a2", [result("t1", [{"type": "text", "text": "first"}])]),
            answer("a6", "r4", "Both are in."),
        )
    )
    results = {m.id: m.content for m in thread.messages if m.role is Role.TOOL}
    assert [results[c.result_message_id or m.id] for m in thread.messages[:1] for c in thread.tool_calls] == [
        "first",
        "second",
    ]
    assert all(message.active for message in thread.messages)
    assert [message.source_id for message in thread.messages] == ["u1", "a2", "r4", "r5", "a6"]


def test_several_results_in_one_line_are_messages_of_their_own() -> None:
    thread = one(
        file(
            user("u1", None, "Go"),
            answer("a2", "u1", call("t1"), call("t2")),
            user("r3", "a2", [result("t1", "one"), result("t2", "two"), {"type": "text", "text": "No, stop there"}]),
        )
    )
    assert told(thread)[2:] == [
        ("r3", Kind.TOOL, "one"),
        ("r3#1", Kind.TOOL, "two"),
        ("r3#2", Kind.SAID, "No, stop there"),
    ]


def test_two_prompts_below_one_message_are_branches_and_the_newest_is_active() -> None:
    thread = one(
        file(
            user("u1", None, "First"),
            answer("a2", "u1", "Yes"),
            user("u3", "a2", "Old road"),
            answer("a4", "u3", "Old answer"),
            user("c5", "a2", "<command-name>/model</command-name>"),
            user("u6", "c5", "New road"),
            answer("a7", "u6", "New answer"),
        )
    )
    assert {m.source_id for m in thread.messages if not m.active} == {"u3", "a4"}
    assert [m.source_id for m in thread.messages] == ["u1", "a2", "c5", "u6", "a7", "u3", "a4"]


def test_a_first_prompt_written_anew_is_a_branch_from_the_beginning() -> None:
    thread = one(
        file(
            user("u1", None, "First"),
            answer("a2", "u1", "Yes"),
            user("u3", None, "First, but better"),
            answer("a4", "u3", "Yes!"),
        )
    )
    assert [m.source_id for m in thread.messages if m.active] == ["u3", "a4"]


@pytest.mark.parametrize("parent", ["nowhere", None])
def test_lost_parents_do_not_cut_the_talk(parent: str | None) -> None:
    thread = one(file(user("u1", None, "One"), answer("a2", "u1", "Two"), answer("a3", parent, "Three")))
    assert [(m.source_id, m.active) for m in thread.messages] == [("u1", True), ("a2", True), ("a3", True)]


def test_the_chain_goes_on_through_bookkeeping_and_over_a_compaction() -> None:
    thread = one(
        file(
            user("u1", None, "One"),
            {"type": "progress", "uuid": "p2", "parentUuid": "u1", "sessionId": SESSION},
            answer("a3", "p2", "Two"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "s4",
                "parentUuid": None,
                "logicalParentUuid": "a3",
                "sessionId": SESSION,
                "content": "Conversation compacted",
            },
            user("u5", "s4", "This session is being continued from a previous conversation.", isCompactSummary=True),
            user("u6", "u5", "Three"),
        )
    )
    assert [(m.source_id, m.kind, m.active) for m in thread.messages] == [
        ("u1", Kind.SAID, True),
        ("a3", Kind.SAID, True),
        ("u5", Kind.CONTEXT, True),
        ("u6", Kind.SAID, True),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "<system-reminder>Mind the style.</system-reminder>",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
        "<local-command-stdout>done</local-command-stdout>",
        "<local-command-caveat>Caveat: The messages below …</local-command-caveat>",
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
        "<task-notification>\n<status>done</status>\n</task-notification>",
        "This session is being continued from a previous conversation that ran out of context.",
        "[Request interrupted by user for tool use]",
        [{"type": "text", "text": "<system-reminder>One.</system-reminder>\n<ide_selection>Two.</ide_selection>"}],
    ],
)
def test_what_was_put_in_for_a_person_was_not_said(content: Any) -> None:
    """Line 5."""
    thread = one(file(user("u1", None, content), user("u2", "u1", "Hello", isMeta=True), user("u3", "u2", "Hello")))
    assert [m.kind for m in thread.messages] == [Kind.CONTEXT, Kind.CONTEXT, Kind.SAID]


def test_a_reminder_around_a_prompt_is_cut_off_and_kept_beside_it() -> None:
    reminder = "<system-reminder>\nMind the style.\n</system-reminder>"
    thread = one(file(user("u1", None, f"{reminder}\n\nWhy does <system-reminder> show up?\n{reminder}")))
    message = thread.messages[0]
    assert (message.content, message.kind) == ("Why does <system-reminder> show up?", Kind.SAID)
    assert message.metadata["context"] == [reminder, reminder]


def test_synthetic_answers_are_context() -> None:
    line = answer("a2", "u1", "API Error: overloaded", message={"model": "<synthetic>"})
    thread = one(file(user("u1", None, "Hi"), line))
    assert (thread.messages[1].kind, thread.messages[1].model) == (Kind.CONTEXT, None)


def test_what_was_typed_while_the_model_worked_was_said() -> None:
    queued = {"type": "queued_command", "prompt": "And the docs, please"}
    line = {"type": "attachment", "uuid": "q3", "parentUuid": "a2", "sessionId": SESSION, "attachment": queued}
    thread = one(file(user("u1", None, "Hi"), answer("a2", "u1", "Yes"), line))
    assert told(thread)[-1] == ("q3", Kind.SAID, "And the docs, please")


class TestSubagents:
    """Line 9: found, and within the session that started them."""

    def main(self, *more: Any) -> Entry:
        return file(
            user("u1", None, "Have it counted"),
            answer("a2", "u1", call("t1", prompt="Count the files")),
            *more,
            user("r8", "a2", [result("t1", "There are 7.")]),
            answer("a9", "r8", "Seven."),
        )

    def talk(self, **more: Any) -> list[Any]:
        more = {"isSidechain": True, **more}
        return [user("s3", None, "Count the files", **more), answer("s4", "s3", "There are 7.", **more)]

    def check(self, thread: Thread) -> None:
        kinds = [(m.source_id, m.kind is Kind.SUBAGENT, m.active) for m in thread.messages]
        assert kinds == [
            ("u1", False, True),
            ("a2", False, True),
            ("s3", True, True),
            ("s4", True, True),
            ("r8", False, True),
            ("a9", False, True),
        ]

    def test_in_a_folder_of_the_session_with_a_note(self) -> None:
        own = f"project/{SESSION}/subagents/agent-x1"
        note = file({"agentType": "Explore", "toolUseId": "t1"}, path=f"{own}.meta.json")
        thread = one(self.main(), file(*self.talk(agentId="x1"), path=f"{own}.jsonl"), note)
        self.check(thread)
        assert thread.messages[2].metadata["agentType"] == "Explore"

    def test_in_an_older_file_beside_found_by_its_prompt(self) -> None:
        self.check(one(self.main(), file(*self.talk(agentId="x1"), path="project/agent-x1.jsonl")))

    def test_within_the_main_file(self) -> None:
        self.check(one(self.main(*self.talk())))

    def test_alone_they_are_one_conversation_in_which_nothing_is_said(self) -> None:
        thread = one(
            file(*self.talk(agentId="x1"), path="project/agent-x1.jsonl"),
            file(user("s5", None, "Wait", agentId="x2"), path="project/agent-x2.jsonl"),
        )
        assert thread.conversation.source_id == SESSION
        assert [m.kind for m in thread.messages] == [Kind.SUBAGENT] * 3

    def test_one_started_by_another_stands_within_it(self) -> None:
        inner = call("t2", prompt="Look")
        outer = [*self.talk(agentId="x1")[:1], answer("s4", "s3", inner, isSidechain=True, agentId="x1")]
        outer.append(user("s7", "s4", [result("t2", "Seen")], isSidechain=True, agentId="x1"))
        nested = file(user("n5", None, "Look", isSidechain=True, agentId="x2"), path="project/agent-x2.jsonl")
        note = file({"toolUseId": "t2"}, path=f"project/{SESSION}/subagents/agent-x2.meta.json")
        thread = one(self.main(), file(*outer, path="project/agent-x1.jsonl"), nested, note)
        assert [m.source_id for m in thread.messages] == ["u1", "a2", "s3", "s4", "n5", "s7", "r8", "a9"]


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


def test_values_of_a_wrong_type_are_absent_values() -> None:
    thread = one(
        file(
            user("u1", None, "One"),
            {"type": "assistant", "uuid": "a2", "parentUuid": 7, "sessionId": SESSION, "message": "Two"},
            {"type": ["user"], "uuid": {}, "sessionId": SESSION, "message": None},
            user("u4", "a2", [None, 3, {"type": "text", "text": None}, {"type": "novelty", "text": "Three"}]),
            line("a5", "u4", "assistant", None),
        )
    )
    assert [m.content for m in thread.messages] == ["One", "Two", "Three"]


def test_the_form_of_the_web_version_is_read() -> None:
    session = {"id": "session_01", "loglines": [user("u1", None, "One"), answer("a2", "u1", "Two")]}
    assert [m.content for m in one(file(session, path="session.json")).messages] == ["One", "Two"]


def test_images_are_named_and_their_bytes_left_out() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    parts = one(file(user("u1", None, [image, image, {"type": "text", "text": "Look"}]))).messages[0].parts
    assert [(part.kind, part.metadata["media_type"], part.text) for part in parts] == [
        (PartKind.ASSET, "image/png", "")
    ] * 2


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


def test_a_long_session_is_ordered_in_linear_time() -> None:
    lines: list[Any] = [user("u0", None, "Go")]
    lines += [answer(f"a{at}", f"{'ua'[at > 1]}{at - 1}", call(f"t{at}")) for at in range(1, 6000)]
    assert len(one(file(*lines)).messages) == 6000
