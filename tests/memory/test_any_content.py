"""What programs hand over is taken as it comes; what cannot be is said, with the argument and the fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import InvalidInput, NotFound
from recollect.frameworks import mem0
from recollect.memory import Memory
from recollect.record import Kind, PartKind, Role
from tests.exports import opened

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory.db") as memory:
        yield memory
        assert memory.upkeep.check() == []


class Block:
    """A block as the SDKs make them: a pydantic model."""

    def __init__(self, **told: Any) -> None:
        self._told = told

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        return {name: value for name, value in self._told.items() if value is not None or not exclude_none}


@pytest.mark.parametrize(
    ("content", "words", "parts"),
    [
        ([{"type": "text", "text": "The boat."}, {"type": "text", "text": "At pier nine."}],
         "The boat.\n\nAt pier nine.", []),
        ([{"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": "data:image/png;base64,AA"}],
         "See", [(PartKind.ASSET, "input_image", "")]),
        ([{"type": "image_url", "image_url": {"url": "http://there.invalid/a.png"}}],
         "", [(PartKind.ASSET, "http://there.invalid/a.png", "")]),
        ([{"type": "image", "source": {"type": "base64", "data": "AA"}}, {"type": "text", "text": "What is it?"}],
         "What is it?", [(PartKind.ASSET, "image", "")]),
        ([{"type": "document", "title": "Lease", "source": {"type": "base64", "data": "AA"}}],
         "", [(PartKind.ASSET, "Lease", "")]),
        ([Block(type="thinking", thinking="Hm.", signature="x"), Block(type="text", text="Nine.", citations=None)],
         "Nine.", [(PartKind.REASONING, "thinking", "Hm.")]),
        ([{"type": "tool_use", "id": "t", "name": "find", "input": {"what": "boat"}}],
         "", [(PartKind.ARTIFACT, "call of find", '{"what": "boat"}')]),
        ([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "pier 9"}]}],
         "", [(PartKind.ATTACHMENT, "tool_result", "pier 9")]),
        ([{"type": "document", "title": "Lease", "source": {"type": "text", "data": "Six months."}}],
         "", [(PartKind.ATTACHMENT, "Lease", "Six months.")]),
        ([{"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "Six months."}]}}],
         "", [(PartKind.ATTACHMENT, "document", "Six months.")]),
        ([{"type": "search_result", "source": "a.md", "title": "", "content": [{"type": "text", "text": "Pier 9."}]}],
         "", [(PartKind.ATTACHMENT, "a.md", "Pier 9.")]),
        ([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}],
         "", [(PartKind.REASONING, "thinking", "Hm.")]),
        ([{"type": "server_tool_use", "id": "t", "name": "web_search", "input": {"query": "boat"}},
          {"type": "web_search_tool_result", "tool_use_id": "t",
           "content": [{"type": "web_search_result", "title": "Boats", "url": "http://b", "encrypted_content": "x"}]}],
         "", [(PartKind.ATTACHMENT, "web_search_tool_result", "Boats http://b"),
              (PartKind.ARTIFACT, "call of web_search", '{"query": "boat"}')]),
        ([{"type": "code_execution_tool_result", "content": {"type": "code_execution_result", "stdout": "42"}}],
         "", [(PartKind.ATTACHMENT, "code_execution_tool_result", "42")]),
        ({"type": "text", "text": "Alone."}, "Alone.", []),
        (["One.", {"type": "refusal", "refusal": "No."}], "One.\n\nNo.", []),
    ],
)  # fmt: skip
def test_content_parts_are_taken_as_they_come(
    memory: Memory, content: Any, words: str, parts: list[tuple[PartKind, str, str]]
) -> None:
    one = memory.store_message(content)
    [two] = memory.store_messages([{"content": content, "role": "assistant"}])
    assert (one.content, two.content) == (
        words,
        words.replace("\n\n", ""),
    )  # the blocks of an answer are pieces of one text
    for stored in (one, two):
        assert [(part.kind, part.name, part.text) for part in stored.parts] == parts


def test_a_developer_is_the_system(memory: Memory) -> None:
    assert memory.store_message("Be brief.", "developer").role is Role.SYSTEM
    [one] = memory.store_messages([{"content": "Be brief.", "role": "developer", "kind": "context"}])
    assert (one.role, one.kind) == (Role.SYSTEM, Kind.CONTEXT)


@pytest.mark.parametrize("when", [date(2025, 3, 1), "2025-03-01T12:00:00Z", 1_740_830_400, NOON])
def test_a_time_is_taken_however_it_is_written(memory: Memory, when: Any) -> None:
    stored = memory.store_message("Now.", timestamp=when)
    assert stored.timestamp in (NOON, datetime(2025, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda m: m.store_message(None), "content"),
        (lambda m: m.store_message(7), "content"),
        (lambda m: m.store_message(NOON), "content"),
        (lambda m: m.store_message(b"bytes"), "content"),
        (lambda m: m.store_message([7]), "content"),
        (lambda m: m.store_message([]), "content"),
        (lambda m: m.store_message("x", role=None), "role"),
        (lambda m: m.store_message("x", role=["user"]), "role"),
        (lambda m: m.store_message("x", kind=7), "kind"),
        (lambda m: m.store_message("x", title=None), "title"),
        (lambda m: m.store_message("x", speaker=7), "speaker"),
        (lambda m: m.store_message("x", model=7), "model"),
        (lambda m: m.store_message("x", id=7), "id"),
        (lambda m: m.store_message("x", conversation_id=7), "conversation_id"),
        (lambda m: m.store_message("x", parent_id=7), "parent_id"),
        (lambda m: m.store_message("x", timestamp="soon"), "timestamp"),
        (lambda m: m.store_message("x", timestamp=object()), "timestamp"),
        (lambda m: m.store_message("x", metadata=None), "metadata"),
        (lambda m: m.store_message("x", metadata=["a"]), "metadata"),
        (lambda m: m.store_message("x", parts=None), "parts"),
        (lambda m: m.store_message("x", parts=[{"type": "text"}]), "parts"),
        (lambda m: m.store_messages(None), "messages"),
        (lambda m: m.store_messages("text"), "messages"),
        (lambda m: m.store_messages(["text"]), "Message 0"),
        (lambda m: m.store_messages({"content": "x"}), "messages"),
        (lambda m: m.store_tool_call(None, "{}", "", "a"), "name"),
        (lambda m: m.store_tool_call("t", "{}", "", "a", metadata=7), "metadata"),
        (lambda m: m.integration.store_tool_calls("t", "a"), "calls"),
        (lambda m: m.update_message("a", None), "content"),
        (lambda m: m.update_message(7, "x"), "id"),
        (lambda m: m.integration.update_messages(None), "changes"),
        (lambda m: m.forget(None), "ids"),
        (lambda m: m.forget(["a", "b"]), "ids"),
        (lambda m: m.delete(7), "ids"),
        (lambda m: m.restore(None), "ids"),
    ],
)
def test_what_cannot_be_is_said_with_its_name(memory: Memory, call: Callable[[Any], object], named: str) -> None:
    memory.store_message("One.", id="a")
    with pytest.raises(InvalidInput, match=named) as told:
        call(memory)
    assert told.value.hint
    assert memory.upkeep.stats().messages == 1


@pytest.mark.parametrize("id", [None, 7, "nothing"])
def test_an_id_of_nothing_is_not_found(memory: Memory, id: Any) -> None:
    for call in (memory.conversation, memory.delete, memory.restore, memory.knowledge.pin_fact):
        with pytest.raises((NotFound, InvalidInput)):
            call(id)


def test_mem0_takes_what_an_sdk_hands_over(memory: Memory) -> None:
    adapter = mem0.Memory(memory)
    added = adapter.add(
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "user", "content": [{"type": "text", "text": "I am allergic to nuts."}]},
        ],
        user_id="alice",
    )
    assert [one["memory"] for one in added["results"]] == ["I am allergic to nuts."]


def test_citations_do_not_cut_the_sentences_of_an_answer(memory: Memory) -> None:
    blocks = [{"type": "text", "text": "The boat is"}, {"type": "text", "text": " at pier nine", "citations": []}]
    assert memory.store_message([*blocks, {"type": "text", "text": "."}], "assistant").content == (
        "The boat is at pier nine."
    )
