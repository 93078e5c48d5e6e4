"""Quality vectors are read from where one left off, and kept in files once a block has all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from recollect.index.corpus import Corpus
from recollect.index.snapshot import Snapshot
from recollect.index.source import Source
from recollect.store.change import IndexDamaged
from tests.index.rows import QUALITY_SIZE, ListEngine, ListSource, made_rows
from tests.index.test_candidates import unit

Make = Callable[..., Corpus]
ASKED = unit(QUALITY_SIZE, 3)


class Counting(ListSource):
    """Counts the quality vectors that are read."""

    def quality(self, after: int, first: int = 0):  # type: ignore[no-untyped-def]
        found = super().quality(after, first)
        self.read.append(len(found))
        return found


def source_of(engine: ListEngine) -> Counting:
    plain = engine.source()
    return Counting(plain.now, plain.sealed, plain.rows, plain.log, plain.vectors)


def values(snapshot: Snapshot, source: Source) -> np.ndarray:
    quality = snapshot.qualities.of(snapshot, source)
    assert quality is not None
    return quality.z(np.arange(snapshot.size), ASKED)


def grown() -> ListEngine:
    engine = ListEngine()
    engine.add(made_rows(200))
    for _ in range(18):
        engine.seal(10)
    return engine


def test_a_batch_more_is_all_that_is_read(corpus: Make) -> None:
    own, engine = corpus(), grown()
    engine.add_quality(range(150, 201))
    first = source_of(engine)
    values(own.snapshot(first), first)
    engine.add_quality(range(120, 150))
    engine.kill([130, 160])
    second = source_of(engine)
    found = values(own.snapshot(second), second)
    assert second.read[-1] == 29
    fresh = source_of(engine)
    assert np.allclose(found, values(corpus().snapshot(fresh), fresh), atol=1e-4)
    assert found[129] == 0
    assert np.count_nonzero(found) == 79


def test_rows_that_come_with_their_vectors(corpus: Make) -> None:
    own, engine = corpus(), grown()
    engine.add_quality(range(1, 201))
    first = source_of(engine)
    values(own.snapshot(first), first)
    for seed in range(6):
        engine.add(made_rows(9, seed, 300 + 20 * seed))
        engine.add_quality(range(300 + 20 * seed, 309 + 20 * seed))
        source = source_of(engine)
        found = values(own.snapshot(source), source)
        assert np.count_nonzero(found) == 209 + 9 * seed
        fresh = source_of(engine)
        assert np.allclose(found, values(corpus().snapshot(fresh), fresh), atol=1e-4)


def test_a_full_block_with_all_its_vectors_is_mapped(corpus: Make, tmp_path: Path) -> None:
    engine = grown()
    engine.kill([5])
    engine.add_quality(range(1, 201))
    first = source_of(engine)
    expected = values(corpus(tmp_path).snapshot(first), first)
    assert len(list(tmp_path.glob("*.quality"))) == 2
    engine.kill([6, 70])
    later = source_of(engine)
    found = values(corpus(tmp_path).snapshot(later), later)
    assert later.read[-1] == 80  # of 198: those behind the full blocks
    assert found[[5, 69]].tolist() == [0, 0]
    same = np.delete(np.arange(200), [5, 69])
    assert np.allclose(found[same], expected[same], atol=0.05)
    fresh = source_of(engine)
    assert np.allclose(found, values(corpus().snapshot(fresh), fresh), atol=1e-4)


def test_an_older_view_does_not_see_what_came_later(corpus: Make, tmp_path: Path) -> None:
    own, engine = corpus(tmp_path), grown()
    engine.add_quality(range(1, 50))
    older = source_of(engine)
    engine.add_quality(range(50, 201))
    newer = source_of(engine)
    values(own.snapshot(newer), newer)
    assert np.count_nonzero(values(own.snapshot(older), older)) == 49
    assert np.count_nonzero(values(corpus(tmp_path).snapshot(older), older)) == 49
    assert np.count_nonzero(values(own.snapshot(newer), newer)) == 200


def test_without_any_there_are_none(corpus: Make) -> None:
    engine = grown()
    source = source_of(engine)
    snapshot = corpus().snapshot(source)
    assert snapshot.qualities.of(snapshot, source) is None
    engine.add_quality([3])
    engine.kill([3])
    source = source_of(engine)
    snapshot = corpus().snapshot(source)
    assert snapshot.qualities.of(snapshot, source) is None


def test_vectors_of_two_sizes_are_damaged(corpus: Make) -> None:
    engine = grown()
    engine.add_quality([3, 4])
    place, number, vector = engine.vectors[0]
    engine.vectors[0] = (place, number, vector[1:])
    source = source_of(engine)
    snapshot = corpus().snapshot(source)
    with pytest.raises(IndexDamaged, match="differ in size"):
        snapshot.qualities.of(snapshot, source)
