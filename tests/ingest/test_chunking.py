"""Long messages in chunks: how much these share, and that they stay as they are, whoever opens the memory next."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Chunk
from tests.coherent import assert_coherent

LONG = "\n\n".join(f"Paragraph {i} speaks of tides and moorings at some length." for i in range(300))


def opened(path: Path, **chunking: Any) -> Memory:
    return recollect.open(path, background=False, durable=False, **chunking)


def chunks_of(memory: Memory) -> tuple[Chunk, ...]:
    (message,) = memory.messages(["M"])
    return memory.conversation(message.conversation_id).chunks


def joined(text: str, chunks: tuple[Chunk, ...]) -> str:
    ends = [0, *(chunk.end for chunk in chunks)]
    return "".join(text[end : chunk.end] for end, chunk in zip(ends, chunks, strict=False))


def assert_each_is_found(memory: Memory, text: str = LONG) -> None:
    """A part of the text leads to a chunk that holds it."""
    for words in ("Paragraph 3 speaks", "Paragraph 151 speaks", "Paragraph 299 speaks"):
        found = memory.toolbox().vector_search(f'"{words}"', 1)[0]
        assert found.is_chunk
        assert words in memory.toolbox().get_message_by_id(found.id).content


@pytest.mark.parametrize("overlap", [0, 40, 140])
def test_chunks_share_what_is_asked_for_and_join_to_the_text(tmp_path: Path, overlap: int) -> None:
    with opened(tmp_path / "memory.db", chunk_tokens=300, chunk_overlap=overlap) as memory:
        memory.store_message(LONG, id="M")
        chunks = chunks_of(memory)
        shared = [count_tokens(LONG[after.start : before.end]) for before, after in pairwise(chunks)]
        assert len(shared) > 5
        assert all(0.75 * overlap <= tokens <= 1.25 * overlap for tokens in shared)
        assert joined(LONG, chunks) == LONG
        assert memory.messages(["M"])[0].content == LONG
        assert_each_is_found(memory)
        assert_coherent(memory)


def test_without_an_overlap_it_is_a_twentieth(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db", chunk_tokens=1_000) as memory:
        memory.store_message(LONG, id="M")
        first, second, *_ = chunks_of(memory)
        assert 35 <= count_tokens(LONG[second.start : first.end]) <= 65


def test_handles_beside_each_other_cut_alike(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db", chunk_tokens=300, chunk_overlap=100) as memory, memory.beside("other") as other:
        memory.store_message(LONG, id="M")
        other.store_message(LONG, id="M")
        assert [(c.start, c.end) for c in chunks_of(memory)] == [(c.start, c.end) for c in chunks_of(other)]


@pytest.mark.parametrize("later", [{}, {"chunk_tokens": 300, "chunk_overlap": 20}, {"chunk_tokens": 5_000}])
def test_what_is_stored_stays_cut_whoever_opens_it_next(tmp_path: Path, later: dict[str, int]) -> None:
    path = tmp_path / "memory.db"
    with opened(path, chunk_tokens=300, chunk_overlap=100) as memory:
        memory.store_message(LONG, id="M")
        cut = chunks_of(memory)
    with opened(path, **later) as memory:
        memory.delete("M")
        memory.restore("M")
        assert_each_is_found(memory)
        memory.upkeep.reindex()
        assert_each_is_found(memory)
        assert chunks_of(memory) == cut
        assert_coherent(memory)


def test_an_edit_cuts_anew_as_the_one_who_edits(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path, chunk_tokens=300, chunk_overlap=100) as memory:
        memory.store_message(LONG, id="M")
        before = chunks_of(memory)
    with opened(path, chunk_tokens=300, chunk_overlap=0) as memory:
        text = LONG.replace("tides", "ebbs")
        memory.update_message("M", text)
        chunks = chunks_of(memory)
        assert len(chunks) < len(before)
        assert all(one.end == other.start for one, other in pairwise(chunks))
        assert joined(text, chunks) == text
        assert_each_is_found(memory, text)
        assert_coherent(memory)


@pytest.mark.parametrize(("tokens", "overlap"), [(4_000, -1), (4_000, 2_000), (300, 200), (300, 300)])
def test_an_overlap_that_does_not_fit_is_refused_before_anything_is_made(
    tmp_path: Path, tokens: int, overlap: int
) -> None:
    with pytest.raises(InvalidInput, match=f"Chunks of {tokens} tokens cannot overlap by {overlap}") as refused:
        opened(tmp_path / "memory.db", chunk_tokens=tokens, chunk_overlap=overlap)
    assert "less than half" in refused.value.hint
    assert list(tmp_path.iterdir()) == []
