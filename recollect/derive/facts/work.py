"""Tasks about facts: slots that a dump brought decisions or stored facts for, and what was stored before records."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.derive.facts.book import ClaimChanges, current_hands, settled
from recollect.derive.facts.by_hand import BY_HAND
from recollect.derive.facts.correct import entered_effects
from recollect.derive.facts.stored import ENTERED, MARK, must_be_entered, old_ones
from recollect.derive.tasks.base import Effects, Setting
from recollect.record import Node, NodeId, NodeKind, stable_id
from recollect.store import Space, Task, View

SETTLE = "settle"


def due(nodes: Iterable[Node]) -> list[Task]:
    """The tasks for decisions about facts, and for stored facts, that come in with a dump."""
    return [
        _task(node.id)
        for node in nodes
        if (node.kind is NodeKind.REPORT and node.state == BY_HAND) or must_be_entered(node)
    ]


def entering(space: Space) -> list[Task]:
    """The task for what was stored before there were records, if there is any."""
    with space.view() as view:
        return [_task(ENTERED)] if not view.get(Node, [ENTERED]) and old_ones(view) else []


def _task(subject: NodeId) -> Task:
    return Task(id=stable_id("task", SETTLE, subject), kind=SETTLE, subject=subject)


class SettleWork:
    """Settles a slot anew after a decision about it, or a stored fact, came in."""

    kind = SETTLE

    def group(self, task: Task) -> str:
        """By itself: a decision may move claims from one slot to another."""
        return ""

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The facts of the slot as they are now."""
        if task.subject == ENTERED:
            return entered_effects(view, old_ones(view), MARK)
        nodes = view.get(Node, [task.subject]) if task.subject else []
        told = [node for node in nodes if must_be_entered(node)]
        if told:
            return entered_effects(view, told)
        slots = [NodeId(node.body["slot"]) for node in nodes if node.state == BY_HAND and not node.erased]
        if not slots:
            return Effects()
        return settled(view, ClaimChanges(hands=current_hands(view, slots)))
