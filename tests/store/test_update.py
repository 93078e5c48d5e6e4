"""Writing what was planned, planned again where others were faster."""

from __future__ import annotations

import pytest

from recollect.errors import StoreBusy
from recollect.record import Conversation, NodeId
from recollect.store import Change, Space, Stale
from recollect.store import update as module
from recollect.store.update import insist, update


def test_work_is_done_again_until_nobody_was_faster() -> None:
    tries, pauses = iter([Stale(["a"]), Stale(["a"]), None]), list[float]()

    def work() -> str:
        if (problem := next(tries)) is not None:
            raise problem
        return "done"

    assert insist(work, "This is", sleep=pauses.append, uniform=lambda low, high: high) == "done"
    assert len(pauses) == 2


def test_somebody_who_is_always_late_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", -1.0)

    def work() -> None:
        raise Stale(["a"])

    with pytest.raises(StoreBusy, match="This is being changed by other processes all the time"):
        insist(work, "This is")


def test_a_plan_is_made_on_a_view_and_written_unless_there_is_nothing_to_write(space: Space) -> None:
    talk = Conversation(NodeId("c"), "claude", title="Harbour")
    assert update(space, lambda view: (Change(put=[talk]), view.counts().conversations), "This is") == 0
    assert update(space, lambda view: (None, view.counts().conversations), "This is") == 1
