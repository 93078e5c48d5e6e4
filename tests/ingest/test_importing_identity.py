"""Two different conversations never become one, one conversation never becomes two: whatever ids an export gives."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.ingest import Ingest
from recollect.ingest.importing import ImportReport
from recollect.memory import Memory
from recollect.record import Thread, reading_order
from tests.exports import Json, chat, export, file, lines, opened
from tests.importers.given import count_tokens
from tests.properties import examples
from tests.store.builders import embedder

Talk = tuple[str, ...]

GREETING = ("hi", "Hello! How can I help you today?")


def said(talk: Sequence[str], **more: object) -> Json:
    messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(talk)]
    return {"messages": messages, **more}


def shared(talk: Sequence[str], **more: object) -> Json:
    messages = [{"from": "gpt" if i % 2 else "human", "value": text} for i, text in enumerate(talk)]
    return {"conversations": messages, **more}


def with_ids(talk: Sequence[str], name: str) -> Json:
    plain = said(talk, id=name)
    return {**plain, "messages": [{**m, "id": f"{name}/{i}"} for i, m in enumerate(plain["messages"])]}


def talks_of(memory: Memory) -> list[Talk]:
    """What each stored conversation says, message by message as they came."""
    rows = memory.conversations(limit=10_000)
    threads = (memory.conversation(row.conversation.id) for row in rows)
    return sorted(tuple(message.content for message in thread.messages) for thread in threads)


def longest(talks: Sequence[Talk]) -> list[Talk]:
    """Those that are not the beginning of another."""
    return sorted({one for one in talks if not any(other[: len(one)] == one != other for other in talks)})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory.db") as memory:
        yield memory


@pytest.fixture
def take(memory: Memory, tmp_path: Path) -> Iterator[object]:
    """Imports conversations as one file of JSON Lines."""
    count = iter(range(1000))

    def imported(*conversations: Json) -> ImportReport:
        return memory.import_file(file(tmp_path / f"{next(count)}.jsonl", lines(*conversations)))

    yield imported
    assert memory.upkeep.check() == []


# --- properties ----------------------------------------------------------------------------------------------------

words = st.sampled_from(["heron", "otter", "weir"])
talks = st.lists(words, max_size=4).map(lambda rest: (*GREETING, *rest))
archives = st.lists(st.lists(talks, min_size=1, max_size=5), min_size=1, max_size=4)


@settings(max_examples=examples(60))
@given(archives, st.sampled_from([said, shared]))
def test_without_ids_every_conversation_is_kept_once_and_as_it_was(archive: list[list[Talk]], form: object) -> None:
    """However exports overlap, are shuffled, cut and grown: in the end there are the longest of each."""
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db") as memory:
        for number, exported in enumerate(archive):
            memory.import_file(file(Path(folder) / f"{number}.jsonl", lines(*map(form, exported))))  # type: ignore[call-overload]
        assert talks_of(memory) == longest([talk for exported in archive for talk in exported])
        assert memory.upkeep.check() == []


@st.composite
def accounts(draw: st.DrawFn) -> list[list[Json]]:
    """Exports of one account: some of its conversations, in any order, cut or whole, with and without their ids."""
    lengths = draw(st.lists(st.integers(3, 6), min_size=1, max_size=5))
    whole = [
        (*GREETING, *(f"talk {number}, message {at}" for at in range(2, length)))
        for number, length in enumerate(lengths)
    ]
    exports = []
    for _ in range(draw(st.integers(1, 5))):
        chosen = draw(st.permutations(range(len(whole))))[: draw(st.integers(1, len(whole)))]
        exported = []
        for number in chosen:
            talk = whole[number][: draw(st.integers(3, len(whole[number])))]
            name = f"conversation-{number}"
            as_given = draw(st.sampled_from(["all ids", "no ids of messages", "no ids"]))
            exported.append(
                with_ids(talk, name)
                if as_given == "all ids"
                else said(talk, id=name)
                if as_given == "no ids of messages"
                else said(talk)
            )
        exports.append(exported)
    return exports


@settings(max_examples=examples(80))
@given(accounts())
def test_a_conversation_is_one_whether_its_ids_are_given_or_taken_away(exports: list[list[Json]]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db") as memory:
        for number, exported in enumerate(exports):
            memory.import_file(file(Path(folder) / f"{number}.jsonl", lines(*exported)))
        given_talks = [tuple(m["content"] for m in one["messages"]) for exported in exports for one in exported]
        assert talks_of(memory) == longest(given_talks)
        assert memory.upkeep.check() == []


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(3, 7), min_size=1, max_size=4),
    st.data(),
)
def test_an_edited_conversation_with_an_id_stays_one_and_keeps_every_word(
    lengths: list[int], data: st.DataObject
) -> None:
    """Ids of conversations alone: what is edited, cut out or put in between is in, and so is what stood there."""
    state = {n: [f"talk {n}, message {at}" for at in range(length)] for n, length in enumerate(lengths)}
    ever = {n: set(talk) for n, talk in state.items()}
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db") as memory:
        for step in range(4):
            path = file(Path(folder) / f"{step}.jsonl", lines(*(said(t, id=f"c{n}") for n, t in state.items())))
            memory.import_file(path)
            for n, talk in state.items():
                at = data.draw(st.integers(1, len(talk) - 1))
                match data.draw(st.sampled_from(["edit", "grow", "nothing"])):
                    case "edit":
                        talk[at] = f"talk {n}, edited in step {step}"
                    case "grow":
                        talk.append(f"talk {n}, said in step {step}")
                if step < 3:
                    ever[n] |= set(talk)
        rows = memory.conversations(limit=100)
        assert len(rows) == len(state)
        for row in rows:
            thread = memory.conversation(row.conversation.id)
            kept = [m.content for m in thread.messages] + [v.content for m in thread.messages for v in m.versions]
            assert set(kept) == ever[int(str(row.conversation.source_id)[1:])]
            assert len(kept) == len(set(kept))
        assert memory.upkeep.check() == []


# --- examples ------------------------------------------------------------------------------------------------------


def test_two_files_that_begin_alike_are_two_conversations(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    take(said((*GREETING, "Which bread?", "Rye.")))
    report = take(said((*GREETING, "Which boat?", "The ferry.")))
    assert talks_of(memory) == [(*GREETING, "Which boat?", "The ferry."), (*GREETING, "Which bread?", "Rye.")]
    assert (report.written.new, report.written.changed, report.apart) == (1, 0, 1)


def test_two_that_begin_alike_keep_their_words_in_another_order(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    bread, boat = said((*GREETING, "Which bread?")), said((*GREETING, "Which boat?"))
    take(bread, boat)
    before = {row.conversation.id: memory.conversation(row.conversation.id) for row in memory.conversations()}
    report = take(boat, bread)
    assert (report.written.new, report.written.changed, report.written.same, report.apart) == (0, 0, 2, 0)
    assert {row.conversation.id: memory.conversation(row.conversation.id) for row in memory.conversations()} == before
    assert report.stored.conversations == 2


def test_one_id_on_two_unrelated_conversations_makes_two_and_is_said(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    bread, boat = ("Which bread?", "Rye.", "Why?"), ("Which boat?", "The ferry.")
    assert take(said(bread, id="1")).apart == 0
    report = take(said(boat, id="1"))
    assert (report.written.new, report.written.changed, report.apart) == (1, 0, 1)
    assert talks_of(memory) == sorted([bread, boat])
    again = take(said((*boat, "When?"), id="1"), said(bread, id="1"))
    assert (again.written.new, again.written.changed, again.apart) == (0, 1, 0)
    assert talks_of(memory) == sorted([bread, (*boat, "When?")])


@pytest.mark.parametrize(
    "later",
    [
        ("Which boat?", "The ferry."),
        ("Which boat, please?", "The ferry.", "When?", "At nine."),
        ("Which boat?", "The ferry.", "When then?", "At nine.", "Thanks"),
    ],
)
def test_what_shares_its_id_stays_one_when_it_is_cut_or_edited(take, memory: Memory, later: Talk) -> None:  # type: ignore[no-untyped-def]
    take(said(("Which bread?", "Rye.", "Why?"), id="1"))
    take(said(("Which boat?", "The ferry.", "When?", "At nine."), id="1"))
    report = take(said(later, id="1"))
    assert memory.upkeep.stats().conversations == 2
    assert report.apart == 0


def test_one_id_on_two_conversations_of_one_file(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    report = take(with_ids(("Which bread?", "Rye."), "1"), with_ids(("Which boat?", "The ferry."), "1"))
    assert report.apart == 1
    assert talks_of(memory) == [("Which boat?", "The ferry."), ("Which bread?", "Rye.")]


def test_a_question_asked_and_later_answered_is_one(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    take(said(("Which bread?",)))
    take(said(("Which bread?", "Rye.")))
    take(said(("Which bread?",)))
    assert talks_of(memory) == [("Which bread?", "Rye.")]


def test_what_is_titled_and_dated_otherwise_is_another_conversation(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    take(said(GREETING, title="Monday"), said(GREETING, title="Tuesday"))
    assert memory.upkeep.stats().conversations == 2
    long = ("Good day", GREETING[1], "Which bread?")
    take(said(long, created="2025-03-01T09:00:00Z"), said(long, created="2025-03-02T09:00:00Z"))
    assert memory.upkeep.stats().conversations == 4


def test_what_was_put_right_here_does_not_make_another_conversation(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    take(said((*GREETING, "Which bread?")))
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    memory.update_message(thread.messages[0].id, "Hi there")
    take(said((*GREETING, "Which bread?", "Rye.")))
    assert talks_of(memory) == [("Hi there", GREETING[1], "Which bread?", "Rye.")]


def test_what_was_forgotten_stays_away_without_an_id_too(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    bread, boat = said((*GREETING, "Which bread?")), said((*GREETING, "Which boat?"))
    take(bread, boat)
    gone = next(
        r.conversation.id
        for r in memory.conversations()
        if memory.conversation(r.conversation.id).messages[2].content == "Which boat?"
    )
    memory.forget(gone)
    report = take(bread, boat, said((*GREETING, "Which boat?", "The ferry.")))
    assert talks_of(memory) == [(*GREETING, "Which bread?")]
    assert report.forgotten == 2


def test_a_message_that_was_forgotten_stays_away_and_its_conversation_is_one(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    talk = (*GREETING, "My number is 4711", "Noted.")
    take(said(talk))
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    memory.forget(thread.messages[2].id)
    take(said((*talk, "And the bread?")))
    assert talks_of(memory) == [(*GREETING, "", "Noted.", "And the bread?")]


def test_taking_the_ids_of_messages_away_doubles_no_message(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    talk = ("Which bread?", "Rye.", "again", "again")
    take(with_ids(talk, "c"))
    before = memory.conversation(memory.conversations()[0].conversation.id)
    take(said(talk, id="c"))
    take(said(talk))
    assert memory.conversation(memory.conversations()[0].conversation.id) == before


def test_an_answer_given_anew_is_a_branch_and_a_message_edited_in_the_middle_a_version(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    take(said(("Which bread?", "Rye.", "Why?", "It keeps."), id="c"))
    take(said(("Which bread?", "Rye.", "Why rye?", "It keeps."), id="c"))
    take(said(("Which bread?", "Rye.", "Why rye?", "It is sour."), id="c"))
    (row,) = memory.conversations()
    thread = memory.conversation(row.conversation.id)
    assert [(m.content, m.active, [v.content for v in m.versions]) for m in thread.messages] == [
        ("Which bread?", True, []), ("Rye.", True, []), ("Why rye?", True, ["Why?"]), ("It keeps.", False, []),
        ("It is sour.", True, []),
    ]  # fmt: skip


def test_claude_code_files_without_ids_are_known_by_what_is_said(memory: Memory, tmp_path: Path) -> None:
    def line(kind: str, text: str, second: int) -> Json:
        return {"type": kind, "content": text, "timestamp": f"2025-03-01T09:00:{second:02}Z"}

    bread = [line("human", "Which bread?", 1), line("assistant", "Rye.", 2)]
    boat = [line("human", "Which boat?", 3), line("assistant", "The ferry.", 4)]
    memory.import_file(file(tmp_path / "a" / "session.jsonl", lines(*bread)))
    memory.import_file(file(tmp_path / "b" / "session.jsonl", lines(*boat)))
    memory.import_file(file(tmp_path / "b" / "renamed.jsonl", lines(*boat, line("human", "When?", 5))))
    assert talks_of(memory) == [("Which boat?", "The ferry.", "When?"), ("Which bread?", "Rye.")]


def test_chatgpt_conversations_without_ids_are_told_apart_by_their_messages(memory: Memory, tmp_path: Path) -> None:
    def nameless(*texts: str) -> Json:
        return {key: value for key, value in chat(*texts).items() if key not in ("id", "conversation_id")}

    memory.import_file(export(tmp_path / "1", [nameless("Hello", "Hi!", "Which bread?")]))
    memory.import_file(export(tmp_path / "2", [nameless("Hello", "Hi!", "Which boat?")]))
    assert memory.upkeep.stats().messages == 6


# --- memories from before ------------------------------------------------------------------------------------------


def under_old_ids(memory: Memory, *threads: Thread) -> None:
    """Stores conversations just as they are, as an import did before it looked at their words."""
    Ingest(memory.handle.space, embedder(), count_tokens).threads(threads)  # what has no `known` goes by its ids


def test_a_memory_with_ids_of_another_making_knows_its_conversations(memory: Memory, take, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """The nth conversation of a run that began alike had an id made of its number."""
    from recollect.importers.records.identity import set_apart
    from recollect.record import stable_id

    with opened(tmp_path / "other.db") as other:
        other.import_file(file(tmp_path / "x.jsonl", lines(said((*GREETING, "Which boat?"), title="t"))))
        (row,) = other.conversations()
        stored = other.conversation(row.conversation.id)
    under_old_ids(memory, set_apart(stored, stable_id("conversation", "numbered", 1)))
    take(said((*GREETING, "Which bread?"), title="t"))
    report = take(said((*GREETING, "Which boat?", "The ferry."), title="t"))
    assert (report.written.new, report.written.changed) == (0, 1)
    assert talks_of(memory) == [(*GREETING, "Which boat?", "The ferry."), (*GREETING, "Which bread?")]
    assert json.dumps(report.apart) == "0"


def test_two_messages_of_one_id_are_not_both_taken_for_the_stored_one(take, memory: Memory) -> None:  # type: ignore[no-untyped-def]
    """As memories of 0.1.0 hold it, where the first of them was joined with the second."""
    ask = {"role": "user", "content": "Shall I clean up?", "id": "m1"}
    yes = {"role": "assistant", "content": "Yes", "id": "m2"}
    more = {"role": "assistant", "content": "Yes, and delete the backup", "id": "m2"}
    end = {"role": "user", "content": "Thanks", "id": "m3"}
    take({"id": "c", "messages": [ask, more, end]})
    for _ in range(2):
        take({"id": "c", "messages": [ask, yes, more, end]})
        thread = memory.conversation(memory.conversations()[0].conversation.id)
        read = reading_order(thread.messages)
        assert [message.content for message in read] == ["Shall I clean up?", "Yes", more["content"], "Thanks"]
        assert all(message.active for message in read)
        assert not any(message.versions for message in read)
