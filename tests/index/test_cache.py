"""What a store keeps loaded: bounded, by namespace, and without anybody waiting for somebody else."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index.cache import IndexCache
from recollect.index.corpus import Corpus
from recollect.index.snapshot import Snapshot
from recollect.index.source import SegmentMark
from tests.index.rows import ListEngine, ListSource, made_rows


def engine_of(count: int) -> ListEngine:
    engine = ListEngine()
    engine.add(made_rows(count))
    while engine.tail:
        engine.seal(10)
    return engine


SEALED = engine_of(40)


def test_what_is_loaded_is_lent_again(tmp_path: Path) -> None:
    cache, engine = IndexCache(None, "s"), engine_of(40)
    first = cache.snapshot(1, 0, engine.source())
    assert cache.snapshot(1, 0, engine.source()) is first
    assert cache.snapshot(1, 1, engine.source()) is not first
    cache.clear()
    assert cache.snapshot(1, 0, engine.source()) is not first


@given(st.lists(st.integers(-1, 39)))
def test_columns_are_gathered_by_positions_in_any_order(at: list[int]) -> None:
    snapshot = IndexCache(None, "s", rows=16).snapshot(1, 0, SEALED.source())
    numbers, times = snapshot.columns(np.arange(40), "number", "time")
    found = snapshot.gather(np.array(at, np.int64), "number", "time")
    assert [own.tolist() for own in found] == [[0 if i < 0 else all_[i] for i in at] for all_ in (numbers, times)]


def test_the_namespace_searched_least_recently_is_given_up() -> None:
    cache, engine = IndexCache(None, "s", most=100), engine_of(40)
    one, two = (cache.snapshot(namespace, 0, engine.source()) for namespace in (1, 2))
    assert cache.snapshot(1, 0, engine.source()) is one
    cache.snapshot(3, 0, engine.source())
    assert cache.snapshot(1, 0, engine.source()) is one
    assert cache.snapshot(2, 0, engine.source()) is not two


def test_of_many_small_namespaces_those_searched_last_are_kept() -> None:
    cache, engine = IndexCache(None, "s", namespaces=3), engine_of(40)
    loaded = [cache.snapshot(namespace, 0, engine.source()) for namespace in range(4)]
    assert [cache.snapshot(namespace, 0, engine.source()) for namespace in (1, 2, 3)] == loaded[1:]
    assert cache.snapshot(0, 0, engine.source()) is not loaded[0]


def test_a_search_counts_the_rows_of_its_own_namespace_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """I5: each search once counted those of all namespaces that the process had used."""
    cache, engine = IndexCache(None, "s", namespaces=300), engine_of(40)
    for namespace in range(300):
        cache.snapshot(namespace, 0, engine.source())
    counted: list[Corpus] = []
    memory_rows = Corpus.memory_rows.fget
    assert memory_rows is not None
    monkeypatch.setattr(Corpus, "memory_rows", property(lambda own: counted.append(own) or memory_rows(own)))
    cache.snapshot(7, 0, engine.source())
    cache.snapshot(7, 1, engine.source())
    assert len(counted) == 3


@given(st.lists(st.tuples(st.sampled_from(["search", "forget", "clear"]), st.integers(0, 5)), max_size=30))
def test_the_running_count_is_that_of_what_is_loaded(steps: list[tuple[str, int]]) -> None:
    """However it came and went: as long as all of it fits nothing goes, and what does not fit makes room."""
    engines = [engine_of(20) for _ in range(6)]
    roomy, narrow = IndexCache(None, "s", most=20 * 6), IndexCache(None, "s", most=20)
    known: dict[int, Snapshot] = {}
    for what, namespace in steps:
        if what == "search":
            lent = roomy.snapshot(namespace, 0, engines[namespace].source())
            assert lent is known.get(namespace, lent)
            known[namespace] = lent
            only = narrow.snapshot(namespace, 0, engines[namespace].source())
            assert narrow.snapshot(namespace, 0, engines[namespace].source()) is only
            assert narrow.snapshot(9, 0, engines[0].source()).living == 20  # for which it goes
            assert narrow.snapshot(namespace, 0, engines[namespace].source()) is not only
        elif what == "forget":
            roomy.forget(namespace)
            known.pop(namespace, None)
        elif what == "clear":
            roomy.clear()
            known.clear()
    for namespace in range(6):
        again = roomy.snapshot(namespace, 0, engines[namespace].source())
        assert again is known.get(namespace, again)


def test_partitions_of_one_namespace_do_not_evict_each_other() -> None:
    """S20: however large they are."""
    cache, engine = IndexCache(None, "s", most=50), engine_of(40)
    snapshots = [cache.snapshot(1, partition, engine.source()) for partition in range(3)]
    assert [cache.snapshot(1, partition, engine.source()) for partition in range(3)] == snapshots


def test_mapped_rows_do_not_count(tmp_path: Path) -> None:
    cache, engine = IndexCache(tmp_path, "s", most=10, rows=32), engine_of(160)
    snapshots = [cache.snapshot(namespace, 0, engine.source()) for namespace in range(3)]
    assert [cache.snapshot(namespace, 0, engine.source()) for namespace in range(3)] == snapshots


def test_forgetting_a_namespace_removes_its_files_alone(tmp_path: Path) -> None:
    cache, engine = IndexCache(tmp_path, "s", rows=64), engine_of(150)
    for namespace in (1, 11):
        cache.snapshot(namespace, 0, engine.source())
    lent = cache.snapshot(1, 0, engine.source())
    cache.forget(1)
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"11"}
    assert lent.gather(lent.offsets[:1], "number")[0].tolist() == [1]  # what is lent out stays readable
    cache.forget(5)


def test_who_finds_all_files_does_not_read_the_folder_of_all_namespaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of(160)
    made = IndexCache(tmp_path, "s", rows=32).snapshot(1, 0, engine.source())

    def read(_: Path) -> None:
        raise AssertionError("The folder is read.")

    monkeypatch.setattr(Path, "iterdir", read)
    found = IndexCache(tmp_path, "s", rows=32).snapshot(1, 0, engine.source())
    assert found.living == made.living
    assert any(part.block.mapped for part in found.parts)


def test_prepare_is_done_when_there_is_nothing_to_make(tmp_path: Path) -> None:
    engine = engine_of(150)
    assert not IndexCache(None, "s").prepare(1, 0, engine.source())
    cache, rounds = IndexCache(tmp_path, "s", rows=64), 1
    while cache.prepare(1, 0, engine.source()):
        rounds += 1
    assert rounds == len(list(tmp_path.iterdir())) > 2


class Slow(ListSource):
    """Is in the middle of reading until it is told to go on."""

    def segments(self) -> list[SegmentMark]:
        reached.set()
        assert go_on.wait(20)
        return super().segments()


reached, go_on = Event(), Event()


def test_a_namespace_that_loads_stops_no_other() -> None:
    cache, engine = IndexCache(None, "s"), engine_of(40)
    plain = engine.source()
    slow = Slow(plain.now, plain.sealed, plain.rows, plain.log, plain.vectors)
    loading = Thread(target=cache.snapshot, args=(1, 0, slow))
    loading.start()
    try:
        assert reached.wait(20)
        assert cache.snapshot(2, 0, plain).living == 40
    finally:
        go_on.set()
        loading.join()
    assert cache.snapshot(1, 0, plain).living == 40
