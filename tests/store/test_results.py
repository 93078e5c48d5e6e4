"""What was read is kept until something is written, by whom- and however, on every engine."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from datetime import timedelta

from recollect.record import new_id, stable_id
from recollect.store import Change, Lease, Space, Store
from recollect.store.change import Task
from recollect.store.results import Kept
from tests.store.builders import DEFAULT, branched, write


class Reader:
    """Reads what is kept of a space, and counts how often it had to look."""

    def __init__(self, space: Space) -> None:
        self._space, self._kept, self.looked = space, Kept(), 0

    def __call__(self) -> int:
        with self._space.view() as view:
            self._kept.of(view.stamp, "sizes", lambda: self._look(view.counts()))
        return self.looked

    def _look(self, found: object) -> object:
        self.looked += 1
        return found


def test_what_is_kept_holds_until_something_is_written(open_store: Callable[[], Store]) -> None:
    store, other = open_store(), open_store()
    whole, elsewhere = branched(), other.space(DEFAULT)
    write(store, whole)
    space, reads = store.space(DEFAULT), Reader(store.space(DEFAULT))
    assert [reads(), reads(), reads()] == [1, 1, 1]

    task = Task(id=stable_id("task"), kind="index")
    leases: list[Lease] = []
    steps: list[Callable[[], object]] = [
        lambda: space.write(Change(tasks=[task])),
        lambda: leases.extend(elsewhere.claim("worker", ["index"], 1, timedelta(minutes=1))),
        lambda: elsewhere.keep(leases[0], b"answer"),
        lambda: space.release(leases[0], "why", None),
        lambda: elsewhere.erase([whole.messages[0].id]),
    ]
    for number, step in enumerate(steps, 2):
        step()
        assert [reads(), reads()] == [number, number]


def test_two_readings_of_one_view_have_two_names(space: Space) -> None:
    kept = Kept()
    with space.view() as view:
        assert [kept.of(view.stamp, name, lambda name=name: name) for name in ("a", "b", "a")] == ["a", "b", "a"]


def test_no_more_is_kept_than_there_is_room_for(space: Space) -> None:
    kept, looked = Kept(), list[int]()
    with space.view() as view:
        for number in (*range(200), 0):
            kept.of(view.stamp, number, lambda number=number: looked.append(number))
    assert looked == [*range(200), 0]


def test_what_was_read_before_a_write_is_let_go(open_store: Callable[[], Store]) -> None:
    """Readings of earlier times are of no use, and may hold what was forgotten since."""
    store, kept = open_store(), Kept()
    space = store.space(DEFAULT)
    write(store, branched())
    read = []
    for _ in range(3):
        space.write(Change(tasks=[Task(id=new_id(), kind="index")]))
        with space.view() as view:
            reading = kept.of(view.stamp, "sizes", Reading)
            read.append(weakref.ref(reading))
            del reading
    gc.collect()
    assert [one() is None for one in read] == [True, True, False]


class Reading:
    """Something that was read."""
