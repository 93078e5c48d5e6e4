"""Searches by turns."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.runtime.processes import Turns

#: All turns are had when the process is forked.
_FORKED = """
import os, threading
from recollect.runtime.processes import _turns, turn
while _turns._free:
    threading.Thread(target=_turns._take).start()
if os.fork() == 0:
    with turn():
        os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_no_more_have_a_turn_than_there_are() -> None:
    turns = Turns(2)
    inside, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2, timeout=10)

    def work(_: int) -> None:
        nonlocal inside, most
        with turns.turn(), turns.turn():  # a second one would wait for itself
            with lock:
                inside += 1
                most = max(most, inside)
            both.wait()
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert (most, inside) == (2, 0)


def test_who_waits_has_the_next_turn_and_not_who_asks_again_at_once() -> None:
    turns, order = Turns(1), list[str]()

    def wait() -> None:
        with turns.turn():
            order.append("waiting")

    thread = threading.Thread(target=wait)
    with turns.turn():
        thread.start()
        while not turns._waiting:
            time.sleep(0.001)
    with turns.turn():
        order.append("again")
    thread.join()
    assert order == ["waiting", "again"]


def test_a_turn_that_failed_is_over() -> None:
    turns = Turns(1)
    for _ in range(2):  # the second would wait for ever
        with pytest.raises(ZeroDivisionError), turns.turn():
            _ = 1 / 0


@pytest.mark.parametrize("is_handed_over", [False, True])
def test_who_is_interrupted_while_waiting_takes_no_turn_along(
    is_handed_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(1)

    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if is_handed_over:
                turns._give()
            raise KeyboardInterrupt

    turns._take()
    with monkeypatch.context() as patched:
        patched.setattr("recollect.runtime.processes.threading.Event", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            turns._take()
    if not is_handed_over:
        turns._give()
    assert (turns._free, len(turns._waiting)) == (1, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", _FORKED], check=True, timeout=30)
