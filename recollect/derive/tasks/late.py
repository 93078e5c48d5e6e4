"""A model that comes late: what was made without one before it was set is asked about once it is there.

A node of the namespace notes that everything was put before a model, and by which prompts. It is taken back when
conversations are derived without one.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect.derive.tasks.cursor import CURSOR
from recollect.derive.tasks.enrol import enrol
from recollect.derive.tasks.outbox import CONVERSATION
from recollect.models.language.prompts import DERIVING, prompt
from recollect.record import Node, NodeKind, stable_id
from recollect.store import Change, Space, View, Where

_NOTE = stable_id("consolidation", "late")
_ASKED, _LATE = "asked", "late"
_MANY = 10_000


def catch_up(space: Space, versions: Mapping[str, int]) -> bool:
    """Has all conversations that were derived without a model derived anew, for facts and entities to be asked about;
    returns whether there were any. Summaries know by themselves (summaries/tasks.py).

    Nothing is asked twice: what a model was asked about is known by its words and the version of the prompt.
    Interrupted, it is simply done again.
    """
    prompts = sorted(prompt(name).id for name in DERIVING)
    with space.view() as view:
        if _noted(view, prompts):
            return False
        derived = bool(view.find(Node, Where(kinds=(NodeKind.REPORT,), states=(CURSOR,)), limit=1).items)
    if derived:
        enrol(space, versions, again=True)
    note = Node(_NOTE, NodeKind.REPORT, state=_ASKED, body={"prompts": prompts})
    space.write(Change(put=[note], revive=True, begins=False))
    return derived


def is_late(view: View) -> bool:
    """Whether a model would have to catch up with what was derived without one."""
    return not _noted(view, sorted(prompt(name).id for name in DERIVING))


def work_without(space: Space) -> None:
    """To be called before conversations are derived without a model: one that comes later has to catch up."""
    with space.view() as view:
        noted = view.get(Node, [_NOTE])
        if not noted or noted[0].state != _ASKED or not _is_any_due(view):
            return
    space.write(Change(put=[Node(_NOTE, NodeKind.REPORT, state=_LATE)], revive=True, begins=False))


def _noted(view: View, prompts: list[str]) -> bool:
    found = view.get(Node, [_NOTE])
    return bool(found) and found[0].state == _ASKED and found[0].body.get("prompts") == prompts


def _is_any_due(view: View) -> bool:
    return any(task.kind == CONVERSATION for task, _ in view.tasks("due", _MANY))
