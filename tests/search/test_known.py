"""How likely an answer is there: higher with it than without, whatever else the memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import recollect
from recollect import Memory
from recollect.models.embedding import TokenVectors
from recollect.search.known import Fit, Late, fit, late_interaction, likelihood, signs, wanted
from recollect.search.query.question import Question, read_question
from recollect.search.scoring import ScoreInput
from recollect.search.weights import KNOWN, KNOWN_INSTANT, KNOWN_QUALITY, LATE_ONE_CONVERSATION, ONE_CONVERSATION
from recollect.store.passages import Features, TokenRows
from tests.search.features_made import flags, pool

TALKS = {
    "The boat": [
        "Our boat, the Petrel, leaks at the keel. Where can I have it repaired?",
        "The yard of Ossian in Marstal repairs wooden keels; ask for a date in March.",
        "I have decided on Ossian's yard, because they work with larch.",
    ],
    "The garden": [
        "Which apples keep until spring?",
        "Belle de Boskoop and Glockenapfel keep until March in a cool cellar.",
    ],
    "Tax": ["When is the tax return due?", "By 31 July, unless an adviser makes it."],
}
ASKED = [
    "Why did I decide on the yard of Ossian for the boat?",
    "Which apples keep until spring?",
    "When is the tax due?",
]
STRANGE = [
    "What did the vet say about Bruno's paw?",
    "Which university did Marisol apply to?",
    "How many goals did we score against Lagos?",
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with recollect.open(tmp_path_factory.mktemp("known") / "memory.db") as memory:
        for title, texts in TALKS.items():
            for at, text in enumerate(texts):
                memory.store_message(text, "assistant" if at % 2 else "user", conversation_id=title, title=title)
        yield memory


@pytest.mark.parametrize("mode", ["instant", "quality"])
def test_what_was_talked_of_is_known_and_what_was_not_is_not(memory: Memory, mode: str) -> None:
    if mode == "quality":
        memory.upkeep.embed()
    known = [memory.search(question, mode=mode).likelihood for question in ASKED]
    unknown = [memory.search(question, mode=mode).likelihood for question in STRANGE]
    assert min(known) > KNOWN > max(unknown), (known, unknown)


def test_it_falls_when_the_answer_is_deleted(tmp_path_factory: pytest.TempPathFactory) -> None:
    with recollect.open(tmp_path_factory.mktemp("deleted") / "memory.db") as memory:
        for title, texts in TALKS.items():
            for text in texts:
                memory.store_message(text, conversation_id=title, title=title)
        before = memory.search(ASKED[1]).likelihood
        memory.delete("The garden")
        assert memory.search(ASKED[1]).likelihood < before / 2


def test_it_is_told_in_json(memory: Memory) -> None:
    found = memory.search(ASKED[0])
    assert found.to_json()["likelihood"] == round(found.likelihood, 3)
    assert 0 <= found.likelihood <= 1


def test_nothing_to_search_holds_no_answer(memory: Memory) -> None:
    assert memory.search("🙂").likelihood == 0
    assert memory.search("apples", conversation="Tax").likelihood < KNOWN


def test_how_results_are_ordered_does_not_change_it(memory: Memory) -> None:
    best, newest = (memory.search(ASKED[0], mode="instant", sort=sort).likelihood for sort in ("relevance", "newest"))
    assert newest == pytest.approx(best, abs=0.05)


# --- signs -----------------------------------------------------------------------------------------------------------
QUESTION = read_question("heron weir")


def of(
    features: Features, question: Question = QUESTION, people: tuple[str, ...] = (), late: Late | None = None
) -> dict[str, float]:
    scores = np.arange(len(features), 0, -1).astype(np.float32)
    evidence = ScoreInput(question, features, np.zeros(len(features), np.float32))
    return signs(evidence, people, scores, np.arange(len(features)), late)


def made(*held: tuple[float, float], conversations: tuple[int, ...]) -> Features:
    """Passages that hold so much of each of two terms."""
    holds = np.zeros((len(held), 5, 2), np.float32)
    holds[:, 0, :] = held
    plain = pool(*(flags() for _ in held), holds=holds)
    return replace(
        plain,
        idf=np.array([3.0, 1.0], np.float32),
        frequencies=np.array([1, 1]),
        conversations=np.array(conversations),
    )


def test_the_best_conversation_is_compared_with_the_tenth_or_with_the_last_of_fewer() -> None:
    found = of(made(*[(1, 0)] * 12, conversations=tuple(range(1, 13))))  # scored 12 to 1
    assert found["ahead"] == pytest.approx(9)
    assert found["best ten"] == pytest.approx(np.mean(range(3, 13)))
    assert of(made(*[(1, 0)] * 4, conversations=(1, 1, 2, 2)))["ahead"] == pytest.approx(2)


def test_chunks_of_documents_are_no_conversation() -> None:
    assert of(made((1, 0), (0, 1), conversations=(0, 0)))["ahead"] == pytest.approx(1)


def test_the_only_conversation_is_neither_ahead_nor_behind() -> None:
    late = Late(np.ones(2, np.float32), np.ones(2, np.float32), np.ones((2, 1), np.float32), np.ones(1, np.float32))
    found = of(made((1, 0), (0, 1), conversations=(7, 7)), late=late)
    assert found["ahead"] == ONE_CONVERSATION
    assert found["late ahead"] == LATE_ONE_CONVERSATION


def test_rarity_is_1_for_words_that_are_nowhere_in_a_memory_of_any_size() -> None:
    for size in (100, 100_000):
        nowhere = np.full(2, np.log(1 + (size + 0.5) / 0.5), np.float32)
        features = replace(made((0, 0), conversations=(7,)), size=size)
        assert of(replace(features, idf=nowhere))["rarity"] == pytest.approx(1)
        assert of(replace(features, idf=nowhere / 2))["rarity"] == pytest.approx(0.5)


def test_a_name_is_no_nearness() -> None:
    question = read_question("heron")
    features = replace(made((1, 0), conversations=(7,)), dense=np.array([0.1], np.float32))
    asked = replace(question, terms=("ann", "heron"))
    assert of(features, asked)["near"] == pytest.approx(0.75)
    assert of(features, asked, people=("Ann",))["near"] == pytest.approx(0)


def test_late_interaction_stands_out_where_no_other_conversation_is_as_near() -> None:
    window = np.array([0.9, 0.8, 0.5], np.float32)
    late = Late(window, window, np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], np.float32), np.ones(2, np.float32))
    features = made((1, 0), (0, 1), (0, 1), conversations=(7, 7, 8))
    found = of(features, late=late)
    assert found["late ahead"] == pytest.approx(0.4)
    assert found["late together"] == pytest.approx(0.85)


def test_every_sign_has_its_weight() -> None:
    features = made((1, 0), conversations=(7,))
    late = Late(np.ones(1, np.float32), np.ones(1, np.float32), np.ones((1, 1), np.float32), np.ones(1, np.float32))
    assert set(of(features)) | {"constant"} == set(KNOWN_INSTANT)
    assert set(of(features, late=late)) | {"constant"} == set(KNOWN_QUALITY)
    assert 0 < likelihood(of(features), 0.5, 1_000) < 1


def test_in_a_small_memory_closeness_decides() -> None:
    found = dict.fromkeys(KNOWN_INSTANT.keys() - {"constant"}, 0.0)
    assert likelihood(found, 0.8, 0) == pytest.approx(0.8)
    assert likelihood(found, 0.8, 50) == pytest.approx(1 / (1 + np.exp(-(KNOWN_INSTANT["constant"] + np.log(4)) / 2)))
    assert likelihood(found, 0.8, 100) == likelihood(found, 0.2, 100_000)


# --- whether anything fits ------------------------------------------------------------------------------------------
FAR = {"known": 0.3, "rarity": 0.8, "near": 0.4, "best ten": 2.0, "ahead": 1.0}
NEAR = {"known": 1.0, "rarity": 0.5, "near": 1.5, "best ten": 8.0, "ahead": 6.0}


def put(text: str = "the old crane in the northern harbour", *, size: int = 500, **changed: Any) -> ScoreInput:
    """A text and two passages of many, with cosines .3 and .1 where the mean of all is 0."""
    named = changed.pop("named", 0)
    features = pool(flags(), flags(), **{"dense": [0.3, 0.1], "dense_z": [3.0, 1.0], **changed})
    return ScoreInput(read_question(text), replace(features, size=size), np.zeros(2, np.float32), named=named)


def test_nothing_fits_a_text_of_which_hardly_anything_is_there() -> None:
    assert fit(put(), FAR) is Fit.NOTHING
    assert fit(put(), NEAR) is Fit.WELL
    assert fit(put(), FAR | {"late together": 1.0, "late ahead": 1.0}) is Fit.NOTHING  # the same in the quality mode


def test_a_little_fits_a_text_about_what_is_the_askers_own_though_hardly_anything_of_it_is_there() -> None:
    assert fit(put("tell me about our authentication decisions"), FAR) is Fit.A_LITTLE
    assert fit(put("the sourdough we chose"), FAR) is Fit.A_LITTLE
    assert fit(put("tell me about the authentication of Rome"), FAR) is Fit.NOTHING


def test_what_is_near_to_the_archive_as_a_whole_fits() -> None:
    assert fit(put(), FAR) is Fit.NOTHING
    near_to_all = put(dense=[0.8, 0.6], dense_z=[3.0, 1.0])
    assert fit(near_to_all, FAR) is Fit.WELL


def test_in_doubt_all_fits() -> None:
    doubtful = {
        "few passages": put(size=20),
        "vectors cannot read it": put(dense=[0, 0], dense_z=[0, 0]),
        "another language": put("was ist mit dem Kran im Hafen"),
        "somebody who speaks": put(named=1),
        "a day": put(inside=[1, 0]),
        "an identifier": put(sought=[1, 0]),
    }
    assert {why for why, evidence in doubtful.items() if fit(evidence, FAR) is not Fit.WELL} == set()


def test_a_word_or_two_fit_a_little_unless_they_are_rare_together_or_near_in_meaning() -> None:
    some, rare = 4.0, 9.0

    def of(text: str, idf: float, known: int = 3, **changed: Any) -> Fit:
        evidence = put(text, holds=np.ones((2, 5, 1)), **changed)
        features = replace(evidence.features, idf=np.full(1, idf, np.float32), frequencies=np.full(1, known))
        return fit(replace(evidence, features=features), NEAR)

    assert of("good morning", some) is Fit.A_LITTLE
    assert of("sourdough starter", rare) is Fit.WELL
    assert of("good morning", some, dense=[0.7, 0.1]) is Fit.WELL
    assert of("is the morning good?", some) is Fit.WELL
    assert of("good dawn", some, known=0) is Fit.WELL
    assert of("my good morning", some) is Fit.WELL
    assert of("good morning to the sourdough starter", some) is Fit.WELL


# Late interaction: each word piece of the question against the nearest of a message and of its neighbours.


def row(*axes: int) -> TokenRows:
    """A passage whose tokens are unit vectors along these axes."""
    tokens = np.zeros((len(axes), 128), np.int8)
    tokens[np.arange(len(axes)), axes] = 127
    return TokenRows(np.array(axes, np.uint16), tokens)


def question(*axes: int) -> TokenVectors:
    return TokenVectors(*(getattr(row(*axes), name) for name in ("pieces", "tokens")))


FEATURES = replace(
    pool(flags(), flags(), flags()),
    neighbours=np.array([[1, -1, 2, -1, -1], [2, 1, 3, -1, -1], [3, 2, -1, -1, -1]]),
    piece_idf={5: 3.0, 6: 1.0},
)
ROWS = {1: row(5), 2: row(9), 3: row(6, 5)}


def test_own_is_the_share_of_the_questions_idf_that_a_message_holds() -> None:
    own = late_interaction(FEATURES, question(5, 6), ROWS).own
    assert own == pytest.approx([0.75, 0, 1], abs=1e-4)


def test_the_window_counts_the_one_before_more_than_the_one_after() -> None:
    window = late_interaction(FEATURES, question(5, 6), ROWS).window
    assert window == pytest.approx([0.75, (3 * 0.9 + 1 * 0.8) / 4, 1], abs=1e-4)


def test_neighbours_are_wanted_too_each_once() -> None:
    assert wanted(FEATURES) == [1, 2, 3]
    assert wanted(FEATURES.take(np.array([0]))) == [1, 2]


def test_a_message_without_tokens_holds_nothing() -> None:
    empty = TokenRows(np.zeros(0, np.uint16), np.zeros((0, 128), np.int8))
    own = late_interaction(FEATURES.take(np.array([0])), question(5), {1: empty}).own
    assert own == pytest.approx([0])


def test_a_conversation_holds_together_what_its_messages_hold_apart() -> None:
    rows = {1: row(5), 2: row(6), 3: row(9)}
    late = late_interaction(FEATURES, question(5, 6), rows)
    assert late.together(np.array([7, 8, 8])) == pytest.approx(0.75, abs=1e-4)
    assert late.together(np.array([7, 7, 8])) == pytest.approx(1, abs=1e-4)
