"""The façade: writing live, taking back, carrying over, each namespace for itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.errors import InvalidInput, NotFound, StoreError
from recollect.memory import Handle, Memory
from recollect.record import Part, PartKind, Role, namespace
from recollect.text.clean import CLOSE, OPEN
from tests.exports import archive, chat, dump_of, export, first_hit, opened
from tests.store.builders import embedder

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Empty at first; whatever a test has done to it, it is whole in the end."""
    with opened(tmp_path / "memory.db") as memory:
        yield memory
        assert memory.upkeep.check() == []


def finds(memory: Memory, words: str) -> list[str]:
    """The ids of the messages that hold these very words, whoever they come from."""
    return [hit.best.message.id for hit in memory.search(f'"{words}"', group_by="message", kind="all")]


def contents(memory: Memory, conversation: str, *, active: bool | None = None) -> list[str]:
    messages = memory.conversation(conversation).messages
    return [m.content for m in messages if active is None or m.active is active]


# --- store_message -------------------------------------------------------------------------------------------------
def test_a_moment_that_does_not_say_where_is_in_utc(memory: Memory) -> None:
    for hour in (12, 13):
        stored = memory.store_message("We saw a heron", conversation_id="C", timestamp=datetime(2025, 3, 1, hour))
    assert stored.timestamp == datetime(2025, 3, 1, 13, tzinfo=UTC)
    call = memory.store_tool_call("tides", "{}", "high", stored.id, timestamp=datetime(2025, 3, 1, 13))
    assert call.timestamp == stored.timestamp


def test_a_first_message_begins_a_conversation(memory: Memory) -> None:
    stored = memory.store_message("Where is the heron?", title="Birds", timestamp=NOON)
    conversation = memory.conversation(stored.conversation_id).conversation
    assert (conversation.title, conversation.source, conversation.created) == ("Birds", "recollect", NOON)
    assert (stored.role, stored.timestamp, stored.position, stored.active) == (Role.USER, NOON, 0, True)
    assert stored.tokens > 0
    assert memory.messages([stored.id]) == [stored]
    assert first_hit(memory, "heron") == stored


def test_further_messages_go_to_its_end(memory: Memory) -> None:
    first = memory.store_message("Where is the heron?", timestamp=NOON)
    memory.store_message("By the weir.", "assistant", conversation_id=first.conversation_id, model="m-1")
    memory.store_message("Thanks.", conversation_id=first.conversation_id, timestamp=NOON + timedelta(hours=1))
    assert contents(memory, first.conversation_id) == ["Where is the heron?", "By the weir.", "Thanks."]
    thread = memory.conversation(first.conversation_id)
    assert [m.parent_id for m in thread.messages] == [None, thread.messages[0].id, thread.messages[1].id]
    assert thread.turns[0].response_ids == (thread.messages[1].id,)


def test_below_an_earlier_message_it_opens_a_branch(memory: Memory) -> None:
    asked = memory.store_message("Which way?", timestamp=NOON)
    talk = asked.conversation_id
    memory.store_message("Left.", "assistant", conversation_id=talk)
    memory.store_message("Sure?", conversation_id=talk)
    memory.store_message("Right.", "assistant", conversation_id=talk, parent_id=asked.id)
    memory.store_message("Thanks.", conversation_id=talk)
    assert contents(memory, talk, active=True) == ["Which way?", "Right.", "Thanks."]
    assert contents(memory, talk, active=False) == ["Left.", "Sure?"]
    found = first_hit(memory, "sure")
    assert found is not None
    assert found.content == "Sure?"


def test_what_recollect_handed_out_is_cut_out_before_storing(memory: Memory) -> None:
    handed = f"{OPEN}>\nYou like herons and zeppelins.\n{CLOSE}"
    stored = memory.store_message(f"{handed}\nWhere is the otter?")
    assert stored.content.strip() == "Where is the otter?"
    assert finds(memory, "zeppelins") == []
    with pytest.raises(InvalidInput, match="Nothing to remember"):
        memory.store_message(handed)


@pytest.mark.parametrize("years", [-1000, 2500])
def test_a_time_at_which_nothing_can_have_been_said_is_refused(memory: Memory, years: int) -> None:
    then = datetime(1970 + years, 1, 1)
    stored = memory.store_message("Now.")
    with pytest.raises(InvalidInput, match="Nothing was said at"):
        memory.store_message("Then.", timestamp=then)
    with pytest.raises(InvalidInput, match="Nothing was said at"):
        memory.store_tool_call("clock", {}, "late", stored.id, timestamp=then)
    with pytest.raises(InvalidInput, match="No fact holds since"):
        memory.store_fact("It is so.", since=then.replace(year=max(1, then.year - 500)))
    assert memory.upkeep.stats().messages == 1


def test_a_long_message_is_cut_in_chunks_and_found_by_every_part_of_it(memory: Memory) -> None:
    tides = "\n\n".join(f"Paragraph {i} speaks of tides and moorings at some length." for i in range(900))
    file_text = "\n\n".join(f"Entry {i} lists ropes and anchors of the harbour." for i in range(900))
    stored = memory.store_message(
        f"{tides}\n\nThe quixotic lighthouse closes at ten.",
        parts=[Part(PartKind.ATTACHMENT, "ropes.txt", f"{file_text}\n\nThe zinc capstan is new.")],
    )
    assert first_hit(memory, "quixotic lighthouse") == stored
    assert first_hit(memory, "zinc capstan") == stored
    chunks = memory.conversation(stored.conversation_id).chunks
    assert {chunk.part for chunk in chunks} == {-1, 0}
    memory.update_message(stored.id, "Short now.")
    assert {chunk.part for chunk in memory.conversation(stored.conversation_id).chunks} == {0}
    assert first_hit(memory, "zinc capstan") is not None
    assert finds(memory, "quixotic lighthouse") == []


def test_an_append_that_was_tried_twice_is_one(memory: Memory) -> None:
    one = memory.store_message("Hello", id="M1", conversation_id="C1", timestamp=NOON)
    assert memory.store_message("Hello", id="M1", conversation_id="C1") == one
    with pytest.raises(InvalidInput, match="Another message already has the ID M1"):
        memory.store_message("Something else", id="M1", conversation_id="C1")
    with pytest.raises(InvalidInput, match="Another message already has the ID M1"):
        memory.store_message("Hello", id="M1", conversation_id="C2")
    assert memory.upkeep.stats().messages == 1


def test_messages_and_conversations_share_no_id(memory: Memory) -> None:
    """Both are nodes of one graph: whatever one of them owns would be the other's."""
    memory.store_message("Hello", id="M1", conversation_id="C1", title="Greetings")
    for message, conversation in (("C1", "C1"), ("C1", "C2"), ("M2", "M1"), ("X", "X")):
        with pytest.raises(InvalidInput, match="cannot share an ID"):
            memory.store_message("Hello", id=message, conversation_id=conversation)
    assert memory.upkeep.stats().messages == 1
    assert finds(memory, "Hello") == ["M1"]


def test_ids_of_any_kind_are_found_again(memory: Memory) -> None:
    """S15: what somebody called chat-1 is chat-1, not CHAT-1."""
    memory.store_message("Hello there", id="msg_a", conversation_id="chat-1", title="Greetings")
    memory.store_message("Hello, too", id="MSG_A2", conversation_id="Chat-2")
    assert memory.resolve("chat-1")[0].conversation.id == "chat-1"
    assert memory.resolve("Chat-2")[0].conversation.id == "Chat-2"
    thread, message = memory.resolve("msg_a")
    assert message is not None
    assert (thread.conversation.id, message.id) == ("chat-1", "msg_a")
    assert memory.resolve("CHAT-1")[0].conversation.id == "chat-1"  # whatever the case, where only one is meant
    assert [hit.conversation.id for hit in memory.search("hello", conversation="chat-1")] == ["chat-1"]
    assert [hit.conversation.id for hit in memory.search("hello in:chat-1")] == ["chat-1"]
    stored = memory.store_message("A long id of our own")
    assert memory.resolve(stored.id[-8:].lower())[1] == stored
    memory.store_message("An exact id goes first", id="MSG_A", conversation_id="chat-3")
    assert [memory.resolve(name)[0].conversation.id for name in ("msg_a", "MSG_A")] == ["chat-1", "chat-3"]


def test_what_no_store_accepts_is_made_acceptable(memory: Memory) -> None:
    stored = memory.store_message(
        "half \ud83d a pair and \0 nothing",
        speaker="An\nna\ud83d",
        parts=[Part(PartKind.ASSET, "a\0b.png", "")],
        metadata={"far": 2**80, "nan": float("nan"), "odd": {"x": object, "s": {1}}, "\ud83d": "\0"},
    )
    assert stored.content == "half \ufffd a pair and  nothing"
    assert memory.messages([stored.id]) == [stored]
    assert memory.messages([stored.id])[0].speaker == "An na\ufffd"
    dump_of(memory)


# --- tools ---------------------------------------------------------------------------------------------------------


def test_a_tool_call_is_kept_with_its_result_and_found_on_request(memory: Memory) -> None:
    asked = memory.store_message("How high is the tide?", timestamp=NOON)
    call = memory.store_tool_call("tide_table", '{"port": "Ostend"}', "4.7 metres at noon", asked.id)
    assert (call.name, call.result) == ("tide_table", "4.7 metres at noon")
    assert memory.integration.tool_calls([call.id]) == [call]
    found = first_hit(memory, "metres at noon", kind="tool")
    assert found is not None
    assert (found.id, found.parent_id) == (call.result_message_id, asked.id)
    assert first_hit(memory, "Ostend", kind="tool") is not None
    assert memory.upkeep.stats().by_kind == {"said": 1, "tool": 1}


def test_several_tool_calls_of_one_message_are_no_branches(memory: Memory) -> None:
    asked = memory.store_message("How high is the tide?", timestamp=NOON)
    for port in ("Ostend", "Dover", "Calais"):
        memory.store_tool_call("tide_table", port, f"high at {port}", asked.id)
    memory.store_message("High everywhere.", "assistant", conversation_id=asked.conversation_id)
    assert len(contents(memory, asked.conversation_id, active=True)) == 5
    assert memory.upkeep.stats().tool_calls == 3


# --- update, delete, restore ---------------------------------------------------------------------------------------


def test_an_update_keeps_the_id_and_the_history(memory: Memory) -> None:
    stored = memory.store_message("Where is the zeppelin?", timestamp=NOON)
    memory.update_message(stored.id, "Where is the submarine?")
    memory.update_message(stored.id, "Where is the airship?")
    edited = memory.messages([stored.id])[0]
    assert edited.edited
    assert [version.content for version in edited.versions] == ["Where is the zeppelin?", "Where is the submarine?"]
    assert first_hit(memory, "airship") == edited
    assert finds(memory, "zeppelin") == []


def test_after_an_edit_a_call_is_found_where_it_says_more_than_its_message(memory: Memory) -> None:
    asked = memory.store_message("Ostend")
    memory.store_tool_call("tides", "Ostend", "", asked.id)
    assert finds(memory, "tides") == []
    memory.update_message(asked.id, "How high is the water?")
    assert finds(memory, "tides") == [asked.id]
    memory.update_message(asked.id, "Ostend")
    assert finds(memory, "tides") == []


def test_a_result_whose_caller_was_deleted_is_opened_as_a_message(memory: Memory) -> None:
    asked = memory.store_message("Look at the weir.")
    memory.delete(asked.id)
    call = memory.store_tool_call("look", "{}", "Two herons at the weir.", asked.id)
    (found,) = memory.toolbox().vector_search("herons", 1)
    assert (found.type, found.id) == ("message", call.result_message_id)
    assert memory.toolbox().get_message_by_id(found.id).content == "Two herons at the weir."


def test_a_call_is_found_by_the_same_words_however_it_came_in(memory: Memory) -> None:
    asked = memory.store_message("heron")
    memory.store_tool_call("tides", "heron", "high at noon", asked.id)
    before = [hit.best.message.id for hit in memory.search("tides", group_by="message", kind="all")]
    memory.upkeep.reindex()
    assert [hit.best.message.id for hit in memory.search("tides", group_by="message", kind="all")] == before


def test_what_is_deleted_is_in_no_search_and_no_count_and_can_be_restored(memory: Memory, tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t", "name": "tides", "input": {"port": "Ostend"}}
    sides = [
        {"uuid": "m1", "sender": "human", "text": "How high is the tide?", "content": []},
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "Let me consult the almanac.",
            "content": [{"type": "text", "text": "Let me consult the almanac."}, block],
        },
    ]
    talk = {"uuid": "c", "name": "", "created_at": "2025-03-01T09:00:00Z", "updated_at": None, "chat_messages": sides}
    memory.import_file(archive(tmp_path / "claude.zip", {"conversations.json": [talk]}))
    before = dump_of(memory)
    answer = first_hit(memory, "consult the almanac")
    assert answer is not None
    assert first_hit(memory, "Ostend", kind="tool") == answer
    memory.delete(answer.id)
    assert finds(memory, "consult the almanac") == []
    assert finds(memory, "Ostend") == []
    assert memory.upkeep.stats().messages == 1
    assert memory.messages([answer.id])[0].deleted
    memory.restore(answer.id)
    assert first_hit(memory, "consult the almanac") == answer
    assert first_hit(memory, "Ostend", kind="tool") == answer
    memory.restore(answer.id)  # twice is once
    assert dump_of(memory) == before


def test_a_deleted_message_can_be_edited_and_stays_deleted(memory: Memory) -> None:
    stored = memory.store_message("Where is the zeppelin?", timestamp=NOON)
    memory.delete(stored.id)
    memory.update_message(stored.id, "Where is the airship?")
    assert finds(memory, "airship") == []
    memory.restore(stored.id)
    assert finds(memory, "airship") == [stored.id]


# --- derived -------------------------------------------------------------------------------------------------------


def searches(memory: Memory) -> list[dict[str, float]]:
    queries = ("heron weir", "where do otters live?", "bread")
    found = (memory.search(query, group_by="message", limit=100) for query in queries)
    return [{hit.best.message.id: round(hit.score, 3) for hit in hits} for hits in found]


def test_everything_that_search_needs_can_be_made_again(memory: Memory, tmp_path: Path) -> None:
    memory.import_file(
        export(tmp_path, [chat(*(f"heron {i} by weir {i}" for i in range(30))), chat("An otter", "x", name="o")])
    )
    memory.store_message("Bread and otters")
    before, dumped = searches(memory), dump_of(memory)
    assert memory.upkeep.reindex() == memory.upkeep.stats().messages
    assert searches(memory) == before
    assert dump_of(memory) == dumped


def test_another_handle_sees_what_was_made_again(memory: Memory, tmp_path: Path) -> None:
    memory.import_file(export(tmp_path, [chat(f"heron {i}", "By the weir.", name=f"c{i}") for i in range(5)]))
    memory.store_message("An otter")
    with opened(tmp_path / "memory.db") as reader:
        before = searches(reader)
        memory.upkeep.reindex()
        assert searches(reader) == before


def test_quality_vectors_are_made_newest_first_and_only_once(memory: Memory) -> None:
    talk = memory.store_message("one heron", timestamp=NOON).conversation_id
    for i in range(5):
        memory.store_message(f"otter {i}", conversation_id=talk)
    steps: list[tuple[int, int]] = []
    assert memory.upkeep.embed(limit=2, progress=lambda made, wanted: steps.append((made, wanted))) == 2
    assert (memory.upkeep.stats().quality, memory.upkeep.stats().said_passages) == (2, 6)
    assert memory.upkeep.embed() == 4
    assert memory.upkeep.embed() == 0
    assert steps == [(2, 2)]
    results = memory.search("heron", mode="quality", group_by="message")
    assert results.mode == "quality"
    assert results[0].best.message.content == "one heron"


# --- namespaces ----------------------------------------------------------------------------------------------------


def test_a_namespace_shows_nothing_of_another(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "memory.db", durable=False)
    rex, luna = (Memory(Handle(store, embedder(), namespace(f"acme/{name}"))) for name in ("rex", "luna"))
    bone = rex.store_message("The bone is under the quince.", title="Bones", speaker="Rex", timestamp=NOON)
    luna.store_message("The fish is in the larder.", timestamp=NOON)
    assert luna.search("bone quince", group_by="message").hits == ()
    assert (
        luna.search("where is the bone under the quince tree?", group_by="message")[0].best.message.content[:8]
        == "The fish"
    )
    assert luna.messages([bone.id]) == []
    assert luna.conversations(title="Bones") == []
    assert b"bone" not in dump_of(luna)
    assert (luna.upkeep.stats().messages, rex.upkeep.stats().messages) == (1, 1)
    for refused in (luna.conversation, luna.resolve):
        with pytest.raises(NotFound):
            refused(bone.conversation_id)
    with pytest.raises(NotFound):
        luna.delete(bone.id)
    with pytest.raises(NotFound):
        luna.update_message(bone.id, "mine")
    luna.store_message("My own bone", id=bone.id, conversation_id=bone.conversation_id)  # equal ids are strangers
    assert rex.messages([bone.id]) == [bone]
    assert rex.upkeep.namespaces() == ["acme/luna", "acme/rex"]
    assert rex.upkeep.check() == luna.upkeep.check() == []
    store.close()


# --- errors --------------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    stored = memory.store_message("Hello")
    with pytest.raises(NotFound, match="No message has the ID nothing"):
        memory.update_message("nothing", "words")
    with pytest.raises(NotFound):
        memory.delete(stored.id, "nothing")
    assert not memory.messages([stored.id])[0].deleted  # all or nothing
    with pytest.raises(NotFound):
        memory.restore("nothing")
    with pytest.raises(NotFound):
        memory.store_tool_call("x", "", "", "nothing")
    with pytest.raises(NotFound):
        memory.store_message("below", conversation_id=stored.conversation_id, parent_id="nothing")
    with pytest.raises(NotFound):
        memory.store_message("below", conversation_id="new", parent_id=stored.id)
    with pytest.raises(NotFound) as caught:
        memory.conversation("nothing")
    assert "recollect list" in caught.value.hint
    assert memory.upkeep.stats().messages == 1


def test_what_cannot_be_used_is_refused_with_what_can(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="Nothing to remember"):
        memory.store_message("  \n ")
    with pytest.raises(InvalidInput, match="new text is empty"):
        memory.update_message(memory.store_message("Hello").id, " ")
    with pytest.raises(InvalidInput, match="'wizard' is no role") as role:
        memory.store_message("Hello", "wizard")
    assert "user, assistant" in role.value.hint
    with pytest.raises(InvalidInput, match="'secret' is no kind") as kind:
        memory.store_message("Hello", kind="secret")
    assert "said, reasoning" in kind.value.hint
    for options in (
        {"limit": 0},
        {"group_by": "planet"},
        {"mode": "magic"},
        {"since": "the flood"},
        {"role": "wizard"},
    ):
        with pytest.raises(InvalidInput) as refused:
            memory.search("hello", **options)  # type: ignore[arg-type]
        assert refused.value.hint


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = opened(tmp_path / "memory.db")
    memory.close()
    with pytest.raises(StoreError, match="is closed") as caught:
        memory.upkeep.stats()
    assert "recollect.open" in caught.value.hint


def test_handles_beside_each_other_share_a_store_and_nothing_else(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", namespace="acme/rex", background=False) as rex:
        luna = rex.beside("acme/luna")
        luna.store_message("Luna is allergic to chicken.")
        assert [len(memory.search("chicken")) for memory in (rex, luna)] == [0, 1]
        luna.close()
        rex.store_message("Rex loves chicken.")
        assert len(rex.search("chicken")) == 1
        with pytest.raises(InvalidInput):
            rex.beside("no spaces")


def test_the_newest_messages_until_one_are_of_its_conversation(memory: Memory) -> None:
    for name in ("c", "d"):
        memory.store_messages([{"content": f"{name}{n}", "id": f"{name}{n}"} for n in range(3)], conversation_id=name)
    assert [message.content for message in memory.latest("c", until="c1")] == ["c0", "c1"]
    assert memory.latest("d", until="c1") == []
