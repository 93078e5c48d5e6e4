"""What is written behind an answer."""

from __future__ import annotations

import os
import signal
from threading import Event

import pytest

from recollect.errors import StoreError
from recollect.runtime.behind import TurnWriter, wait_for


def test_what_failed_behind_an_answer_is_told_though_a_later_turn_was_written() -> None:
    behind, may_fail = TurnWriter("somewhere", "default"), Event()

    def fails() -> None:
        may_fail.wait(10)
        raise StoreError("The disk is full.")

    behind.write("C", fails)
    behind.write("C", lambda: None)
    may_fail.set()
    with pytest.raises(StoreError, match="full"):
        behind.settle("C")
    behind.settle("C")
    behind.close()


def test_whoever_waits_for_a_namespace_waits_for_no_other() -> None:
    slow, may_end = TurnWriter("somewhere", "slow"), Event()

    def ends() -> None:
        may_end.wait(10)

    slow.write("C", ends)
    wait_for("somewhere", "quick")
    wait_for("elsewhere")
    may_end.set()
    wait_for("somewhere")
    slow.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_what_its_parent_writes() -> None:
    slow, may_end = TurnWriter("somewhere", "default"), Event()
    slow.write("C", lambda: may_end.wait(10) and None)
    child = os.fork()
    if not child:
        signal.alarm(5)  # ends it
        wait_for("somewhere")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    may_end.set()
    slow.close()
