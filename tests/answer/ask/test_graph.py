"""What the graph knows of the names in a question reaches the answer: in words, proven, within its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.answer.evidence import Evidence, evidence_of
from recollect.answer.graph import KnownRelation, related
from recollect.answer.intents import SETTINGS, Intent
from recollect.memory import Memory
from recollect.search.find import Searcher
from recollect.search.query.request import Query, Search
from recollect.store.passages import Filter

SAID = {
    "Shop": ["We chose Next.js over React. Next.js improves SEO.", "OK decision: Svelte 5 for the dashboard."],
    "Family": ["My brother Anders called. Anders is married to Merle.", "Merle works at Kartona."],
    "Garden": [f"Note {number} about the weather in the garden" for number in range(20)],
}
MARRIED = "Anders MARRIED TO Merle (said 2024-05-01)"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with recollect.open(tmp_path_factory.mktemp("graph") / "memory.db", background=False) as memory:
        for title, texts in SAID.items():
            conversation = None
            for minute, text in enumerate(texts):
                at = datetime(2024, 5, 1, 9, minute, tzinfo=UTC)
                stored = memory.store_message(text, "user", conversation_id=conversation, title=title, timestamp=at)
                conversation = stored.conversation_id
        memory.upkeep.consolidate()
        yield memory


def told(memory: Memory, question: str, wanted: Filter = Filter(), **more: object) -> list[KnownRelation]:  # noqa: B008
    with memory.handle.space.view() as view:
        return list(related(view, question, wanted, **more))  # type: ignore[arg-type]


def evidence(memory: Memory, question: str, wanted: Filter = Filter()) -> Evidence:  # noqa: B008
    find: Searcher = memory.handle.searcher
    return evidence_of(find, memory.handle.space, Search(Query(question), wanted), Intent.QA, SETTINGS[Intent.QA])


def test_what_is_said_of_a_name_is_told_with_the_message_that_says_it(memory: Memory) -> None:
    found = {one.words: one for one in told(memory, "why did I choose Next.js?")}
    assert "you CHOSE Next.js" in found
    assert "Next.js IMPROVES SEO" in found
    (proof,) = memory.messages(found["Next.js IMPROVES SEO"].messages)
    assert "improves SEO" in proof.content


def test_names_in_lower_case_are_known(memory: Memory) -> None:
    assert any(one.words == MARRIED for one in told(memory, "who is merle?"))


def test_two_names_are_told_by_what_connects_them(memory: Memory) -> None:
    first = told(memory, "What has Anders to do with Kartona?")[0]
    assert first.words == f"{MARRIED}; Merle WORKS AT Kartona (said 2024-05-01)"
    assert len(first.messages) == 2


def test_a_version_in_what_was_found_stands_for_its_name(memory: Memory) -> None:
    assert not any("Svelte" in one.words for one in told(memory, "why did I choose Svelte?"))
    assert told(memory, "why did I choose Svelte?", texts=SAID["Shop"])[0].words == "you CHOSE Svelte 5"


def test_no_more_than_its_tokens(memory: Memory) -> None:
    assert not told(memory, "why did I choose Next.js?", most_tokens=2)
    assert len(told(memory, "why did I choose Next.js?", most_tokens=8)) == 1


def test_what_may_not_be_found_proves_nothing(memory: Memory) -> None:
    garden = memory.conversations(title="Garden")[0].conversation.id
    assert not told(memory, "why did I choose Next.js?", Filter(conversation_ids=(garden,)))
    assert not told(memory, "why did I choose Next.js?", Filter(until=1))


def test_the_evidence_cites_the_passages_that_prove_it(memory: Memory) -> None:
    found = evidence(memory, "What has Anders to do with Kartona?")
    assert found.relations[0].startswith(f"{MARRIED}; Merle WORKS AT Kartona (said 2024-05-01) [")
    numbers = {passage.message.content: passage.number for passage in found.passages}
    assert f"[{numbers[SAID['Family'][0]]}]" in found.relations[0]
    assert len(numbers) == len(found.passages)


def test_a_question_without_names_has_no_graph(memory: Memory) -> None:
    assert evidence(memory, "what about the weather in the garden?").relations == ()


def test_an_empty_memory_has_none(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as empty:
        assert told(empty, "why did I choose Next.js?") == []
        assert evidence(empty, "why did I choose Next.js?").passages == ()


def test_what_holds_words_that_are_shut_out_proves_nothing(memory: Memory) -> None:
    def asked(*excluded: str) -> Evidence:
        search = Search(Query("why did I choose Next.js?", excluded=excluded), Filter())
        return evidence_of(memory.handle.searcher, memory.handle.space, search, Intent.QA, SETTINGS[Intent.QA])

    assert asked().relations
    found = asked("react")
    assert found.relations == ()
    assert not any("React" in passage.message.content for passage in found.passages)


def test_no_change_is_told_by_words_that_are_shut_out(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        for day, text in ((1, "I live in Leeds."), (2, "I live in Porto now.")):
            memory.store_message(text, "user", title=text, timestamp=datetime(2024, 5, day, tzinfo=UTC))
        memory.upkeep.consolidate()

        def told_of(*excluded: str) -> list[str]:
            search = Search(Query("Where do I live?", excluded=excluded), Filter())
            found = evidence_of(memory.handle.searcher, memory.handle.space, search, Intent.QA, SETTINGS[Intent.QA])
            return [held.text for change in found.changes for held in change]

        assert told_of() == ["The user lives in Porto.", "The user lives in Leeds."]
        assert told_of("leeds") == ["The user lives in Porto."]
