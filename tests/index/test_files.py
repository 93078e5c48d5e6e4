"""Blocks in files are only ever a copy: missing, damaged or foreign ones are made again from the segments."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from recollect.index import files as files_module
from recollect.index.corpus import Corpus
from recollect.index.files import BlockFiles, plan
from recollect.index.source import SegmentMark
from tests.index.rows import ListEngine, made_rows
from tests.index.test_corpus import assert_is

Make = Callable[..., Corpus]


@pytest.fixture
def engine() -> ListEngine:
    """Two full blocks, smaller ones and a tail."""
    engine = ListEngine()
    engine.add(made_rows(170))
    for _ in range(20):
        engine.seal(8)
    return engine


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_process_that_starts_reads_files_and_hardly_any_segment(
    engine: ListEngine, corpus: Make, tmp_path: Path
) -> None:
    first = engine.source()
    corpus(tmp_path).snapshot(first)
    assert len(first.read) == 20
    ends = [(1, 64), (129, 136), (137, 144), (145, 152), (153, 160), (65, 128)]
    assert names(tmp_path) == [f"1-0-1-0-{a}-{b}.block" for a, b in ends]
    second = engine.source()
    assert_is(corpus(tmp_path).snapshot(second), second, list(engine.living))
    assert sum(number in second.read for number in range(1, 161)) == 20  # by the comparison alone


def test_files_are_their_owners_alone(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    corpus(tmp_path / "index").snapshot(engine.source())
    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "index").iterdir()} == {0o600}


@pytest.mark.parametrize("part", range(24))
def test_a_damaged_file_is_made_again(part: int, engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    corpus(tmp_path).snapshot(engine.source())
    path = tmp_path / "1-0-1-0-1-64.block"
    whole = path.read_bytes()
    at = len(whole) * part // 24
    path.write_bytes(whole[:at] + bytes(byte ^ 0x55 for byte in whole[at : at + 3]) + whole[at + 3 :])
    source = engine.source()
    snapshot = corpus(tmp_path).snapshot(source)
    if source.read:
        assert path.read_bytes() == whole
    else:  # a vector, or room between two arrays
        assert [p.block.number.tolist() for p in snapshot.parts] == [
            p.block.number.tolist() for p in corpus().snapshot(engine.source()).parts
        ]


@pytest.mark.parametrize("content", [b"", b"RcBk", b"no block at all", b"RcBk\xff\xff\xff\xff\x00\x00\x00\x00{}"])
def test_what_is_no_block_is_made_again(content: bytes, engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    corpus(tmp_path).snapshot(engine.source())
    path = tmp_path / "1-0-1-0-1-64.block"
    whole = path.read_bytes()
    path.write_bytes(content)
    source = engine.source()
    assert_is(corpus(tmp_path).snapshot(source), source, list(engine.living))
    assert path.read_bytes() == whole


def test_a_cut_file_is_made_again(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    corpus(tmp_path).snapshot(engine.source())
    path = tmp_path / "1-0-1-0-1-64.block"
    whole = path.read_bytes()
    path.write_bytes(whole[:-64])
    corpus(tmp_path).snapshot(engine.source())
    assert path.read_bytes() == whole


def test_another_layout_is_made_again(
    engine: ListEngine, corpus: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(files_module, "LAYOUT", 999)
        corpus(tmp_path).snapshot(engine.source())
    source = engine.source()
    corpus(tmp_path).snapshot(source)
    assert len(source.read) == 20


def test_the_files_of_another_store_are_not_read(engine: ListEngine, tmp_path: Path) -> None:
    """As after a backup was put back: the same place, the same numbers, other rows."""
    Corpus(BlockFiles(tmp_path, "one", 1, 0), 64).snapshot(engine.source())
    source = engine.source()
    Corpus(BlockFiles(tmp_path, "another", 1, 0), 64).snapshot(source)
    assert len(source.read) == 20


def test_files_of_an_earlier_state_are_removed(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    own = corpus(tmp_path)
    own.snapshot(engine.source())
    before = set(names(tmp_path))
    engine.kill([1])
    engine.compact()
    own.snapshot(engine.source())
    assert not before & set(names(tmp_path))


def test_smaller_blocks_go_when_a_full_one_holds_their_rows(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    corpus(tmp_path).snapshot(engine.source())
    engine.add(made_rows(60, 1, 300))
    for _ in range(5):
        engine.seal(10)
    own = corpus(tmp_path)
    while own.prepare(engine.source()):
        pass
    kept = [name.split("-", 4)[4] for name in names(tmp_path)]
    assert kept[:2] == ["1-64.block", "129-319.block"]
    assert "129-136.block" not in kept


def test_an_older_view_removes_nothing(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    older = engine.source()
    engine.kill([1])
    engine.compact()
    own = corpus(tmp_path)
    own.snapshot(engine.source())
    present = set(names(tmp_path))
    own.snapshot(older)
    assert present <= set(names(tmp_path))


def test_prepare_makes_one_file_at_a_time(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    own, counts = corpus(tmp_path), []
    while own.prepare(engine.source()):
        counts.append(len(names(tmp_path)))
    assert [*counts, len(names(tmp_path))] == [1, 2, 3, 4, 5, 6]
    source = engine.source()
    own.snapshot(source)
    assert source.read == []


def test_where_nothing_can_be_written_all_is_in_memory(engine: ListEngine, corpus: Make, tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file where the directory should be")
    source = engine.source()
    assert_is(corpus(tmp_path / "index").snapshot(source), source, list(engine.living))


def test_a_plan_is_the_same_whatever_comes_behind() -> None:
    chance = np.random.default_rng(0)
    marks = [SegmentMark(n * 100, n * 100 + 99, int(chance.integers(1, 20)), n) for n in range(200)]
    whole, _ = plan(marks, 64)
    for count in range(0, 200, 7):
        groups, rest = plan(marks[:count], 64)
        assert groups == whole[: len(groups)]
        assert sum(groups, []) + rest == marks[:count]  # noqa: RUF017
        assert all(sum(mark.count for mark in group) <= 64 for group in [*groups, rest])
