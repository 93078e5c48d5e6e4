"""The sample archive, through the real importers, and the first seed's own test in it."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from recollect.sample import conversations, write_archive

PLANNING = "Full Stack App Planning"


@pytest.fixture(scope="module")
def memory(sample_store: Path) -> Iterator[Memory]:
    with recollect.open(sample_store) as memory:
        yield memory


def test_it_holds_some_hundred_conversations_of_three_sources() -> None:
    sources = Counter(conversation.source for conversation in conversations())
    assert set(sources) == {"chatgpt", "claude", "openai"}
    assert sum(sources.values()) >= 100


def test_everything_in_it_is_imported(memory: Memory) -> None:
    counts = memory.upkeep.stats()
    assert counts.conversations == len(conversations())
    assert counts.messages == counts.active == sum(len(c.messages) for c in conversations())
    assert dict(counts.by_source) == Counter(c.source for c in conversations())


def test_message_ids_are_kept_as_source_ids(memory: Memory) -> None:
    for name in ("chatgpt", "claude", "openai"):
        given = next(c for c in conversations() if c.source == name)
        thread, _ = memory.resolve(given.id)
        assert [m.source_id for m in thread.messages] == [m.id for m in given.messages]
        assert [m.content for m in thread.messages] == [m.content for m in given.messages]


def test_writing_it_twice_gives_the_same_bytes(tmp_path: Path, sample_archive: list[Path]) -> None:
    again = write_archive(tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in sample_archive]


def test_the_zips_are_whole(sample_archive: list[Path]) -> None:
    for path in sample_archive[:2]:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None


def test_the_planning_conversation_has_50_messages(memory: Memory) -> None:
    thread, _ = memory.resolve(PLANNING)
    assert len(thread.messages) == 50


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("nginx reverse proxy", 41, 50),
        ("dark mode styling", 41, 50),
        ("JWT authentication setup", 11, 20),
    ],
)
def test_a_part_of_the_planning_is_found_with_its_window_and_marks(
    memory: Memory, query: str, first: int, last: int
) -> None:
    hit = memory.search(query)[0]
    assert hit.conversation.title == PLANNING
    assert first <= hit.best.message.position + 1 <= last
    assert hit.window.start <= hit.best.message.position <= hit.window.end
    inside = range(max(first, hit.window.start + 1), min(last, hit.window.end + 1) + 1)
    assert len(inside) >= 8, "the window holds the part, not its neighbour"
    marked = {hit.best.snippet.text[a:b].lower() for a, b in hit.best.snippet.marks}
    assert marked & set(query.lower().split())


def test_the_planning_is_found_by_its_title(memory: Memory) -> None:
    assert memory.search("full stack app planning")[0].conversation.title == PLANNING
