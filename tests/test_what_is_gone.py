"""What is deleted or forgotten is seen nowhere: no hit, title, neighbour, suggestion, name or number tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from recollect.record import Edge, Node, NodeKind, Origin, Part, PartKind, stable_id
from recollect.store import Change
from tests.coherent import assert_coherent, found
from tests.exports import archive, chat, dump_of, export, file, messages_of, opened

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
LATER = 1_750_000_000.0
HOUR = timedelta(hours=1)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "store" / "memory.db") as memory:
        yield memory
        assert_coherent(memory)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()


def titled(memory: Memory, title: str) -> str:
    """The id of the conversation of a title."""
    return memory.resolve(title)[0].conversation.id


def begin(memory: Memory) -> None:
    memory.store_message("Where is the heron?", conversation_id="C", id="Q", title="Birds", timestamp=NOON)
    memory.store_message("By the weir.", "assistant", conversation_id="C", id="A", timestamp=NOON)


# --- S10, S11: deleted ---------------------------------------------------------------------------------------------


def test_a_deleted_answer_does_not_stand_beside_its_question(memory: Memory) -> None:
    begin(memory)
    assert memory.search("heron", group_by="message")[0].best.beside is not None
    memory.delete("A")
    assert memory.search("heron", group_by="message")[0].best.beside is None
    memory.store_message("In the reeds.", "assistant", conversation_id="C", id="R", timestamp=NOON)
    beside = memory.search("heron", group_by="message")[0].best.beside
    assert beside is not None
    assert beside.id == "R"


def test_a_deleted_question_does_not_stand_beside_its_answer(memory: Memory) -> None:
    begin(memory)
    memory.delete("Q")
    assert memory.search("weir", group_by="message")[0].best.beside is None


def test_a_conversation_found_by_its_title_shows_its_first_message_that_is_there(memory: Memory) -> None:
    begin(memory)
    memory.delete("Q")
    (hit,) = memory.search("birds")
    assert [shown.message.id for shown in hit.messages] == ["A"]
    memory.delete("A")
    assert not memory.search("birds")


def test_however_many_messages_are_deleted_at_its_beginning_the_first_that_is_left_is_shown(memory: Memory) -> None:
    begin(memory)
    for i in range(20):
        memory.store_message(f"Number {i}.", conversation_id="C", id=f"N{i}", timestamp=NOON)
    memory.delete("Q", "A", *(f"N{i}" for i in range(15)))
    (hit,) = memory.search("birds")
    assert [shown.message.id for shown in hit.messages] == ["N15"]


def test_a_hit_counts_the_messages_that_are_there(memory: Memory) -> None:
    begin(memory)
    memory.delete("A")
    (hit,) = memory.search("heron")
    assert hit.message_count == memory.upkeep.stats().messages == memory.conversations()[0].messages == 1


def test_no_deleted_word_is_suggested(memory: Memory) -> None:
    begin(memory)
    memory.store_message("A kingfisher dives.", conversation_id="C", id="K", timestamp=NOON)
    assert memory.search("kingfischer").corrected == "kingfisher"
    memory.delete("K")
    assert memory.search("kingfischer").corrected is None
    memory.restore("K")
    assert memory.search("kingfischer").corrected == "kingfisher"
    memory.update_message("K", "Something dives.")
    assert memory.search("kingfischer").corrected is None


def test_nobody_is_named_who_only_spoke_in_deleted_messages(memory: Memory) -> None:
    memory.store_message("I saw it.", speaker="Marguerite", conversation_id="C", id="M", timestamp=NOON)
    memory.store_message("So did I.", speaker="Ben", conversation_id="C", timestamp=NOON)
    assert speakers(memory) == ["Ben", "Marguerite"]
    memory.delete("M")
    assert speakers(memory) == ["Ben"]
    memory.restore("M")
    assert speakers(memory) == ["Ben", "Marguerite"]
    memory.forget("M")
    assert speakers(memory) == ["Ben"]


def speakers(memory: Memory) -> list[str]:
    with memory.handle.space.view() as view:
        return view.speakers()


def test_what_another_process_added_and_deleted_between_two_searches_is_not_found(memory: Memory) -> None:
    """S12: rows and their deaths come from one moment."""
    begin(memory)
    with opened(Path(memory.location)) as other:
        assert found(other, "by the weir") == ["A"]
        memory.store_message("A passing osprey.", conversation_id="C", id="O", timestamp=NOON)
        memory.delete("O", "A")
        assert found(other, "osprey") == found(other, "by the weir") == []
        memory.update_message("Q", "Where is the bittern?")
        assert found(other, "heron") == []
        assert found(other, "bittern") == ["Q"]


def test_the_deletion_of_whole_conversations_and_back(memory: Memory) -> None:
    begin(memory)
    memory.store_message("One otter.", conversation_id="B", title="Beasts", id="O", timestamp=NOON)
    assert memory.delete("C", "O") == 3
    assert memory.delete("C") == 0  # there is nothing more of it to delete
    assert memory.upkeep.stats().messages == 0
    assert not memory.search("heron")
    assert memory.conversations() == []
    assert memory.restore("C") == 2
    assert memory.upkeep.stats().messages == 2
    assert [row.messages for row in memory.conversations()] == [2]
    with pytest.raises(NotFound):
        memory.delete("Fish")


def test_what_is_written_to_a_deleted_conversation_brings_it_back(memory: Memory, tmp_path: Path) -> None:
    begin(memory)
    memory.delete("C")
    assert memory.conversations() == []
    memory.store_message("A new morning.", conversation_id="C", id="N", timestamp=NOON + HOUR)
    assert [(row.conversation.title, row.messages) for row in memory.conversations()] == [("Birds", 1)]
    assert [shown.message.id for hit in memory.search("birds") for shown in hit.messages] == ["N"]


def test_what_a_newer_export_adds_to_a_deleted_conversation_brings_it_back(memory: Memory, tmp_path: Path) -> None:
    memory.import_file(export(tmp_path / "old", [chat("heron one", "weir one", title="Birds")]))
    memory.delete(titled(memory, "Birds"))
    memory.import_file(export(tmp_path / "old", [chat("heron one", "weir one", title="Birds")]))
    assert memory.conversations() == []
    newer = [chat("heron one", "weir one", "otter one", title="Birds", updated=LATER)]
    memory.import_file(export(tmp_path / "new", newer))
    assert [(row.conversation.title, row.messages) for row in memory.conversations()] == [("Birds", 1)]
    assert [shown.message.content for hit in memory.search("birds") for shown in hit.messages] == ["otter one"]


# --- forgotten: each kind of selection -----------------------------------------------------------------------------


def archive_of(memory: Memory, folder: Path) -> None:
    """Two conversations of ChatGPT, one of Claude with a project, a live one of two days."""
    memory.import_file(
        export(folder / "a", [chat("heron one", "weir one", title="Herons"), chat("otter", "bank", name="o")])
    )
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    message = {"uuid": "m1", "sender": "human", "text": "When is high water?", "content": [], **times}
    talk = {"uuid": "t", "name": "Tides", "chat_messages": [message], **times}
    docs = [{"uuid": "d1", "filename": "tides.md", "content": "The quay is closed.", **times}]
    project = {"uuid": "p1", "name": "Harbour", "prompt_template": "", "docs": docs, **times}
    memory.import_file(archive(folder / "claude.zip", {"conversations.json": [talk], "projects.json": [project]}))
    memory.store_message("First day.", conversation_id="L", id="L1", title="Live", timestamp=NOON)
    memory.store_message("Second day.", conversation_id="L", id="L2", timestamp=NOON + 24 * HOUR)


@pytest.mark.parametrize(
    ("named", "chosen", "goes", "stays"),
    [
        (["Herons"], {}, ["heron one", "weir one"], ["otter", "first day"]),
        (["L1"], {}, ["first day"], ["second day", "heron one"]),
        (["Herons", "L2"], {}, ["heron one", "weir one", "second day"], ["first day", "otter"]),
        (["Live"], {"since": "2025-03-02"}, ["second day"], ["first day", "otter"]),
        ([], {"sources": ["chatgpt"]}, ["heron one", "weir one", "otter", "bank"], ["high water", "first day"]),
        ([], {"sources": "claude"}, ["high water", "quay"], ["otter", "first day"]),
        ([], {"since": "2025-03-02"}, ["second day"], ["first day", "high water", "otter"]),
        ([], {"until": "2025-02-27"}, ["heron one", "otter"], ["first day", "high water"]),
        ([], {"since": "2025-03-01", "until": "2025-03-01"}, ["first day", "high water"], ["second day", "otter"]),
        ([], {"since": "2025-03-01", "sources": ["recollect"]}, ["first day", "second day"], ["high water", "otter"]),
        ([], {"everything": True}, ["heron one", "otter", "high water", "quay", "first day"], []),
    ],
)
def test_what_is_named_is_forgotten_and_nothing_else(
    memory: Memory, tmp_path: Path, named: list[str], chosen: dict[str, object], goes: list[str], stays: list[str]
) -> None:
    archive_of(memory, tmp_path)
    before = memory.upkeep.stats()
    named = [name if name.startswith("L") and name != "Live" else titled(memory, name) for name in named]
    foreseen = memory.forget(*named, dry_run=True, **chosen)  # type: ignore[arg-type]
    assert memory.upkeep.stats() == before
    assert all(words_there(memory, words) for words in [*goes, *stays])
    done = memory.forget(*named, **chosen)  # type: ignore[arg-type]
    assert done == foreseen
    assert memory.upkeep.stats().messages == before.messages - done.messages
    assert memory.upkeep.stats().conversations == before.conversations - done.conversations
    assert memory.upkeep.stats().documents == before.documents - done.documents
    for words in goes:
        assert not words_there(memory, words)
        assert words.encode() not in dump_of(memory).lower()
    assert all(words_there(memory, words) for words in stays)
    nothing = memory.forget(*named, **chosen) if not named else None  # type: ignore[arg-type]
    assert nothing is None or (nothing.messages, nothing.conversations, nothing.documents) == (0, 0, 0)


def words_there(memory: Memory, words: str) -> bool:
    return bool(found(memory, words)) or any(words in document.content for document in memory.documents())


def test_nothing_named_forgets_nothing(memory: Memory) -> None:
    begin(memory)
    with pytest.raises(InvalidInput, match="Nothing to forget"):
        memory.forget()
    with pytest.raises(NotFound):
        memory.forget("Fish")
    with pytest.raises(NotFound):
        memory.forget("Q", "Fish")  # all or nothing
    assert memory.upkeep.stats().messages == 2


def test_nothing_is_guessed_where_something_goes_or_changes(memory: Memory) -> None:
    """Ids are whole: the end of one, or a part of a title, is another's (I1)."""
    for name in ("joanna@x.com", "anna@x.com"):
        memory.store_message("An invoice.", conversation_id=name, title=f"Invoice of {name}", timestamp=NOON)
    memory.store_message("Another.", conversation_id="i12", title="Invoice 12", timestamp=NOON)
    memory.store_message("One.", conversation_id="i1", title="Invoice 1", timestamp=NOON)
    fact = memory.store_fact("The key hangs behind the barometer.", entity="key")
    memory.forget("i1")
    guesses = ("oanna@x.com", "Invoice 1", "Invoice 12", "invoice", "I12", fact.id[-6:])
    calls = (
        memory.forget, memory.delete, memory.restore, memory.knowledge.pin_fact, memory.knowledge.forget_fact,
        memory.knowledge.undo_fact, lambda name: memory.knowledge.edit_fact(name, "x"),
        lambda name: memory.knowledge.merge_facts(fact.id, name), lambda name: memory.update_message(name, "x"),
        lambda name: memory.store_tool_call("t", "{}", "r", name), lambda name: memory.forget(name, since="2020"),
    )  # fmt: skip
    before = dump_of(memory)
    for call in calls:
        for guess in guesses:
            with pytest.raises(NotFound):
                call(guess)
    assert dump_of(memory) == before
    assert memory.resolve("Invoice 1")[0].conversation.id == "i12"  # a guess is shown
    assert memory.knowledge.resolve_fact(fact.id[-6:]) == fact.id
    assert memory.delete("anna@x.com") == 1
    assert [m.deleted for m in memory.conversation("joanna@x.com").messages] == [False]


def test_what_is_told_of_what_goes(memory: Memory) -> None:
    begin(memory)
    for i in range(25):
        memory.store_message("One otter.", conversation_id=f"B{i}", title=f"Beasts {i:02}", timestamp=NOON)
    told = memory.forget(everything=True, dry_run=True)
    assert (told.conversations, told.messages, told.touched) == (26, 27, 26)
    assert len(told.titles) == 20
    assert (memory.forget("Q").messages, memory.forget("C").messages) == (1, 1)


def test_a_forgotten_message_leaves_its_place_and_the_rest_goes_on(memory: Memory) -> None:
    begin(memory)
    memory.store_message("Thanks a lot.", conversation_id="C", id="T", timestamp=NOON)
    memory.forget("A")
    thread = memory.conversation("C")
    assert [(m.id, m.content, m.erased) for m in thread.messages] == [
        ("Q", "Where is the heron?", False), ("A", "", True), ("T", "Thanks a lot.", False),
    ]  # fmt: skip
    assert memory.messages(["A"]) == []
    assert memory.search("heron", group_by="message")[0].best.beside is None
    memory.store_message("And the otter?", conversation_id="C", id="Z", timestamp=NOON)
    assert [m.id for m in memory.conversation("C").messages] == ["Q", "A", "T", "Z"]
    with pytest.raises(NotFound, match="was forgotten"):
        memory.restore("A")
    with pytest.raises(InvalidInput, match="was forgotten"):
        memory.update_message("A", "By the weir.")


def test_a_forgotten_leaf_is_the_end_of_the_path_still(memory: Memory) -> None:
    begin(memory)
    memory.forget("A")
    memory.store_message("And the otter?", conversation_id="C", id="Z", timestamp=NOON)
    assert [(m.id, m.parent_id, m.active) for m in memory.conversation("C").messages] == [
        ("Q", None, True), ("A", "Q", True), ("Z", "A", True),
    ]  # fmt: skip


def test_what_is_written_to_a_forgotten_conversation_is_there(memory: Memory) -> None:
    """A live session goes on after its conversation was forgotten: what is acknowledged is kept and found."""
    begin(memory)
    memory.forget("C")
    stored = memory.store_message("A new morning.", conversation_id="C", timestamp=NOON + HOUR)
    assert found(memory, "a new morning") == [stored.id]
    assert [m.content for m in memory.conversation("C").messages if not m.erased] == ["A new morning."]
    assert memory.upkeep.stats().messages == 1
    assert [row.messages for row in memory.conversations()] == [1]
    assert b"heron" not in dump_of(memory)


def test_a_deleted_message_can_be_forgotten(memory: Memory) -> None:
    begin(memory)
    memory.delete("A")
    memory.forget("A")
    assert b"weir" not in dump_of(memory)
    with pytest.raises(NotFound, match="was forgotten"):
        memory.restore("A")


def test_what_hangs_on_a_message_goes_with_it(memory: Memory) -> None:
    begin(memory)
    memory.store_message(
        "See this.", conversation_id="C", id="P", parts=[Part(PartKind.ATTACHMENT, "osprey.txt", "A passing osprey.")]
    )
    call = memory.store_tool_call("bittern", "booming", "at dusk", "P")
    fact = Node(stable_id("f"), NodeKind.FACT, "heron", "is seen at dawn", origin=Origin.SAID)
    memory.handle.space.write(Change(put=[fact], edges=[Edge(fact.id, "ABOUT", call.result_message_id)]))
    memory.update_message("P", "See that.")
    memory.forget("P", call.result_message_id)
    assert memory.integration.tool_calls([call.id]) == []
    left = dump_of(memory).lower()
    for words in (b"osprey", b"bittern", b"booming", b"dusk", b"see this", b"see that", b"about"):
        assert words not in left
    assert b"dawn" in left
    memory.forget(everything=True)
    assert b"dawn" not in dump_of(memory)


# --- forgotten: importing again ------------------------------------------------------------------------------------


def test_importing_again_brings_nothing_back_unless_it_is_asked_for(memory: Memory, tmp_path: Path) -> None:
    path = export(tmp_path / "a", [chat("heron one", "weir one", title="Herons"), chat("otter", "bank", name="o")])
    before = dump_of(opened_with(tmp_path / "other.db", path))
    memory.import_file(path)
    memory.forget(titled(memory, "Herons"))
    dumped = dump_of(memory)
    report = memory.import_file(path)
    assert (report.forgotten, report.written.new, report.written.changed, report.written.same) == (1, 0, 0, 1)
    assert dump_of(memory) == dumped
    assert found(memory, "heron one") == []
    report = memory.import_file(path, again=True)
    assert report.forgotten == 0
    assert report.stored.messages == 4
    assert [m.content for m in messages_of(memory) if not m.erased] == ["heron one", "weir one", "otter", "bank"]
    assert len(found(memory, "heron one")) == 1
    assert dump_of(memory) == before
    assert memory.import_file(path).written.same == 2


def opened_with(path: Path, export: Path) -> Memory:
    memory = opened(path)
    memory.import_file(export)
    return memory


def test_a_newer_export_brings_what_is_new_beside_what_was_forgotten(memory: Memory, tmp_path: Path) -> None:
    memory.import_file(export(tmp_path / "old", [chat("heron one", "weir one", "belfry one")]))
    weir = next(m for m in messages_of(memory) if m.content == "weir one")
    memory.forget(weir.id)
    newer = export(tmp_path / "new", [chat("heron one", "weir two", "belfry one", "otter one", updated=LATER)])
    memory.import_file(newer)
    assert [m.content for m in messages_of(memory)] == ["heron one", "", "belfry one", "otter one"]
    assert found(memory, "weir two") == []
    memory.import_file(newer, again=True)
    assert [m.content for m in messages_of(memory)] == ["heron one", "weir two", "belfry one", "otter one"]
    assert len(found(memory, "weir two")) == 1


def test_a_forgotten_document_stays_away(memory: Memory, tmp_path: Path) -> None:
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [{"uuid": "d1", "filename": "tides.md", "content": "The quay is closed.", **times}]
    path = file(tmp_path / "projects.json", [{"uuid": "p", "name": "H", "prompt_template": "", "docs": docs, **times}])
    memory.import_file(path)
    memory.forget(sources=["claude"])
    assert memory.upkeep.stats().documents == 0
    memory.import_file(path)
    assert not words_there(memory, "quay is closed")
    memory.import_file(path, again=True)
    assert words_there(memory, "quay is closed")


def test_a_dump_carries_over_what_was_forgotten_as_forgotten(memory: Memory, tmp_path: Path) -> None:
    source = export(tmp_path / "a", [chat("heron one", "weir one", title="Herons"), chat("otter", "bank", name="o")])
    memory.import_file(source)
    bank = next(m for m in messages_of(memory) if m.content == "bank")
    memory.forget(titled(memory, "Herons"), bank.id)
    with opened(tmp_path / "other.db") as other:
        other.import_file(file(tmp_path / "dump.jsonl", dump_of(memory)))
        assert dump_of(other) == dump_of(memory)
        other.import_file(source)
        assert found(other, "heron one") == found(other, "bank") == []
        assert_coherent(other)


# --- forgotten: no byte of it --------------------------------------------------------------------------------------

CANARY = "Quagmirefoxglove"


def holding_the_canary(folder: Path) -> list[str]:
    """The files that hold a stem of it, in any case, as text of 8 or 16 bits."""
    stem = CANARY[:12].lower()
    found = []
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes().lower() if path.is_file() else b""
        if stem.encode() in data or stem.encode("utf-16-le") in data:
            found.append(path.name)
    return found


@pytest.mark.parametrize("what", ["message", "conversation", "source", "time", "everything"])
def test_no_file_holds_a_byte_of_what_was_forgotten(memory: Memory, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "store"
    words = [f"{CANARY} {i} stands by the weir, says {CANARY}" for i in range(30)]
    memory.import_file(export(tmp_path / "a", [chat(*words, name="k", title=CANARY), chat("otter", "bank", name="o")]))
    live = memory.store_message(
        f"I am {CANARY}.", speaker=CANARY, conversation_id="C", id="X", title=CANARY, timestamp=NOON, model=CANARY,
        parts=[Part(PartKind.ATTACHMENT, f"{CANARY}.txt", f"{CANARY} grows.")], metadata={CANARY: [CANARY]},
    )  # fmt: skip
    memory.update_message(live.id, f"You are {CANARY} too.")
    memory.store_message(f"{CANARY} deleted", conversation_id="C", id="D", timestamp=NOON)
    memory.delete("D")
    memory.store_tool_call(CANARY, CANARY, CANARY, live.id, timestamp=NOON)
    memory.upkeep.embed()
    memory.upkeep.maintain()
    memory.search(CANARY)
    memory.search("otter", mode="quality")
    memory.upkeep.reindex()
    memory.search(CANARY)
    assert holding_the_canary(folder)
    match what:
        case "message":
            ids = [m.id for row in memory.conversations() for m in memory.conversation(row.conversation.id).messages]
            memory.forget(*(i for i in ids if CANARY in str(memory.messages([i]))))
            assert holding_the_canary(folder) == []
        case "conversation":
            memory.forget("C", *{row.conversation.id for row in memory.conversations(title=CANARY)})
        case "source":
            memory.forget(sources=["chatgpt", "recollect"])
        case "time":
            memory.forget(since="2020", until="2030")
            assert holding_the_canary(folder) == []  # titles, too, where nothing of a conversation is left
        case "everything":
            memory.forget(everything=True)
    assert holding_the_canary(folder) == []
    assert found(memory, CANARY) == []
    misspelt = memory.search(f"{CANARY}s")
    assert (misspelt.suggestion, misspelt.corrected) == (None, None)
    memory.upkeep.maintain()
    assert holding_the_canary(folder) == []
    assert memory.upkeep.check() == []


def test_a_namespace_is_forgotten_whole_and_its_neighbours_stay(memory: Memory, tmp_path: Path) -> None:
    talk = export(tmp_path / "a", [chat("heron one", "weir one", title="Herons")])
    luna = memory.beside("acme/luna")
    for own in (memory, luna):
        own.import_file(talk)
    luna.store_message(f"I am {CANARY}.", speaker=CANARY, conversation_id="C", title=CANARY, timestamp=NOON)
    luna.store_fact(f"{CANARY} lives in Lisbon", concept=CANARY)
    luna.upkeep.consolidate()
    luna.search(CANARY)
    assert holding_the_canary(tmp_path / "store")
    kept = dump_of(memory)
    luna.forget(everything=True)
    assert holding_the_canary(tmp_path / "store") == []
    assert (luna.upkeep.stats().messages, luna.conversations(), luna.entities(), luna.facts()) == (0, [], [], [])
    assert luna.search("heron").hits == ()
    assert luna.upkeep.check() == []
    assert dump_of(memory) == kept
    assert found(memory, "heron one")


def test_a_deleted_conversation_comes_back_with_all_that_was_derived_from_it(memory: Memory) -> None:
    said = ["My cat is called Pixel.", "I live in Lisbon.", "I work as a diver.", "I prefer tea.", "We moved.", "Yes."]
    for i, text in enumerate(said):
        memory.store_message(text, conversation_id="C", id=f"M{i}", title="Pixel", timestamp=NOON + i * HOUR)
    memory.store_message("One otter.", conversation_id="B", id="O", timestamp=NOON)
    memory.upkeep.consolidate()

    def seen() -> tuple[object, ...]:
        facts = sorted(fact.content for fact in memory.facts())
        summaries = sorted(one.text for one in memory.summaries())
        return (
            memory.upkeep.stats(),
            found(memory, "pixel"),
            facts,
            summaries,
            sorted(e.name for e in memory.entities()),
        )

    before = seen()
    assert before[2]
    assert before[3]
    memory.delete("C")
    memory.upkeep.consolidate()
    assert seen()[1:3] == ([], [])
    assert memory.restore("C") == 6
    memory.upkeep.consolidate()
    assert seen() == before
