"""Whatever is pasted into a search is answered in time."""

from __future__ import annotations

import base64
import random
import string
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.search.query.question import LONGEST_QUESTION, MOST_TERMS, named, read_question
from recollect.search.query.spelling import parts_of_compounds
from recollect.text.terms import is_identifier

CHANCE = random.Random(1)
#: Of one core. They take some 50 ms, and took seconds where a pattern or a look at each word had no bound.
SECONDS = 1.0


def strange_words(count: int) -> str:
    return " ".join("".join(CHANCE.choices(string.ascii_lowercase, k=9)) for _ in range(count))


PASTED = {
    "base64": base64.b64encode(CHANCE.randbytes(15_000)).decode(),
    "one letter": "x" * 20_000,
    "hexadecimal": CHANCE.randbytes(10_000).hex(),
    "a word after punctuation": "!" * 20_000 + "x",
    "a path without end": "a/" * 10_000,
    "dots": "a." * 10_000,
    "underscores": "_" * 20_000,
    "camels": "aB" * 10_000,
    "1,500 unknown words": strange_words(1_500),
    "20,000 words": " ".join(f"{CHANCE.choice(('garden', 'kettle', 'proxy'))}{i % 977}" for i in range(20_000)),
    "small words": "will you may have " * 5_000,
    "dates": "in may 3, 2 days ago last march " * 3_000,
    "Chinese": "我们去了冰岛" * 3_300,
    "quotes": '"' * 20_000,
    "phrases": '"proxy garden" ' * 2_000,
    "excluded words": "garden " + "-proxy " * 2_000,
    "emoji": "🙂" * 20_000,
    "files": "nginx.conf src/main.py " * 1_500,
}


@pytest.fixture(scope="module")
def memory(sample_store: Path) -> Iterator[Memory]:
    with recollect.open(sample_store) as memory:
        memory.search("where did we put the kettle", mode="instant")  # all is loaded
        yield memory


@pytest.mark.parametrize("what", PASTED)
def test_a_search_for_what_was_pasted_does_not_hang(memory: Memory, what: str) -> None:
    times = []
    for _ in range(3):
        began = time.thread_time()
        with suppress(InvalidInput):  # it holds no words
            memory.search(PASTED[what], mode="instant")
        times.append(time.thread_time() - began)
    assert min(times) < SECONDS


def test_a_message_is_found_by_all_of_it(memory: Memory) -> None:
    hit = memory.search("nginx reverse proxy for photo uploads", mode="instant")[0]
    text = hit.best.message.content
    pasted = f"{text}\n\n{strange_words(1_500)}"
    assert memory.search(pasted, mode="instant", group_by="message")[0].best.message.content == text


def test_a_question_is_read_so_far() -> None:
    read = read_question(strange_words(1_500))
    assert len(read.text) <= LONGEST_QUESTION
    assert not read.text.endswith(" ")
    assert len(read.terms) == MOST_TERMS
    assert len(parts_of_compounds(read, read.terms)) < 50


@pytest.mark.parametrize("what", PASTED)
def test_identifiers_and_names_are_told_in_time(what: str) -> None:
    began = time.thread_time()
    for word in PASTED[what].split()[:100]:
        is_identifier(word)
    named(PASTED[what][:LONGEST_QUESTION], ["Will", "May", "Ann", "Bob Miller"])
    assert time.thread_time() - began < SECONDS


@pytest.mark.parametrize("query", ['"a phrase"', "nginx.conf", "C++", "sordough", "冰岛", "last week", "🙂"])
def test_in_an_empty_memory_nothing_is_found(tmp_path: Path, query: str) -> None:
    """Q2: a phrase was an error of SQLite."""
    with recollect.open(tmp_path / "memory.db") as memory:
        assert len(memory.search(query)) == 0
