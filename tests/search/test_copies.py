"""A flat list shows a passage once, however often it was pasted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import recollect
from recollect import Memory
from recollect.search.grouping import grouped

MINUTES = (
    "Minutes of the harbour committee: the crane was repaired in March, the new moorings cost 4,200 euros, and the "
    "harbour master asked that boats over nine metres berth on the eastern pier from now on, where the water is deeper "
    "at low tide. The treasurer will write to all members before the summer, and the café keeps its lease."
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with recollect.open(tmp_path_factory.mktemp("copies") / "memory.db") as memory:
        for number in range(12):
            memory.store_message(MINUTES, conversation_id=f"pasted {number}", title=f"Pasted {number}")
        memory.store_message(MINUTES.replace("4,200", "5,100"), conversation_id="corrected", title="Corrected")
        memory.store_message("Where do long boats berth? On the eastern pier.", conversation_id="x", title="Berths")
        for who in ("Ann", "Bob"):
            text = "I have moved my boat to the eastern pier, since it is far too long for the moorings in the west."
            memory.store_message(text, conversation_id="crew", title="Crew", speaker=who)
        yield memory


def test_what_was_pasted_again_is_one_result_that_names_the_others(memory: Memory) -> None:
    found = memory.search("harbour committee moorings crane", group_by="message", limit=10)
    texts = [hit.best.message.content for hit in found]
    assert texts.count(MINUTES) == 1
    (pasted,) = [hit.best for hit in found if hit.best.message.content == MINUTES]
    assert len(pasted.copies) == 11
    assert len({pasted.message.id, *pasted.copies}) == 12
    assert found.to_json()["results"][0]["messages"][0]["copies"]


def test_another_figure_is_another_message(memory: Memory) -> None:
    found = memory.search("harbour committee moorings crane", group_by="message", limit=10)
    assert "Corrected" in [hit.conversation.title for hit in found]


def test_the_list_is_filled_with_what_differs(memory: Memory) -> None:
    found = memory.search("long boats on the eastern pier", group_by="message", limit=4)
    assert len(found) == 4
    assert len({(hit.best.message.content, hit.best.message.speaker) for hit in found}) == 4


def test_the_same_words_of_two_people_are_two_messages(memory: Memory) -> None:
    found = memory.search("who moved a boat to the eastern pier", group_by="message", limit=10)
    assert {"Ann", "Bob"} <= {hit.best.message.speaker for hit in found}


def test_conversations_are_not_collapsed(memory: Memory) -> None:
    found = memory.search("harbour committee moorings crane", limit=10)
    assert sum(hit.best.message.content == MINUTES for hit in found) > 5
    assert not any(message.copies for hit in found for message in hit.messages)


@pytest.mark.parametrize(
    ("second", "alike"),
    [
        (MINUTES.replace("the café", "our café"), True),
        (MINUTES.upper(), True),
        (MINUTES.replace("nine", "eight").replace("March", "May").replace("euros", "pounds"), False),
        (MINUTES.replace("4,200", "4,300"), False),
        (MINUTES + MINUTES.replace("crane", "lift"), False),
    ],
)
def test_what_counts_as_a_copy(second: str, alike: bool) -> None:
    assert (len(grouped([MINUTES, second], str, context=type)) == 1) is alike


def test_a_negation_makes_no_copy() -> None:
    said = "I would like to keep the old lease for the café, and so would all of the other members."
    assert len(grouped([said, said.replace("would like", "would not like")], str, context=type)) == 2
