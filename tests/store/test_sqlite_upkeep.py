"""Upkeep of the embedded engine: when it seals, compacts and sweeps, in what steps, and what a write costs."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.engines.sqlite import source
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.record import NodeId, stable_id
from recollect.store import Change, IndexChange, Mark
from recollect.store.passages import EmbedderId
from tests.store.builders import (
    DEFAULT,
    change_of,
    embedder_id,
    holding,
    index_of,
    passages_of,
    quality_of,
    query,
    talk,
)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def asked(path: Path, statement: str) -> Any:
    with closing(apsw.Connection(str(path))) as connection:
        return connection.execute(statement).get


def many(count: int, name: str = "t") -> list[Any]:
    return [talk(f"{name}{i}", *(f"heron {i} {j}" for j in range(50))) for i in range(count // 50)]


def test_a_write_never_seals(path: Path) -> None:
    """S20: a segment is made by upkeep; no user's write waits for it."""
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    space.write(change_of(*many(5000)))
    assert asked(path, "SELECT count(*) FROM segment") == 0
    while space.maintain(timedelta(seconds=30)):
        pass
    assert (
        asked(
            path, "SELECT json_group_array(count) FROM (SELECT count FROM segment WHERE partition = 0 ORDER BY first)"
        )
        == "[2048,2048,904]"
    )
    space.write(change_of(*many(200, "more")))
    assert not space.maintain(timedelta(seconds=30))  # too few to be worth one
    assert asked(path, "SELECT count(*) FROM segment WHERE partition = 0") == 3
    assert space.check() == []
    store.close()


def test_a_budget_is_kept_and_the_rest_is_told(path: Path) -> None:
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    space.write(change_of(*many(10_000)))
    began = time.monotonic()
    assert space.maintain(timedelta(milliseconds=1))
    assert time.monotonic() - began < 2
    assert asked(path, "SELECT count(*) FROM segment") >= 1
    while space.maintain(timedelta(milliseconds=1)):
        pass
    assert asked(path, "SELECT count(*) FROM tail WHERE partition = 0") < 256
    store.close()


def test_what_died_is_compacted_step_by_step_while_others_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_DEATHS", 100)
    store, other = SQLiteStore(path), SQLiteStore(path)
    space = store.space(DEFAULT)
    threads = many(6000)
    space.write(change_of(*threads))
    while space.maintain(timedelta(seconds=30)):
        pass
    dead = [m.id for t in threads[:60] for m in t.messages]
    space.write(Change(mark=[Mark(ids=dead, deleted=True)]))
    assert asked(path, "SELECT count(*) FROM death") == 3000
    epoch = asked(path, "SELECT epoch FROM index_state WHERE partition = 0")
    space.maintain(timedelta(microseconds=1))  # one segment is written anew, beside the old one
    assert asked(path, "SELECT count(*) FROM segment WHERE state = 0") == 1
    assert len(holding(other.space(DEFAULT), "heron 99 7")) == 1
    late = [m.id for t in threads[100:102] for m in t.messages]
    other.space(DEFAULT).write(Change(mark=[Mark(ids=late, deleted=True)]))
    other.space(DEFAULT).write(change_of(*many(3000, "late")))
    while space.maintain(timedelta(seconds=30)):
        pass
    assert asked(path, "SELECT epoch FROM index_state WHERE partition = 0") == epoch + 1
    assert asked(path, "SELECT count(*) FROM death") == 100  # those that came meanwhile
    assert asked(path, "SELECT sum(count) FROM segment WHERE partition = 0") == 6000
    assert asked(path, "SELECT count(*) FROM segment_data") == asked(path, "SELECT count(*) FROM segment")
    for one in (store, other):
        with one.space(DEFAULT).view() as view:
            assert view.candidates(query("heron", pool=9999)).size == 5900
    assert space.check() == []
    store.close()
    other.close()


def test_an_erasing_between_the_steps_of_a_compaction_is_not_undone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MOST_DEATHS", 100)
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    threads = many(6000)
    space.write(change_of(*threads))
    while space.maintain(timedelta(seconds=30)):
        pass
    space.write(Change(mark=[Mark(ids=[m.id for t in threads[:60] for m in t.messages], deleted=True)]))
    space.maintain(timedelta(microseconds=1))
    assert asked(path, "SELECT count(*) FROM segment WHERE state = 0") == 1
    space.erase([threads[0].conversation.id, threads[119].conversation.id])
    assert asked(path, "SELECT count(*) FROM segment WHERE state = 0") == 0
    while space.maintain(timedelta(seconds=30)):
        pass
    with space.view() as view:
        assert view.candidates(query("heron", pool=9999)).size == 2950
    assert asked(path, "SELECT sum(count) FROM segment WHERE partition = 0") == 2950
    assert space.check() == []
    store.close()


def test_an_old_generation_is_swept_in_short_transactions(path: Path) -> None:
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    threads = many(5000)
    space.write(change_of(*threads))
    while space.maintain(timedelta(seconds=30)):
        pass
    other = EmbedderId("other@1", 256)
    number = space.generation("begin", other)
    index = index_of([p for t in threads for p in passages_of(t)])
    space.write(Change(index=replace(index, embedder=other, generation=number)))
    space.generation("publish")
    assert asked(path, "SELECT count(*) FROM generation") == 2
    longest = 0.0
    while True:
        began = time.perf_counter()
        more = space.maintain(timedelta(microseconds=1))
        longest = max(longest, time.perf_counter() - began)
        if not more:
            break
    assert longest < 1.0
    assert asked(path, "SELECT count(*) FROM generation") == 1
    for table in ("passage", "words", "run_vector"):
        assert asked(path, f"SELECT count(*) FROM {table}") <= asked(path, "SELECT count(*) FROM passage"), table
    assert asked(path, "SELECT count(*) FROM passage") == 5100
    assert space.check() == []
    store.close()


def test_what_a_write_costs_does_not_depend_on_what_is_there(path: Path) -> None:
    """S17, S20: no statement of an append reads what grows. Counted in steps of SQLite's machine, not in time."""
    store = SQLiteStore(path, durable=False)
    space = store.space(DEFAULT)
    # A long conversation with a branch, and much beside it.
    whole = talk("long", *(f"message {i}" for i in range(60)))

    def cost(name: str) -> int:
        with store.database.alone() as connection:
            work = 0

            def count() -> bool:
                nonlocal work
                work += 1
                return False

            connection.set_progress_handler(count, 100)
        message = replace(
            whole.messages[0], id=stable_id(name), content="one more", position=count_of(), source_id=name
        )
        passages = passages_of(replace(whole, messages=(message,)), titled=False)
        space.write(Change(put=[whole.conversation, message], index=index_of(passages)))
        with store.database.alone() as connection:
            connection.set_progress_handler(None, 100)
        return work

    def count_of() -> int:
        with space.view() as view:
            end = view.end(whole.conversation.id)
        assert end is not None
        return end.message_count

    space.write(change_of(whole))
    few = min(cost(f"few {i}") for i in range(5))
    space.write(change_of(*many(10_000)))
    grown = talk("long", *(f"message {i}" for i in range(60)))
    more = [
        replace(grown.messages[0], id=NodeId(f"more {i}"), position=count_of() + i, parent_id=grown.messages[3].id)
        for i in range(3000)
    ]
    space.write(Change(put=more))
    many_more = min(cost(f"many {i}") for i in range(5))
    assert many_more <= few * 2 + 20
    store.close()


WORKER = """
import random, sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from recollect.store import Change, IndexChange, Mark
from recollect.store.passages import EmbedderId
from recollect.engines.sqlite import source
from recollect.engines.sqlite.engine import SQLiteStore
from tests.store.builders import *
source.MOST_DEATHS = 50
rng = random.Random(int(sys.argv[2]))
store = SQLiteStore(Path(sys.argv[1]))
space = store.space(DEFAULT)
print("go", flush=True)
while True:
    name = f"k{rng.randrange(40)}"
    whole = talk(name, *(f"heron {name} {j}" for j in range(rng.choice([2, 40, 300]))))
    what = rng.randrange(8)
    try:
        if what < 3:
            space.write(change_of(whole))
            print("written", whole.conversation.id, len(whole.messages), flush=True)
        elif what == 3:
            space.write(Change(mark=[Mark(ids=[whole.messages[0].id], deleted=True)]))
        elif what == 4:
            space.erase([talk(f"e{rng.randrange(5)}", "x").conversation.id])
        elif what == 5:
            number = space.generation("begin", embedder_id())
            with space.view() as view:
                thread = view.thread(whole.conversation.id)
            if thread is not None:
                space.write(Change(index=index_of(passages_of(thread), generation=number)))
            if rng.random() < 0.5:
                space.generation("drop")
        elif what == 6:
            with space.view() as view:
                rows = quality_of(view.unembedded(20))
            space.write(Change(index=IndexChange(quality=rows)))
        else:
            space.maintain(timedelta(milliseconds=200))
    except LookupError:
        pass
"""


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_nothing_is_lost_or_left_half(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    space.write(change_of(*(talk(f"e{i}", f"egret {i}", "and more") for i in range(5))))
    store.close()
    promised: dict[str, int] = {}
    for attempt in range(3):
        command = [sys.executable, "-c", WORKER, str(path), str(seed * 100 + attempt)]
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.uniform(0.2, 1.5))
        child.send_signal(signal.SIGKILL)
        for line in child.stdout.read().splitlines():
            if line.startswith("written ") and len(line.split()) == 3:
                _, written, count = line.split()
                promised[written] = max(promised.get(written, 0), int(count))
        child.wait()
        store = SQLiteStore(path)
        space = store.space(DEFAULT)
        assert space.check() == []
        with space.view() as view:
            sizes = view.sizes([NodeId(name) for name in promised])
            found = {name: sizes[NodeId(name)][1] for name in promised}
            more = [name for name, count in promised.items() if found[name] != count]
            assert len(more) <= 1, "but for the write under way, which may be in without being acknowledged"
            assert all(found[name] > promised[name] for name in more)
            promised |= found
            if view.index().generation:
                features = view.candidates(query("heron"))
                assert features.size == view.counts().said_passages
        store.close()
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    space.generation("drop")
    while space.maintain(timedelta(seconds=30)):
        pass
    assert space.check() == []
    store.close()


def test_a_quality_count_never_goes_below_nothing(path: Path) -> None:
    store = SQLiteStore(path)
    space = store.space(DEFAULT)
    whole = talk("a", *(f"heron {i}" for i in range(6)))
    space.write(change_of(whole))
    with space.view() as view:
        space.write(Change(index=IndexChange(quality=quality_of(view.unembedded(6)))))
    space.erase([whole.conversation.id])
    assert asked(path, "SELECT passages FROM piece_count") == 0
    assert asked(path, "SELECT counts = zeroblob(length(counts)) FROM piece_count") == 1
    assert embedder_id() is not None
    store.close()
