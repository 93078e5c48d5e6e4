"""A kill at each step of each task, then recovery: nothing is lost, done twice, or paid for twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.derive.tasks.worker import _decoded
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.record import Namespace, NodeKind
from recollect.store import Store
from tests.derive.mortal import Killed, Life, MortalStore
from tests.derive.workshop import Parrot, nodes, tasks, worker, write
from tests.paths import ROOT
from tests.store.builders import DEFAULT, Clock, talk

pytestmark = pytest.mark.slow

_MOST = 60  # steps


@pytest.mark.parametrize("last_is_taken", [False, True], ids=["before", "after"])
def test_a_kill_at_each_step_and_recovery(store: Store, clock: Clock, last_is_taken: bool) -> None:
    for steps in range(1, _MOST):
        own = Namespace(f"killed/{steps}")
        write(store.space(own), talk("a", "one", "two"))
        life, model = Life(steps, last_is_taken=last_is_taken), Parrot()
        try:
            worker(MortalStore(store, life), clock, model, concurrency=1).drain([own])  # type: ignore[arg-type]
        except Killed:
            clock.forward(minutes=3)
        kept = answers(life)
        again = Parrot()
        worker(store, clock, again, concurrency=1).drain([own])
        step = f"{life.taken[-1]} ({steps})"
        assert nodes(store, NodeKind.FACT, own) == {"one": 1, "two": 1}, step
        assert nodes(store, NodeKind.SUMMARY, own) == {"one & one": 1, "two & two": 1}, step
        assert set(nodes(store, NodeKind.TOPIC, own).values()) == {1}, step
        assert tasks(store, "due", own) == tasks(store, "leased", own) == tasks(store, "dead", own) == [], step
        assert set(model.asked.values()) <= {1}, step
        assert set(again.asked) == {"one", "two"} - kept, step
        if not life.is_over:
            assert {"claim", "keep", "write"} <= set(life.taken)
            return
    raise AssertionError("it never came to its end")


def answers(life: Life) -> set[str]:
    """The texts whose answers reached the store."""
    found = (_decoded(raw) for raw in life.kept)
    return {answer.data["text"].split(" & ")[0] for answer in found if answer}


def test_killed_twice_in_the_same_task(store: Store, clock: Clock) -> None:
    for first in range(2, 12, 3):
        for second in range(1, 10, 2):
            own = Namespace(f"killed/{first}/{second}")
            write(store.space(own), talk("a", "one"))
            kept: set[str] = set()
            for steps in (first, second, 1000):
                life, model = Life(steps, last_is_taken=True), Parrot()
                try:
                    worker(MortalStore(store, life), clock, model, concurrency=1).drain([own])  # type: ignore[arg-type]
                except Killed:
                    clock.forward(minutes=3)
                assert not kept & set(model.asked)
                kept |= answers(life)
            assert nodes(store, NodeKind.FACT, own) == {"one": 1}
            assert nodes(store, NodeKind.SUMMARY, own) == {"one & one": 1}


def test_processes_that_are_killed_beside_each_other(tmp_path: Path) -> None:
    place, log, dice = tmp_path / "memory.db", tmp_path / "log", random.Random(3)
    with_texts = [talk(f"t{n}", f"word {n}", f"and {n}") for n in range(40)]
    store = SQLiteStore(place)
    write(store.space(DEFAULT), *with_texts)

    def started() -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "tests.derive.laboring", str(place), str(log)]
        process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    for _ in range(5):
        both = [started(), started()]
        for process in both:
            time.sleep(dice.uniform(0, 0.25))
            process.kill()
            process.wait()
    until = time.monotonic() + 60
    while any(tasks(store, state) for state in ("due", "leased")) and time.monotonic() < until:
        both = [started(), started()]
        assert [process.wait(60) for process in both] == [0, 0]
        time.sleep(0.3)
    said = {text for n in range(40) for text in (f"word {n}", f"and {n}")}
    assert nodes(store, NodeKind.FACT) == dict.fromkeys(said, 1)
    assert nodes(store, NodeKind.SUMMARY) == dict.fromkeys((f"{text} & {text}" for text in said), 1)
    assert tasks(store, "dead") == []
    kept: set[str] = set()
    for line in log.read_text(encoding="utf-8").splitlines():
        what, _, text = line.partition(" ")
        assert what == "kept" or text not in kept, f"{text} was paid for twice"
        kept |= {text} if what == "kept" else set()
    store.close()
