"""What of a conversation can be found: passages with their kinds, partitions, neighbours and sessions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from recollect.index.passages import is_person, threads_passages
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Kind, Part, PartKind, Thread
from recollect.store.passages import PEOPLE, ROLE_SHIFT, ROLES, Owner, Partition, Passage
from recollect.text.language import Flag
from tests.store.builders import START, branched, embedder, said, talk, thread


def passages(whole: Thread) -> list[Passage]:
    given = [(whole, {m.id for m in whole.messages}, True)]
    return threads_passages(given, embedder=embedder(), count_tokens=count_tokens)[0]


def test_each_kind_goes_into_its_partition() -> None:
    found = passages(branched())
    kinds = {(p.kind, p.partition, p.owner) for p in found}
    assert kinds == {
        ("title", Partition.TITLE, Owner.CONVERSATION),
        ("said", Partition.SAID, Owner.MESSAGE),
        ("context", Partition.OTHER, Owner.MESSAGE),
        ("tool", Partition.OTHER, Owner.MESSAGE),
        ("tool", Partition.OTHER, Owner.TOOL_CALL),
    }


def test_what_hangs_on_a_message_is_found_by_itself_and_leads_to_it() -> None:
    parts = (
        Part(PartKind.ATTACHMENT, "notes.txt", "heron counts"),
        Part(PartKind.REASONING, text="perhaps a bittern"),
        Part(PartKind.ASSET, "photo.png"),
    )
    whole = thread("a", [said("look at this", source_id="m", parts=parts)])
    found = {p.part: p for p in passages(whole) if p.owner == Owner.MESSAGE}
    assert {n: (p.kind, p.partition) for n, p in found.items()} == {
        -1: ("said", Partition.SAID),
        0: ("attachment", Partition.SAID),
        1: ("reasoning", Partition.OTHER),
        2: ("attachment", Partition.SAID),
    }
    assert "photo" in found[2].words
    assert {p.owner_id for p in found.values()} == {whole.messages[0].id}


def test_a_long_text_is_a_passage_a_chunk_and_every_part_is_in_one() -> None:
    text = "\n\n".join(f"Paragraph {i} of a long report about moorings." for i in range(1500))
    found = [p for p in passages(talk("a", text, title="")) if p.owner == Owner.MESSAGE]
    assert len(found) > 1
    assert found[0].start == 0
    assert found[-1].end == len(text)
    assert all(b.start <= a.end for a, b in pairwise(found))
    assert [p.chunk for p in found] == list(range(len(found)))


def test_neighbours_are_what_was_said_and_a_long_silence_ends_a_session() -> None:
    whole = branched()
    by_text = {m.content: m for m in whole.messages}
    answer = next(p for p in passages(whole) if p.owner_id == by_text["Focaccia, at 85 percent."].id)
    assert answer.previous_id == by_text["Which bread holds most water?"].id
    assert answer.continues
    messages = [said("one", source_id="1"), said("two", source_id="2", minute=6 * 60 + 1)]
    later = passages(thread("b", messages, linear=True))[-1]
    assert later.previous_id is not None
    assert not later.continues


def test_people_with_names_are_told_from_the_sides_of_a_chat() -> None:
    assert is_person("Anna")
    assert not any(map(is_person, ("User", "assistant", "", None)))
    whole = thread(
        "a", [said("Hi", source_id="1", speaker="Anna"), said("Hello", source_id="2", speaker="Ben")], linear=True
    )
    first = next(p for p in passages(whole) if p.owner == Owner.MESSAGE)
    assert first.flags & PEOPLE
    assert (first.speaker, "anna" in first.terms) == ("Anna", True)
    alone = passages(talk("b", "Hi", title=""))[0]
    assert not alone.flags & PEOPLE


def test_flags_and_roles_are_bits() -> None:
    question, answer = passages(talk("a", "When did we meet?", "Never on Monday, I think.", title=""))
    assert question.flags & Flag.QUESTION
    assert ROLES[question.flags >> ROLE_SHIFT & 3] == "user"
    assert ROLES[answer.flags >> ROLE_SHIFT & 3] == "assistant"


def test_deleted_messages_and_empty_ones_make_no_passages() -> None:
    whole = talk("a", "one", "two", title="")
    gone = replace(whole, messages=(replace(whole.messages[0], deleted=True), whole.messages[1]))
    assert [p.owner_id for p in passages(gone)] == [whole.messages[1].id]
    assert whole.messages[0].kind is Kind.SAID
    assert whole.messages[0].timestamp == START + timedelta(0)
