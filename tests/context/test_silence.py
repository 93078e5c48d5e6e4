"""A context is silent where nothing in the memory fits the text, and says all where something does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import recollect
from recollect.context.result import Context
from recollect.engines import open_store
from recollect.memory import Handle, Memory
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Namespace

RETRIEVED = ("knowledge", "relevant", "index")
ASKED = [
    "which number did the dishwasher show again",
    "thanks! and what did it turn out Bruno reacts to, the vet wanted it in his file",
    "What did I change in my sourdough recipe?",
    "nginx reverse proxy",
]


class Strange:
    """An embedder whose vectors nobody has measured."""

    name, dimensions = "strange@1", 8

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.array([[len(text) % (place + 2) + 1 for place in range(8)] for text in texts], np.float32).reshape(
            -1, 8
        )
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def sample(sample_store: Path) -> Iterator[Memory]:
    """The sample archive. Read only."""
    with recollect.open(sample_store) as memory:
        yield memory


def retrieved(context: Context) -> int:
    return sum(part.tokens for part in context.parts if part.name in RETRIEVED)


@pytest.mark.parametrize("budget", [1_000, 4_000, 10_000])
@pytest.mark.parametrize(
    "text",
    [
        "what's the capital of mongolia",
        "Which came first, the Ottoman siege of Vienna or the fall of Constantinople?",
        "Write a limerick about a lazy parrot who sells umbrellas",
    ],
)
def test_what_the_memory_knows_nothing_of_gets_what_stands_alone(sample: Memory, text: str, budget: int) -> None:
    context = sample.prepare_context(text, budget=budget)
    assert not retrieved(context)
    assert context.relevant == 0
    assert {part.name for part in context.parts} <= {"guide", "summaries", "facts", "recent", "asked"}
    assert context.part("recent")
    assert context.messages[-1]["content"] == text


@pytest.mark.parametrize("budget", [1_000, 4_000, 10_000])
@pytest.mark.parametrize(
    "text",
    [
        "Good morning!",
        "Good morning",
        "Morning!",
        "Thanks!",
        "ok",
        "Hello",
        "continue",
        "rewrite that shorter",
        "Yes please",
    ],
)
def test_a_word_or_two_that_match_by_chance_get_a_few_messages(sample: Memory, text: str, budget: int) -> None:
    assert retrieved(sample.prepare_context(text, budget=budget)) <= 150


@pytest.mark.parametrize("text", ASKED)
def test_what_asks_for_something_gets_all_of_it_whatever_stands_around_the_question(sample: Memory, text: str) -> None:
    assert retrieved(sample.prepare_context(text, budget=4_000)) > 2_000


def test_what_names_somebody_who_speaks_or_a_day_is_never_silent(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for number in range(120):
            memory.store_message(
                f"Entry {number} of the logbook: the wind was weak.",
                "user",
                speaker="Ottilie",
                conversation_id="logbook",
                timestamp=f"2025-03-{1 + number % 28:02}T12:00:00Z",
            )
        memory.store_message("The keel leaks again.", "user", speaker="Ottilie", conversation_id="logbook")
        assert not retrieved(memory.prepare_context("Explain photosynthesis to nephews", budget=4_000))
        for text in ("Ottilie", "what did Ottilie say", "and on 3 March 2025?"):
            assert retrieved(memory.prepare_context(text, budget=4_000)) > 1_000, text


def test_a_young_memory_shows_what_it_has(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for line in ("The bridge is in Porto.", "It is 40 m high.", "Bruno reacts to chicken.", "Good morning!"):
            memory.store_message(line, "user", conversation_id="talk")
        memory.store_message("Something else", "user", conversation_id="other")
        context = memory.prepare_context("How high is the tower in Lisbon?", conversation_id="other")
        assert "It is 40 m high." in context.text


@pytest.mark.parametrize("text", ["Bruno seems anxious again", "anxious"])
def test_a_few_words_that_fit_get_what_was_said_in_other_words_too(tmp_path: Path, text: str) -> None:
    """A text is no search for its words: what was tried bears none of them."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for line in ("Bruno is anxious since the move.", "We tried a diffuser: no difference.", "The lick mat works."):
            memory.store_message(line, "user", conversation_id="talk")
        memory.store_message("Something else", "user", conversation_id="other")
        relevant = memory.prepare_context(text, conversation_id="other", budget=4_000).part("relevant")
        assert relevant is not None
        assert "no difference" in relevant.text
        assert "lick mat" in relevant.text


def test_nothing_is_withheld_by_the_signs_of_vectors_that_they_were_not_measured_with(tmp_path: Path) -> None:
    for embedder, silent in ((StaticEmbedder(), True), (Strange(), False)):
        with Memory(Handle(open_store(tmp_path / embedder.name), embedder, Namespace("default"))) as memory:
            for number in range(120):
                memory.store_message(f"The wind at buoy {number} was weak.", "user", conversation_id="talk")
            context = memory.prepare_context("Explain photosynthesis to nephews", budget=4_000)
            assert (retrieved(context) == 0) == silent


def test_the_same_on_neo4j(neo4j_place: str) -> None:
    with recollect.open(neo4j_place, background=False) as memory:
        for number in range(120):
            memory.store_message(f"The wind at buoy {number} was weak.", "user", conversation_id="talk")
        assert not retrieved(memory.prepare_context("Explain photosynthesis to nephews", budget=4_000))
        assert retrieved(memory.prepare_context("How was the wind at buoy 17?", budget=4_000)) > 1_000
