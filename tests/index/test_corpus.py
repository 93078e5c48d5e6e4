"""What is loaded is what is stored: whatever happened in between, whoever read it, in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.errors import StoreBusy
from recollect.index.candidates import candidates
from recollect.index.corpus import Corpus, IndexCache
from recollect.index.files import BlockFiles
from recollect.index.snapshot import Snapshot
from recollect.index.source import IndexState, SegmentMark, TailRow
from recollect.store.change import IndexDamaged
from recollect.store.passages import CandidateQuery, Partition
from tests.index.conftest import TINY
from tests.index.rows import QUALITY_SIZE, SIZE, ListEngine, ListSource, made_rows, row
from tests.index.test_candidates import unit
from tests.properties import examples

Make = Callable[..., Corpus]

QUERY = CandidateQuery(
    partition=Partition.SAID,
    terms=((("w0", 1.0),), (("w3", 1.0), ("w5", 0.6))),
    vector=unit(SIZE, 1),
    similarity=unit(QUALITY_SIZE, 2),
)


def living(snapshot: Snapshot) -> list[int]:
    """The numbers of the living rows."""
    alive = [p.block.number if p.alive is None else p.block.number[p.alive] for p in snapshot.parts]
    return [int(number) for own in alive for number in own]


def assert_is(snapshot: Snapshot, source: ListSource, numbers: list[int]) -> None:
    """That a snapshot is what a process that starts now would read, and answers as that does."""
    fresh = Corpus(BlockFiles(None, "", 1, 0), TINY).snapshot(source)
    assert snapshot.state == source.now
    assert living(snapshot) == living(fresh) == numbers
    assert snapshot.living == len(numbers)
    assert snapshot.statistics.length == fresh.statistics.length
    assert snapshot.statistics.log_squares == pytest.approx(fresh.statistics.log_squares)
    assert snapshot.years() == fresh.years()
    if numbers:
        assert snapshot.statistics.moments.squares == pytest.approx(fresh.statistics.moments.squares, abs=1e-4)
    found, expected = candidates(snapshot, source, QUERY), candidates(fresh, source, QUERY)
    for name in (
        "passages",
        "neighbours",
        "bm25",
        "dense_z",
        "similarity",
        "session_similarity",
        "holds",
        "frequencies",
    ):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-3), name


step = st.one_of(
    st.tuples(st.just("add"), st.integers(1, 40)),
    st.tuples(st.just("seal"), st.integers(5, 40)),
    st.tuples(st.just("kill"), st.integers(0, 10_000)),
    st.tuples(st.just("quality"), st.integers(0, 10_000)),
    st.just(("compact", 0)),
    st.tuples(st.just("read"), st.integers(0, 5)),  # some states ago
)


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, min_size=3, max_size=30), on_disk=st.booleans())
def test_any_reader_sees_what_its_state_holds(steps: list[tuple[str, int]], on_disk: bool, tmp_path: Path) -> None:
    directory = tmp_path / str(hash(str(steps))) if on_disk else None
    corpus = Corpus(BlockFiles(directory, "a store", 1, 0), TINY)
    engine, past = ListEngine(), list[tuple[ListSource, list[int]]]()
    for seed, (what, how) in enumerate([*steps, ("read", 0), ("read", 1), ("read", 0)]):
        if what == "add":
            engine.add(made_rows(how, seed, engine.state.last + 2))
        elif what == "seal":
            engine.seal(how)
        elif what == "kill":
            engine.kill([number for number in engine.living if (number * 31 + how) % 7 == 0])
        elif what == "quality":
            engine.add_quality([number for number in engine.living if (number * 17 + how) % 3 == 0])
        elif what == "compact":
            engine.compact()
        past.append((engine.source(), list(engine.living)))
        if what == "read":
            source, numbers = past[max(0, len(past) - 1 - how)]
            assert_is(corpus.snapshot(source), source, numbers)


def test_a_snapshot_stays_as_it_was(corpus: Make) -> None:
    own, engine = corpus(), ListEngine()
    engine.add(made_rows(100))
    source = engine.source()
    snapshot = own.snapshot(source)
    before = candidates(snapshot, source, QUERY)
    engine.kill([1, 5, 50])
    engine.add(made_rows(30, 1, 200))
    engine.seal(80)
    own.snapshot(engine.source())
    after = candidates(snapshot, source, QUERY)
    assert np.array_equal(before.passages, after.passages)
    assert np.array_equal(before.bm25, after.bm25)


def test_an_older_view_spoils_nothing_for_a_newer_one(corpus: Make) -> None:
    """S2: a view from before a segment was sealed is read after that; the segment's words stay findable."""
    own, engine = corpus(), ListEngine()
    engine.add(made_rows(100))
    older = engine.source()
    engine.add([row(500 + n, {"kumquat": 1}) for n in range(60)])
    engine.seal(80)
    engine.seal(80)
    query = replace(QUERY, terms=((("kumquat", 1.0),),))
    newer = engine.source()
    assert candidates(own.snapshot(newer), newer, query).frequencies.tolist() == [60]
    assert candidates(own.snapshot(older), older, query).frequencies.tolist() == [0]
    assert candidates(own.snapshot(newer), newer, query).frequencies.tolist() == [60]


def test_written_and_deleted_by_another_process_between_two_searches(corpus: Make) -> None:
    """S12: the row that came and died is not found."""
    own, engine = corpus(), ListEngine()
    engine.add(made_rows(20))
    engine.seal(10)
    own.snapshot(engine.source())
    engine.add([row(100, {"kumquat": 1}), row(101, {"kumquat": 1})])
    engine.seal(50)
    engine.kill([100])
    source = engine.source()
    found = candidates(own.snapshot(source), source, replace(QUERY, terms=((("kumquat", 1.0),),)))
    assert 100 not in found.passages
    assert found.frequencies.tolist() == [1]


def test_an_append_reads_only_what_is_new(corpus: Make) -> None:
    own, engine = corpus(), ListEngine()
    engine.add(made_rows(300))
    for _ in range(9):
        engine.seal(32)
    own.snapshot(engine.source())
    engine.add(made_rows(3, 1, 400))
    engine.kill([7])
    source = engine.source()
    before = own.snapshot(source)
    assert source.read == []
    assert len(source.rows_read) == 3
    assert sum(part.block.size for part in before.parts) == 303


def test_small_appends_leave_few_blocks(corpus: Make) -> None:
    own, engine = corpus(rows=1024), ListEngine()
    for number in range(1, 200):
        engine.add([row(number, {"word": 1})])
        snapshot = own.snapshot(engine.source())
        assert len(snapshot.parts) <= 10
    assert living(snapshot) == list(range(1, 200))


def test_other_rows_of_a_rewritten_segment_are_read_again(corpus: Make, tmp_path: Path) -> None:
    own, engine = corpus(tmp_path), ListEngine()
    engine.add(made_rows(200))
    for _ in range(6):
        engine.seal(32)
    own.snapshot(engine.source())
    engine.kill([3, 64, 130])
    engine.compact()
    source = engine.source()
    snapshot = own.snapshot(source)
    assert len(source.read) == 6
    assert_is(snapshot, source, list(engine.living))


def test_a_damaged_segment_is_named(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(20))
    engine.seal(20)
    mark, data = engine.sealed[1]
    engine.sealed[1] = (mark, data[:-1] + b"?")
    with pytest.raises(IndexDamaged, match="of passages 1 to 20"):
        corpus().snapshot(engine.source())


def test_damaged_rows_of_the_tail_are_named(corpus: Make) -> None:
    engine = ListEngine()
    rows = made_rows(3)
    engine.add([rows[0], TailRow(2, rows[1].columns[:-1], rows[1].vector, {}), rows[2]])
    with pytest.raises(IndexDamaged, match="Passages 1 to 3"):
        corpus().snapshot(engine.source())
    engine = ListEngine()
    engine.add([rows[0], TailRow(2, rows[1].columns, rows[1].vector[:-1], {})])
    with pytest.raises(IndexDamaged):
        corpus().snapshot(engine.source())


class _Moving(ListSource):
    """A source whose statements see what is committed meanwhile: rows are sealed between reading marks and the tail."""

    engine: ListEngine
    moves: int

    def __init__(self, engine: ListEngine, moves: int) -> None:
        self.__dict__["engine"], self.__dict__["moves"] = engine, moves
        self.__dict__["rows_read"] = list[int]()

    def __getattribute__(self, name: str) -> object:
        if name in ("now", "sealed", "rows", "log", "vectors"):
            return getattr(object.__getattribute__(self, "engine").source(), name)
        return object.__getattribute__(self, name)

    def state(self) -> IndexState:
        return self.engine.state

    def segments(self) -> Sequence[SegmentMark]:
        found = list(super().segments())
        if self.moves:
            self.__dict__["moves"] -= 1
            self.move()
        return found

    def move(self) -> None:
        """What is committed between the marks and the rows."""
        self.engine.seal(10)

    def segment(self, first: int) -> bytes:
        return self.engine.sealed[first][1]


def test_rows_that_are_sealed_while_they_are_read_are_not_lost(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(100))
    snapshot = corpus().snapshot(_Moving(engine, 2))
    assert living(snapshot) == list(engine.living)


class _Compacted(_Moving):
    """One whose segments are compacted between listing and reading them."""

    def move(self) -> None:
        self.engine.kill([max(self.engine.living)])
        self.engine.compact()


def test_a_segment_that_is_compacted_while_it_is_read_is_not_damaged(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(20))
    engine.seal(20)
    snapshot = corpus().snapshot(_Compacted(engine, 2))
    assert living(snapshot) == list(engine.living) == list(range(1, 19))


def test_what_never_stands_still_is_given_up(corpus: Make) -> None:
    engine = ListEngine()
    engine.add(made_rows(100))
    with pytest.raises(StoreBusy):
        corpus().snapshot(_Moving(engine, 9))


def test_many_threads_may_search_while_rows_come(corpus: Make) -> None:
    own, engine, failures = corpus(), ListEngine(), list[Exception]()
    states = []
    for n in range(12):
        engine.add(made_rows(20, n, engine.state.last + 1))
        engine.kill([number for number in engine.living if number % 11 == n])
        if n % 3 == 0:
            engine.seal(40)
        states.append((engine.source(), list(engine.living)))

    def search(seed: int) -> None:
        try:
            for place in np.random.default_rng(seed).permutation(len(states)).tolist():
                source, numbers = states[place]
                assert living(own.snapshot(source)) == numbers
        except Exception as failure:
            failures.append(failure)

    threads = [Thread(target=search, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# What a store keeps loaded: bounded, by namespace, and without anybody waiting for somebody else.


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
