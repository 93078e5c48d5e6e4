"""Which lanes a store keeps in memory."""

from __future__ import annotations

from recollect.store.resident import Loaded, Resident


class Sized(Resident):
    def __init__(self, size: int) -> None:
        self.size = size


def test_of_too_many_passages_the_lanes_searched_longest_ago_are_given_up() -> None:
    loaded: Loaded[Sized] = Loaded(most=100)
    for namespace in (1, 2):
        loaded.keep(namespace, 0, Sized(50))
    first = loaded.take(1, 0)
    assert first is not None
    loaded.keep(1, 0, first)
    loaded.keep(3, 0, Sized(50))
    assert loaded.take(2, 0) is None
    assert loaded.take(1, 0) is first


def test_the_lane_that_is_searched_stays_however_large() -> None:
    loaded: Loaded[Sized] = Loaded(most=100)
    loaded.keep(1, 0, Sized(10))
    loaded.keep(2, 0, Sized(1000))
    assert loaded.take(1, 0) is None
    assert loaded.take(2, 0) is not None


def test_what_was_taken_and_not_put_back_is_gone() -> None:
    loaded: Loaded[Sized] = Loaded()
    loaded.keep(1, 0, Sized(1))
    assert loaded.take(1, 0) is not None
    assert loaded.take(1, 0) is None
