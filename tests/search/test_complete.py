"""A search is complete: what holds a word is reached by it, page by page, whatever else there is, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from recollect.record import Document
from recollect.search.results.result import SearchResults
from recollect.store import Where
from recollect.store.transfer import every
from tests.search.flooded import WORDS, messages_with, write_files, write_flooded

QUERIES = (*WORDS, "kiln glaze", "When did the heron sit on the ferry?")


@pytest.fixture(scope="module")
def sqlite_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("flooded")
    with recollect.open(folder / "memory.db", durable=False, background=False) as memory:
        memory.import_file(write_flooded(folder / "flooded.jsonl"))
        yield memory


@pytest.fixture(scope="module")
def filed_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("filed")
    with recollect.open(folder / "memory.db", durable=False, background=False) as memory:
        memory.import_documents(write_files(folder / "files"))
        yield memory


def pages(memory: Memory, query: str, **how: Any) -> Iterator[SearchResults]:
    """The pages of a search, to the end."""
    offset: int | None = 0
    while offset is not None:
        found = memory.search(query, offset=offset, **how)
        yield found
        assert found.next is None or found.next > offset
        offset = found.next


def reached(memory: Memory, query: str, **how: Any) -> list[str]:
    """The IDs of all results of a search."""
    return results_of(pages(memory, query, **how), **how)


def results_of(shown: Iterable[SearchResults], **how: Any) -> list[str]:
    """The IDs of the results of pages: of conversations, or grouped so of messages."""
    found = [hit for page in shown for hit in page]
    if how.get("group_by") != "message":
        return [hit.conversation.id for hit in found]
    return [hit.best.message.id for hit in found]


def assert_complete(memory: Memory, query: str, **how: Any) -> None:
    held = messages_with(memory, query)
    shown = list(pages(memory, query, **how))
    found, first = results_of(shown, **how), shown[0]
    assert len(found) == len(set(found))
    if how.get("group_by") == "message":
        copies = {copy for page in shown for hit in page for copy in hit.best.copies}
        assert {message.id for message in held} <= {*found, *copies}
        assert first.with_words == len(held)
        assert len(found) <= first.total <= len({*found, *copies})
    else:
        assert {message.conversation_id for message in held} <= set(found)
        assert first.total == len(found)
    if how.get("sort") == "newest":
        assert first.related == 0


@pytest.mark.parametrize("sort", ["relevance", "newest"])
@pytest.mark.parametrize("group_by", ["conversation", "message"])
@pytest.mark.parametrize("query", QUERIES)
def test_what_holds_a_word_is_reached_by_it(sqlite_memory: Memory, query: str, group_by: str, sort: str) -> None:
    assert_complete(sqlite_memory, query, group_by=group_by, sort=sort, limit=400 if group_by == "message" else 10)


@pytest.mark.parametrize("query", WORDS)
def test_so_it_is_word_for_word(sqlite_memory: Memory, query: str) -> None:
    assert_complete(sqlite_memory, query, literal=True)
    assert sqlite_memory.search(query, literal=True).related == 0


def test_so_it_is_in_a_server(neo4j_place: str, tmp_path: Path) -> None:
    with recollect.open(neo4j_place, background=False) as memory:
        memory.import_file(write_flooded(tmp_path / "flooded.jsonl", share=0.4))
        for query in ("kiln", "When did the heron sit on the ferry?"):
            for sort in ("relevance", "newest"):
                assert_complete(memory, query, sort=sort, limit=40)
            assert_complete(memory, query, group_by="message", limit=400)


@pytest.mark.parametrize("seed", range(2, 5))
@pytest.mark.slow
def test_so_it_is_whatever_else_there_is(tmp_path: Path, seed: int) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        memory.import_file(write_flooded(tmp_path / "flooded.jsonl", seed))
        for query in QUERIES:
            assert_complete(memory, query)
            assert_complete(memory, query, sort="newest")


@pytest.mark.parametrize("query", ["kiln", "ferry", "kiln glaze"])
@pytest.mark.parametrize("limit", [1, 7, 64])
def test_a_page_goes_on_where_the_one_before_ended_however_long_they_are(
    sqlite_memory: Memory, query: str, limit: int
) -> None:
    whole = reached(sqlite_memory, query, limit=1000)
    first = [
        hit.conversation.id
        for page in range(3)
        for hit in sqlite_memory.search(query, limit=limit, offset=page * limit)
    ]
    assert first == whole[: len(first)]


@pytest.mark.parametrize("sort", ["relevance", "newest"])
@pytest.mark.parametrize("limit", [1, 3, 10, 50])
def test_a_copy_further_down_stands_with_its_like_however_long_the_pages_are(
    tmp_path: Path, limit: int, sort: str
) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        texts = [f"The {thing} stands on the pier" for thing in ("crane", "lamp", "kiosk", "bench", "mast")]
        ids = {m.id for m in memory.store_messages([{"content": text} for text in texts * 16], conversation_id="c")}
        found = [hit.best for page in pages(memory, "pier", limit=limit, group_by="message", sort=sort) for hit in page]
    shown, copies = [hit.message.id for hit in found], [copy for hit in found for copy in hit.copies]
    assert sorted({*shown, *copies}) == sorted(ids)
    assert len(shown) == len(texts)


@pytest.mark.parametrize("query", [*WORDS, "kiln glaze"])
def test_facets_count_each_message_that_holds_a_word(sqlite_memory: Memory, query: str) -> None:
    held = messages_with(sqlite_memory, query)
    facets = sqlite_memory.search(query, facets=True).facets
    assert facets is not None
    assert facets.messages == len(held)
    assert dict(facets.roles) == Counter(message.role.value for message in held)
    assert dict(facets.by_conversation) == Counter(message.conversation_id for message in held)
    assert dict(facets.months) == Counter(f"{m.timestamp:%Y-%m}" for m in held if m.timestamp)
    assert sum(facets.sources.values()) == len(held)


@pytest.mark.parametrize("query", ["kiln", "ferry"])
def test_a_filter_finds_as_many_as_its_facet_says(sqlite_memory: Memory, query: str) -> None:
    facets = sqlite_memory.search(query, facets=True).facets
    assert facets is not None
    for role, count in facets.roles.items():
        assert sqlite_memory.search(query, role=role, group_by="message").with_words == count
    for month, count in facets.months.items():
        assert sqlite_memory.search(query, since=month, until=month, group_by="message").with_words == count
    earlier = sum(count for month, count in facets.months.items() if month <= "2024-06")
    assert sqlite_memory.search(query, until="2024-06", group_by="message").with_words == earlier


@pytest.mark.parametrize(("query", "sort"), [("kiln", "relevance"), ("kiln", "newest"), ("kiln glaze", "relevance")])
@pytest.mark.parametrize("group_by", ["conversation", "message"])
def test_what_holds_a_word_is_reached_in_documents(filed_memory: Memory, query: str, group_by: str, sort: str) -> None:
    """Each document, or each chunk, once, whatever fills the pool."""
    assert_complete_in_documents(filed_memory, query, group_by=group_by, sort=sort)


def test_so_it_is_in_documents_in_a_server(neo4j_place: str, tmp_path: Path) -> None:
    with recollect.open(neo4j_place, background=False) as memory:
        memory.import_documents(write_files(tmp_path / "files"))
        assert_complete_in_documents(memory, "kiln", group_by="conversation")


def assert_complete_in_documents(memory: Memory, query: str, **how: Any) -> None:
    sought, by_chunk = query.split(), how["group_by"] == "message"
    with memory.handle.space.view() as view:
        chunks = view.passages(range(1, view.counts().passages + 1)) if by_chunk else []
        documents = [] if by_chunk else list(every(view, Document, Where()))
    wanted: set[Any] = {(chunk.owner_id, chunk.start) for chunk in chunks if any(word in chunk.text for word in sought)}
    wanted |= {document.id for document in documents if any(word in document.content for word in sought)}
    shown = list(pages(memory, query, kind="document", limit=200, **how))
    found = [(hit.document.id, hit.start) if by_chunk else hit.document.id for page in shown for hit in page.documents]
    assert len(found) == len(set(found))
    assert wanted <= set(found)
    assert {page.total for page in shown} == {len(found)}
    assert {page.with_words for page in shown} == {len(wanted)}


def test_a_page_shows_of_each_conversation_why_it_is_there(sqlite_memory: Memory) -> None:
    for page in pages(sqlite_memory, "kiln"):
        for hit in page:
            assert "kiln" in hit.best.why.words
            assert "words" in hit.best.why.terms
            assert len(hit.messages) <= 4


@pytest.mark.parametrize("sort", ["relevance", "newest"])
@pytest.mark.parametrize("filters", [{}, {"since": "2025"}, {"role": "user"}, {"kind": "all"}])
@pytest.mark.parametrize("limit", [1, 50])
def test_a_word_that_stands_in_a_title_alone_leads_to_its_conversation(
    tmp_path: Path, sort: str, filters: dict[str, str], limit: int
) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for number in range(4):
            memory.store_message("See the heron.", conversation_id=f"c{number}", title=f"Zeppelin {number}")
        memory.store_message("A zeppelin came by.", conversation_id="said", title="At the pier")
        memory.store_message("No word of it.", "assistant", conversation_id="other", title="Zeppelin of old")
        memory.store_message("No word of it.", conversation_id="none", title="Nothing")
        found = reached(memory, "zeppelin", sort=sort, limit=limit, **filters)
        total = memory.search("zeppelin", sort=sort, limit=limit, **filters).total
    wanted = {"c0", "c1", "c2", "c3", "said", *(["other"] if "role" not in filters else [])}
    assert sorted(found) == sorted(wanted)
    assert total == len(wanted)
    assert sort == "relevance" or found[0] == "said"


def test_what_was_said_elsewhere_stands_on_the_first_page_alone(sqlite_memory: Memory) -> None:
    first, *others = pages(sqlite_memory, "ferry")
    assert len(others) > 10
    assert [page.total for page in others] == [first.total] * len(others)
    assert not any(page.derived or page.documents for page in others)


@pytest.mark.parametrize("group_by", ["message", "conversation"])
def test_what_is_newest_is_first_whatever_kinds_are_asked_for(tmp_path: Path, group_by: Any) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for number in range(60):
            kind = ("said", "context", "reasoning")[number % 3]
            text = f"kiln {'and glaze ' * (number % 7)} number {number}"
            said_at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number * 37 % 60)
            memory.store_message(text, kind=kind, timestamp=said_at, conversation_id=f"c{number}")
        for limit in (4, 100):
            how: dict[str, Any] = {"kind": "all", "sort": "newest", "group_by": group_by, "limit": limit}
            shown = [hit.best.message for page in pages(memory, "kiln glaze", **how) for hit in page]
            times = [message.timestamp for message in shown if message.timestamp is not None]
            assert times == sorted(times, reverse=True)
            assert len({message.id for message in shown}) == len(times) == 60
