from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchmarks import baselines
from benchmarks.datasets import History, Said, Session
from benchmarks.hybrid import Hybrid, OwnBM25
from recollect.models.embedding.static import StaticEmbedder

WHEN = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def history() -> History:
    """Two sessions of twelve messages; in the second, the last one is about a telescope."""
    texts = {f"s{s}-{n}": f"Message {n} about the garden and its {word}." for s, word in ((1, "fence"), (2, "pond"))
             for n in range(12)}  # fmt: skip
    texts["s2-11"] = "The telescope needs a new mirror to see Saturn."
    sessions = tuple(
        Session(s, s, WHEN, tuple(Said(i, "user", None, text, WHEN) for i, text in texts.items() if i.startswith(s)))
        for s in ("s1", "s2")
    )
    return History("h", sessions, ())


def test_fts5_finds_a_message_by_any_word_of_the_question_but_no_stop_word(history: History):
    rank = baselines.fts5(history)

    assert rank("which telescopes have we got?") == ["s2-11"]
    assert len(rank("ponds")) == 11
    assert rank("???") == rank("what is the") == []


def test_vectors_rank_every_message_by_likeness(history: History):
    ranking = baselines.vectors(history, StaticEmbedder())("a mirror for looking at Saturn")

    assert ranking[0] == "s2-11"
    assert len(ranking) == 24


def test_windows_give_the_messages_of_the_best_window_by_their_likeness(history: History):
    ranking = baselines.windows(history, StaticEmbedder())("a mirror for looking at Saturn")

    assert ranking[0] == "s2-11"
    assert set(ranking[:4]) == {"s2-8", "s2-9", "s2-10", "s2-11"}  # windows of ten begin every eight messages
    assert set(ranking) == {message.id for message in history.messages}


def test_bm25_over_our_terms_knows_stems_and_rare_words(history: History):
    rank = OwnBM25(history)

    assert rank("which mirrors show Saturn in the garden?")[0] == "s2-11"
    assert rank("who was it") == []


def test_the_hybrid_ranks_by_meaning_too_and_by_titles_where_it_has_them(history: History):
    titled = History(
        "h", tuple(replace(s, title="Astronomy" if s.id == "s1" else "Fish") for s in history.sessions), ()
    )

    assert Hybrid(history, titles=False)("an instrument for astronomers")[0] == "s2-11"
    assert Hybrid(titled, titles=True)("astronomy")[0].startswith("s1")


def test_the_model_sees_the_first_254_tokens_of_a_text():
    assert baselines.seen_by_model("short") == "short"
    assert baselines.seen_by_model("word " * 1000).split() == ["word"] * 254
