"""What is written behind an answer."""

from __future__ import annotations

from threading import Event

import pytest

from recollect.errors import StoreError
from recollect.record import Namespace, NodeId
from recollect.runtime.behind import TurnWriter, wait_for


def test_what_failed_behind_an_answer_is_told_though_a_later_turn_was_written() -> None:
    behind, may_fail = TurnWriter("somewhere", Namespace("default")), Event()

    def fails() -> None:
        may_fail.wait(10)
        raise StoreError("The disk is full.")

    behind.write(NodeId("C"), fails)
    behind.write(NodeId("C"), lambda: None)
    may_fail.set()
    with pytest.raises(StoreError, match="full"):
        behind.settle(NodeId("C"))
    behind.settle(NodeId("C"))
    behind.close()


def test_whoever_waits_for_a_namespace_waits_for_no_other() -> None:
    slow, may_end = TurnWriter("somewhere", Namespace("slow")), Event()
    slow.write(NodeId("C"), lambda: may_end.wait(10) and None)
    wait_for("somewhere", Namespace("quick"))
    wait_for("elsewhere")
    may_end.set()
    wait_for("somewhere")
    slow.close()
