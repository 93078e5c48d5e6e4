"""Tasks about facts: slots that a dump brought decisions for, and what a language model draws from messages."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.derive.facts.book import Ledger, current_hands, settled
from recollect.derive.facts.by_hand import BY_HAND
from recollect.derive.tasks.base import Effects, Setting
from recollect.record import Node, NodeId, NodeKind, stable_id
from recollect.store import Task, View

SETTLE = "settle"


def due(nodes: Iterable[Node]) -> list[Task]:
    """The tasks for decisions about facts that come in with a dump."""
    return [
        Task(id=stable_id("task", SETTLE, node.id), kind=SETTLE, subject=node.id)
        for node in nodes
        if node.kind is NodeKind.REPORT and node.state == BY_HAND
    ]


class SettleWork:
    """Settles a slot anew after a decision about it came in."""

    kind = SETTLE

    def group(self, task: Task) -> str:
        """By itself: a decision may move claims from one slot to another."""
        return ""

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The facts of the slot as they are now."""
        nodes = view.get(Node, [task.subject]) if task.subject else []
        slots = [NodeId(node.body["slot"]) for node in nodes if node.state == BY_HAND and not node.erased]
        if not slots:
            return Effects()
        return settled(view, Ledger(hands=current_hands(view, slots)))
