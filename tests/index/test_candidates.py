"""Candidates and their features are what plain loops over the living rows find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recollect.index import block as shortened_module
from recollect.index import pool as pool_module
from recollect.index import snapshot as snapshot_module
from recollect.index.candidates import candidates
from recollect.index.corpus import Corpus
from recollect.index.snapshot import Snapshot
from recollect.index.source import TailRow
from recollect.store.change import IndexDamaged, WrongEmbedder
from recollect.store.passages import CandidateQuery, Features, Filter, Float, Partition
from tests.index.plain import Plain
from tests.index.rows import QUALITY_SIZE, SIZE, ListEngine, ListSource, made_rows, quality_vector, row

Make = Callable[..., Corpus]


def unit(size: int, seed: int) -> Float:
    vector = np.random.default_rng(seed).normal(size=size).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def asking(seed: int, **more: Any) -> CandidateQuery:
    chance = np.random.default_rng(seed)
    words = [f"w{n}" for n in chance.permutation(8)]
    groups = (
        ((words[0], 1.0),),
        ((words[1], 1.0), (words[2], 0.6), ("unknown", 0.6)),
        (("w0", 1.0),),
        (("none", 1.0),),
    )
    return CandidateQuery(
        **{"partition": Partition.SAID, "terms": groups, "vector": unit(SIZE, seed), "pool": 32} | more
    )


QUESTIONS = {
    "plain": asking(1),
    "another": asking(2),
    "no words": asking(3, terms=(), pool=7),  # none are chosen by words: all are alike
    "forms": asking(19, terms=((("w1", 1.0), ("w4", 1.0), ("w2", 0.6)), (("w6", 1.0), ("none", 1.0)))),
    "dates": asking(4, spans=((100, 110), (300, 300))),
    "a speaker": asking(5, named=("Ann",)),
    "a stranger": asking(6, named=("Nobody", "Ann")),
    "sought": asking(7, sought=(("as", "typed"), ("not", "there"))),
    "a phrase": asking(8, phrases=(("as", "typed"),)),
    "excluded": asking(9, excluded=(("as", "typed"),)),
    "roles": asking(10, filter=Filter(roles=("user", "tool"))),
    "kinds": asking(11, filter=Filter(kinds=("said", "title"))),
    "since": asking(12, filter=Filter(since=200 * 86_400_000_000)),
    "until": asking(13, filter=Filter(until=200 * 86_400_000_000)),
    "sources": asking(14, filter=Filter(sources=("chatgpt",))),
    "nothing allowed": asking(15, filter=Filter(since=10**18)),
    "conversations": asking(17, conversations=(1, 3)),
    "newest": asking(18, newest=True, pool=12),
    "newest of few": asking(19, newest=True, pool=2000),
    "by words": asking(20, by_words=True),
    "quality": asking(16, similarity=unit(QUALITY_SIZE, 16), pieces=(3, 5, 3)),
}


@pytest.fixture(scope="module")
def lived() -> ListEngine:
    """A partition that was written, sealed, edited and embedded for a while."""
    engine = ListEngine()
    for place, rows in enumerate(made_rows(60, seed, first=1 + 300 * seed, gap=2) for seed in range(6)):
        engine.add(rows)
        engine.kill([r.number for r in rows[place :: 7 + place]])
        engine.add_quality([r.number for r in rows[::3]])
        if place < 5:
            engine.seal(30)
            engine.seal(22)
        engine.kill([r.number for r in rows[1::9]])
    return engine


def source_of(engine: ListEngine) -> ListSource:
    numbers = list(engine.living)
    phrases = {("as", "typed"): numbers[3::5]}
    return engine.source(speakers={"Ann": 1}, phrases=phrases, sources={"chatgpt": range(0, 5000, 2)})


def assert_same(found: Features, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        own = getattr(found, name)
        assert np.shape(own) == np.shape(value), name
        assert np.asarray(own, float) == pytest.approx(np.asarray(value, float), abs=2e-4, rel=1e-4), name


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("score_all", [10, 2000])
def test_features_are_those_of_plain_loops(
    name: str, score_all: int, lived: ListEngine, corpus: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "SCORE_ALL", score_all)
    source = source_of(lived)
    found = candidates(corpus().snapshot(source), source, QUESTIONS[name])
    quality = {number: vector for _, number, vector in lived.vectors}
    expected = Plain(list(lived.living.values()), quality, source).features(QUESTIONS[name], score_all)
    assert found.matches is not None
    rows = found.matches.rows
    assert rows.passages.tolist() == expected.pop("matching").tolist()
    assert found.matches.conversations.tolist() == sorted(set(rows.conversations.tolist()) - {0})
    assert_same(found, expected)
    assert len(found) == 0 if name == "nothing allowed" else len(found) > 3


def test_a_conversation_that_fills_the_pool_leaves_room_for_the_best_of_others(
    corpus: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "SCORE_ALL", 10)
    engine = ListEngine()
    engine.add(made_rows(400, 3))
    source = engine.source()
    snapshot = corpus().snapshot(source)
    query = asking(1, terms=((("w0", 1.0),),), pool=32)
    found = candidates(snapshot, source, query)
    assert found.matches is not None
    rows = found.matches.rows
    best = {n: rows.leads[rows.conversations == n].max() for n in found.matches.conversations.tolist()}
    first = sorted(best, key=lambda number: -best[number])[: 32 // 8]
    assert set(first) <= set(found.conversations.tolist())
    held = np.isin(rows.passages, found.passages)
    assert 0 < held.sum() < len(rows)


def test_only_passages_that_are_named_are_scored(lived: ListEngine, corpus: Make) -> None:
    source = source_of(lived)
    snapshot = corpus().snapshot(source)
    whole = candidates(snapshot, source, asking(1))
    some = whole.passages[3:40:4]
    found = candidates(snapshot, source, asking(1, passages=tuple(some.tolist())))
    assert found.passages.tolist() == some.tolist()
    at = np.searchsorted(whole.passages, some)
    for name in ("dense", "dense_z", "bm25", "session_bm25", "holds", "neighbours", "length_z", "times"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)[at]), name


def test_blocks_in_files_answer_as_those_in_memory(lived: ListEngine, corpus: Make, tmp_path: Path) -> None:
    source = source_of(lived)
    for query in QUESTIONS.values():
        in_memory = candidates(corpus().snapshot(source), source, query)
        in_files = candidates(corpus(tmp_path / "index").snapshot(source), source, query)
        for field in fields(Features):
            own, other = getattr(in_memory, field.name), getattr(in_files, field.name)
            if field.name == "matches":
                assert np.array_equal(own.rows.passages, other.rows.passages)
                assert np.array_equal(own.rows.leads, other.rows.leads)
            else:
                assert np.array_equal(own, other), field.name
    assert list((tmp_path / "index").iterdir())


@pytest.mark.parametrize("in_files", [False, True])
def test_rough_cosines_find_nearly_the_same_pool_and_features_stay_exact(
    in_files: bool, corpus: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortened_module, "_LEAST_ROWS", 1024)
    monkeypatch.setattr(shortened_module, "_SHORTEST", SIZE)
    engine = ListEngine()
    engine.add(made_rows(6000, 5))
    for _ in range(11):
        engine.seal(512)
    source = engine.source()
    snapshot = corpus(tmp_path if in_files else None, rows=2048).snapshot(source)
    assert any(part.block.shortened is not None for part in snapshot.parts) == in_files
    for seed in range(10):
        query = asking(seed, pool=200)
        exact = candidates(snapshot, source, query)
        with monkeypatch.context() as patched:
            patched.setattr(snapshot_module, "EXACT_ROWS", 100)
            found = candidates(snapshot, source, query)
        both = np.intersect1d(found.passages, exact.passages)
        # Noise goes in all directions: the axes of blocks in files leave much of it out.
        assert len(both) > (0.9 if in_files else 0.97) * len(exact)
        own, other = np.searchsorted(found.passages, both), np.searchsorted(exact.passages, both)
        for name in ("dense", "dense_z", "bm25", "session_dense", "neighbours", "holds", "length_z"):
            assert getattr(found, name)[own] == pytest.approx(getattr(exact, name)[other], abs=1e-5), name


def test_a_passage_is_as_near_as_its_nearest_run_of_sentences(corpus: Make) -> None:
    query = asking(1)
    engine = ListEngine()
    engine.add([row(n, {"w0": 1}) for n in (3, 5, 8)])
    near = np.rint(query.vector / np.abs(query.vector).max() * 127).astype(np.int8)
    far = np.random.default_rng(0).integers(-127, 128, SIZE).astype(np.int8)
    source = engine.source(sentences={5: far.tobytes() + near.tobytes(), 8: b""})
    found = candidates(corpus().snapshot(source), source, query)
    assert found.windows[1] == pytest.approx(1.0, abs=0.01)
    assert found.windows[[0, 2]] == pytest.approx(found.dense[[0, 2]])

    source = engine.source(sentences={5: far.tobytes()[:-1]})
    with pytest.raises(IndexDamaged):
        candidates(corpus().snapshot(source), source, query)


def test_an_empty_partition_has_no_candidates(corpus: Make) -> None:
    source = ListEngine().source()
    found = candidates(corpus().snapshot(source), source, asking(1))
    assert (len(found), found.size, found.holds.shape, found.bm25.shape) == (0, 0, (0, 5, 4), (0, 5))
    assert found.frequencies.tolist() == [0, 0, 0, 0]


def test_where_all_are_dead_there_are_no_candidates(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(30))
    engine.seal(30)
    engine.kill(list(engine.living))
    source = engine.source()
    found = candidates(corpus().snapshot(source), source, asking(1))
    assert (len(found), found.size) == (0, 0)


def test_a_vector_of_another_size_is_refused_with_a_reason(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(3))
    source = engine.source()
    query = replace(asking(1), vector=unit(SIZE + 1, 1))
    with pytest.raises(WrongEmbedder, match=f"{SIZE + 1} numbers, the store has {SIZE}"):
        candidates(corpus().snapshot(source), source, query)


def test_quality_vectors_stand_for_their_own_passages(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(40))
    engine.add_quality([7, 9, 30])
    source = engine.source()
    wanted = np.frombuffer(quality_vector(9), np.int8).astype(np.float32)
    query = asking(1, similarity=wanted / np.linalg.norm(wanted))
    found = candidates(corpus().snapshot(source), source, query)
    assert found.passages[np.argmax(found.similarity)] == 9
    assert np.count_nonzero(found.similarity) == 3


def test_a_passage_that_is_alone_is_as_near_as_the_average(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(40))
    engine.seal(40)
    numbers = list(engine.living)
    engine.kill(numbers[1:])
    for seed in range(20):  # the sums that the dead are taken from leave their rounding
        found = candidates(corpus().snapshot(engine.source()), engine.source(), asking(seed, terms=()))
        assert found.dense_z == pytest.approx(0, abs=0.01)


def test_a_few_tool_results_are_measured_together_with_what_was_said(corpus: Make) -> None:
    few, many = made_rows(5, seed=3, first=9_001), made_rows(300, seed=4)
    own, said, both = (_snapshot_of(corpus(), rows) for rows in (few, many, [*many, *few]))
    query = asking(21, partition=Partition.OTHER)
    found = candidates(*own, query, lambda: said[0])
    passages = tuple(found.passages.tolist())
    together = candidates(*both, replace(query, passages=passages))
    assert sorted(passages) == [row.number for row in few] == sorted(together.passages.tolist())
    at = [together.passages.tolist().index(number) for number in passages]
    assert found.idf == pytest.approx(together.idf)
    assert found.frequencies.tolist() == candidates(*own, query).frequencies.tolist()
    assert found.size == 5
    for name in ("dense_z", "length_z"):
        assert getattr(found, name) == pytest.approx(getattr(together, name)[at], rel=1e-4, abs=1e-4)
    # What was said is scored with its own rarities, which are nearly those of both.
    assert found.bm25[:, 0] == pytest.approx(together.bm25[at][:, 0], rel=0.05, abs=0.05)


def test_many_tool_results_are_measured_by_themselves(corpus: Make) -> None:
    own = _snapshot_of(corpus(), made_rows(70, first=9_001))
    query = asking(22, partition=Partition.OTHER)
    found, alone = (
        candidates(*own, query, lambda: pytest.fail("what was said is not looked at")),
        candidates(*own, query),
    )
    assert found.idf.tolist() == alone.idf.tolist()
    assert found.bm25.tolist() == alone.bm25.tolist()


def _snapshot_of(made: Corpus, rows: Sequence[TailRow]) -> tuple[Snapshot, ListSource]:
    engine = ListEngine()
    engine.add(rows)
    source = engine.source()
    return made.snapshot(source), source
