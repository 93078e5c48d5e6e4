"""Two who write at once: whenever one comes between the steps of the other, nothing is lost and nothing doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from tests.coherent import assert_coherent, found
from tests.exports import chat, export, file, messages_of
from tests.interrupting import at_every_moment

pytestmark = pytest.mark.slow

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
LATER = 1_750_000_000.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is interrupted reads on for as long as the other one acts: waiting for that is in vain."""
    monkeypatch.setattr("recollect.engines.sqlite.maintain._READERS", 0.05)


def begin(memory: Memory) -> None:
    """A question in a conversation, with its answer."""
    memory.store_message("Where is the heron?", conversation_id="C", id="Q", title="Birds", timestamp=NOON)
    memory.store_message("By the weir.", "assistant", conversation_id="C", id="A", timestamp=NOON)


# --- S3: edit and append -------------------------------------------------------------------------------------------


def test_a_wording_that_another_writes_meanwhile_stays_in_the_text_or_the_history(tmp_path: Path) -> None:
    races = at_every_moment(
        tmp_path,
        begin,
        lambda memory: memory.update_message("Q", "Where is the otter?"),
        lambda memory: memory.update_message("Q", "Where is the kingfisher?"),
    )
    for memory in races:
        (message,) = memory.messages(["Q"])
        wordings = [*(version.content for version in message.versions), message.content]
        assert wordings == ["Where is the heron?", "Where is the kingfisher?", "Where is the otter?"]
        assert found(memory, "kingfisher") == found(memory, "heron") == []
        assert_coherent(memory)


def test_an_answer_that_comes_while_a_message_is_edited_is_there(tmp_path: Path) -> None:
    races = at_every_moment(
        tmp_path,
        begin,
        lambda memory: memory.update_message("A", "Below the weir."),
        lambda memory: memory.store_message("Thanks a lot.", conversation_id="C", id="T"),
    )
    for memory in races:
        assert [m.content for m in memory.conversation("C").messages] == [
            "Where is the heron?", "Below the weir.", "Thanks a lot.",
        ]  # fmt: skip
        assert_coherent(memory)


def test_two_writers_of_one_id_write_one_message(tmp_path: Path) -> None:
    def append(memory: Memory) -> None:
        memory.store_message("They fish at dawn.", "assistant", conversation_id="C", id="X")

    for memory in at_every_moment(tmp_path, begin, append, append):
        assert [m.id for m in memory.conversation("C").messages] == ["Q", "A", "X"]
        assert [turn.response_ids for turn in memory.conversation("C").turns] == [("A", "X")]
        assert_coherent(memory)


def test_of_two_writers_of_one_id_with_other_words_one_is_told(tmp_path: Path) -> None:
    told: list[bool] = []

    def append(memory: Memory) -> None:
        try:
            memory.store_message("They fish at dawn.", conversation_id="C", id="X")
            told.append(False)
        except InvalidInput:
            told.append(True)

    races = at_every_moment(
        tmp_path,
        begin,
        append,
        lambda memory: memory.store_message("They sleep at noon.", conversation_id="C", id="X"),
    )
    for memory in races:
        assert memory.messages(["X"])[0].content == "They sleep at noon."
        assert told[-1]
        assert_coherent(memory)


def test_two_that_begin_the_same_conversation_are_both_in_it(tmp_path: Path) -> None:
    races = at_every_moment(
        tmp_path,
        lambda memory: None,
        lambda memory: memory.store_message("one heron", conversation_id="C", title="Birds"),
        lambda memory: memory.store_message("two otters", conversation_id="C", title="Beasts"),
    )
    for memory in races:
        assert [m.content for m in memory.conversation("C").messages] == ["two otters", "one heron"]
        assert_coherent(memory)


def test_two_answers_to_one_question_are_two_branches(tmp_path: Path) -> None:
    races = at_every_moment(
        tmp_path,
        begin,
        lambda memory: memory.store_message("By the lake.", "assistant", conversation_id="C", id="L", parent_id="Q"),
        lambda memory: memory.store_message("In the reeds.", "assistant", conversation_id="C", id="R", parent_id="Q"),
    )
    for memory in races:
        assert [(m.id, m.parent_id, m.active) for m in memory.conversation("C").messages] == [
            ("Q", None, True), ("A", "Q", False), ("R", "Q", False), ("L", "Q", True),
        ]  # fmt: skip
        assert_coherent(memory)


# --- S4: delete and restore ----------------------------------------------------------------------------------------


def deleted(memory: Memory) -> None:
    begin(memory)
    memory.delete("A")


@pytest.mark.parametrize("intrusion", ["delete", "restore", "edit", "forget"])
def test_a_message_is_found_as_soon_as_it_is_restored_and_only_then(tmp_path: Path, intrusion: str) -> None:
    intrusions: dict[str, Callable[[Memory], object]] = {
        "delete": lambda memory: memory.delete("A"),
        "restore": lambda memory: memory.restore("A"),
        "edit": lambda memory: memory.update_message("A", "Under the belfry."),
        "forget": lambda memory: memory.forget("A"),
    }

    def restore(memory: Memory) -> None:
        try:
            memory.restore("A")
        except (InvalidInput, NotFound):
            assert intrusion == "forget"

    for memory in at_every_moment(tmp_path, deleted, restore, intrusions[intrusion]):
        assert_coherent(memory)
        if intrusion == "edit":
            assert found(memory, "under the belfry") == ["A"]
        if intrusion == "forget":
            assert memory.messages(["A"]) == []
            assert found(memory, "by the weir") == []


def test_a_restoring_that_is_broken_off_has_happened_or_has_not(tmp_path: Path) -> None:
    def stop(_: Memory) -> None:
        raise KeyboardInterrupt

    def restore(memory: Memory) -> None:
        with suppress(KeyboardInterrupt):
            memory.restore("A")

    for memory in at_every_moment(tmp_path, deleted, restore, stop):
        assert_coherent(memory)


# --- S6: importers -------------------------------------------------------------------------------------------------


def project(path: Path, text: str, day: int) -> Path:
    """A project of Claude with one file, exported on some day."""
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": f"2025-03-0{day}T09:00:00Z"}
    docs = [{"uuid": "d1", "filename": "tides.md", "content": text, "created_at": times["created_at"]}]
    return file(path, [{"uuid": "p1", "name": "Harbour", "prompt_template": "Be brief.", "docs": docs, **times}])


def test_two_importers_of_one_document_do_not_double_it(tmp_path: Path) -> None:
    path = project(tmp_path / "projects.json", "The quay is closed at noon.", 1)
    races = at_every_moment(
        tmp_path / "races",
        lambda memory: None,
        lambda memory: memory.import_file(path),
        lambda memory: memory.import_file(path),
    )
    for memory in races:
        assert memory.upkeep.stats().documents == 2  # the file, and what the project asks for
        assert_coherent(memory)


def test_two_importers_of_two_texts_of_a_document_end_with_one(tmp_path: Path) -> None:
    older = project(tmp_path / "older" / "projects.json", "The quay is closed at noon.", 1)
    newer = project(tmp_path / "newer" / "projects.json", "The jetty is open all night.", 2)
    races = at_every_moment(
        tmp_path / "races",
        lambda memory: None,
        lambda memory: memory.import_file(newer),
        lambda memory: memory.import_file(older),
    )
    for memory in races:
        texts = {document.title: document for document in memory.documents()}
        assert_coherent(memory)
        document = texts["tides.md"]
        assert {document.content, *(version.content for version in document.versions)} == {
            "The quay is closed at noon.", "The jetty is open all night.",
        }  # fmt: skip


def test_an_importer_and_a_live_writer_of_one_conversation(tmp_path: Path) -> None:
    old = export(tmp_path / "old", [chat("one heron", "two otters")])
    new = export(tmp_path / "new", [chat("one heron", "two otters", "three weirs", updated=LATER)])

    def live(memory: Memory) -> None:
        conversation = memory.conversations()[0].conversation.id
        memory.store_message("a live belfry", conversation_id=conversation, id="L")

    races = at_every_moment(
        tmp_path / "races",
        lambda memory: memory.import_file(old),
        lambda memory: memory.import_file(new),
        live,
    )
    for memory in races:
        assert sorted(m.content for m in messages_of(memory)) == [
            "a live belfry", "one heron", "three weirs", "two otters",
        ]  # fmt: skip
        assert_coherent(memory)


def test_two_importers_of_one_conversation_make_the_same_of_it(tmp_path: Path) -> None:
    old = export(tmp_path / "old", [chat("one heron", "two otters")])
    new = export(tmp_path / "new", [chat("one heron", "two ospreys", "three weirs", updated=LATER)])
    for first, second in ((old, new), (new, old)):
        races = at_every_moment(
            tmp_path / first.parent.name,
            lambda memory: None,
            lambda memory, path=first: memory.import_file(path),  # type: ignore[misc]
            lambda memory, path=second: memory.import_file(path),  # type: ignore[misc]
        )
        for memory in races:
            assert [m.content for m in messages_of(memory)] == ["one heron", "two ospreys", "three weirs"]
            assert_coherent(memory)


def test_what_is_forgotten_while_it_is_imported_again_stays_away(tmp_path: Path) -> None:
    old = export(tmp_path / "old", [chat("one heron", "two otters", title="Birds")])
    new = export(tmp_path / "new", [chat("one heron", "two otters", "three weirs", title="Birds", updated=LATER)])
    races = at_every_moment(
        tmp_path / "races",
        lambda memory: memory.import_file(old),
        lambda memory: memory.import_file(new),
        lambda memory: memory.forget(memory.resolve("Birds")[0].conversation.id),
    )
    for memory in races:
        assert memory.upkeep.check() == []
        for words in ("one heron", "two otters", "three weirs"):
            assert found(memory, words) == []
        assert memory.conversations() == []
        assert memory.upkeep.stats().messages == 0


def test_what_is_forgotten_while_it_is_edited_stays_away(tmp_path: Path) -> None:
    def edit(memory: Memory) -> None:
        with suppress(InvalidInput):
            memory.update_message("A", "Under the belfry.")

    for memory in at_every_moment(tmp_path, begin, edit, lambda memory: memory.forget("A")):
        assert found(memory, "under the belfry") == found(memory, "by the weir") == []
        assert memory.messages(["A"]) == []
        assert_coherent(memory)


def test_a_dump_is_of_one_moment(tmp_path: Path) -> None:
    """Whatever is written meanwhile: what was exported holds together and can be read."""

    def write(memory: Memory) -> None:
        memory.store_message("Thanks a lot.", conversation_id="C", id="T")
        memory.store_message("elsewhere", conversation_id="B")

    def dump(memory: Memory) -> None:
        memory.export(tmp_path / "dump.jsonl")

    for memory in at_every_moment(tmp_path / "races", begin, dump, write):
        rows = [json.loads(line) for line in (tmp_path / "dump.jsonl").read_bytes().splitlines()]
        assert [len(row["messages"]) for row in rows if row.get("type") == "conversation"] in ([2], [1, 3])
        assert rows[-1]["type"] == "end"
        assert memory.upkeep.check() == []
