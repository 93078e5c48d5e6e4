"""Searches side by side, and by turns."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.store.index import threads
from recollect.store.index.threads import each, turn


def test_no_more_have_a_turn_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_turns", threading.BoundedSemaphore(2))
    inside, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2, timeout=10)

    def work(_: int) -> None:
        nonlocal inside, most
        with turn(), turn():  # a second one would wait for itself
            with lock:
                inside += 1
                most = max(most, inside)
            both.wait()
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert (most, inside) == (2, 0)


def test_a_turn_that_failed_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_turns", threading.BoundedSemaphore(1))
    for _ in range(2):  # the second would wait for ever
        with pytest.raises(ZeroDivisionError), turn():
            _ = 1 / 0


@pytest.mark.parametrize("together", [False, True])
def test_each_keeps_the_order(together: bool) -> None:
    assert each(str, range(100), together=together) == [str(n) for n in range(100)]
