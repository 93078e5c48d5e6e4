"""Short conversations summarised together [1]: their sessions are cut into runs as one long conversation would be.

It is a fold over the sessions of the namespace in the order in which they ended. Each keeps what waited behind it and
which summaries it completed. So the fold goes on from the one before whatever has changed, and stops where it leaves
behind what it left before: nothing else of the namespace is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.derive.summaries.levels import strategic, tactical
from recollect.derive.summaries.nodes import L2, covering, gone, no_more, put, renewed
from recollect.derive.summaries.policy import DEFAULT, Policy
from recollect.derive.summaries.segmentation import segment
from recollect.derive.summaries.sessions import TOGETHER, Note, placing, unplaced
from recollect.derive.summaries.tasks import better, not_asked, wished
from recollect.derive.tasks.base import LIVE, Effects, Setting
from recollect.derive.tasks.outbox import CONVERSATION
from recollect.models.embedding.base import Embedder
from recollect.record import Message, Node, NodeId, to_microseconds
from recollect.store import Task, View

_AT_ONCE = 200  # sessions in one change
_OVER = 30  # sessions: as many as a strategic summary can reach over
_PILE = 16  # conversations that wait: they are gone through first
_MANY = 10_000


@dataclass(slots=True)
class _Fold:
    """Where it stands, and what it has made. `new` are messages behind all changes, and tactical summaries of these."""

    waiting: tuple[Message, ...]
    tactical: list[Node]
    made: list[tuple[Node, list[NodeId]]] = field(default_factory=list)  # with what each covers
    made_before: list[NodeId] = field(default_factory=list)
    carried: set[NodeId] = field(default_factory=set)  # tactical summaries from before that a model has written
    sessions: list[Node] = field(default_factory=list)
    new: set[NodeId] = field(default_factory=set)

    @classmethod
    def behind(cls, view: View, session: Node | None) -> _Fold | None:
        """Behind a session that was placed; None where something of it has changed, and its conversation is still to
        be derived: that puts the task again.
        """
        if session is None:
            return cls((), [])
        after = session.body["after"]
        tactical = view.get(Node, after["tactical"])
        if any(node.erased or node.state != LIVE for node in tactical):
            return None
        written = {node.id for node in tactical if not node.body["extractive"]}
        return cls(tuple(_counting(view, after["waiting"])), tactical, carried=written)

    def after(self) -> dict[str, Any]:
        """What is left for the next session."""
        return {"waiting": [one.id for one in self.waiting], "tactical": [one.id for one in self.tactical]}

    def is_settled(self, before: Any) -> bool:
        """Whether all that comes would be made as it was made before."""
        after = self.after()
        return before == after and {*after["waiting"], *after["tactical"]} <= self.new


class Together:
    """The work. Done again it gives the same, or what has become of it meanwhile."""

    kind = TOGETHER

    def __init__(self, embedder: Embedder, policy: Policy = DEFAULT) -> None:
        self._embedder, self._policy = embedder, policy

    def group(self, task: Task) -> str:
        """By itself: there is one of them."""
        return ""

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The summaries of sessions that have ended, as far as any has changed."""
        if _is_piled(view, setting.now):
            return Effects(tasks=[placing()])
        note = Note.read(view)
        fold = None if note.since is None else _Fold.behind(view, note.before(view, note.since))
        if fold is None:
            return Effects()
        ended = to_microseconds(setting.now - self._policy.session_gap) or 0
        left = self._go_on(view, fold, note, ended, setting.now)
        going_on = next((one for one in note.ordered(view, ended + 1) if "after" not in one.body), None)
        then = note.from_(left or going_on)
        old = {node.id: node for node in view.get(Node, [node.id for node, _ in fold.made])}
        nodes = put([node for node, _ in fold.made], old)
        late = not_asked(view) if nodes and setting.model is None else []
        away = [one for one in dict.fromkeys(fold.made_before) if one not in old.keys() | {n.id for n, _ in fold.made}]
        tasks = [*self._asked(fold, old, setting), *([placing()] if left else [])]
        if going_on is not None and going_on.valid_from is not None:
            tasks.append(placing(going_on.valid_from + self._policy.session_gap))
        return Effects(
            put=[
                *nodes,
                *late,
                *gone(view.get(Node, away), ()),
                *fold.sessions,
                *([then.node()] if then != note else []),
            ],
            edges=[edge for node, covered in fold.made for edge in covering(node.id, covered)],
            cut=no_more(view, away),
            tasks=tasks,
        )

    def _go_on(self, view: View, fold: _Fold, note: Note, ended: int, now: datetime) -> Node | None:
        """Until nothing is different any more. The session that it has to go on from, where that is far."""
        assert note.since is not None
        assert note.until is not None
        left: Node | None = None
        for number, session in enumerate(self._ended(note.ordered(view, note.since), ended)):
            fold.made_before += session.body.get("made", ())
            if (
                number >= _AT_ONCE
            ):  # what reaches over what has changed goes at once, and is made again by the next task
                left = left or session
                fold.sessions.append(unplaced(session))
                if number >= _AT_ONCE + _OVER:
                    break
                continue
            is_new = (to_microseconds(session.valid_from) or 0) > note.until
            made = self._place(view, fold, session, now, is_new=is_new)
            placed = replace(session, body={**session.body, "after": fold.after(), "made": made})
            if placed.body != session.body:
                fold.sessions.append(placed)
            if is_new and fold.is_settled(session.body.get("after")):
                break
        return left

    def _ended(self, sessions: Iterator[Node], ended: int) -> Iterator[Node]:
        """Those that have ended; also by a clock that has gone back since."""
        return (one for one in sessions if "after" in one.body or (to_microseconds(one.valid_from) or 0) <= ended)

    def _place(self, view: View, fold: _Fold, session: Node, now: datetime, *, is_new: bool) -> list[NodeId]:
        """Takes a session in; the ids of the summaries that it completes."""
        messages = _counting(view, session.body["messages"])
        if is_new:
            fold.new |= {message.id for message in messages}
        runs, fold.waiting = segment([*fold.waiting, *messages], self._policy, self._embedder)
        begun = len(fold.made)
        for run in runs:
            covered = [message.id for exchange in run for message in exchange]
            node = tactical(run, None, None, now, self._policy, self._embedder)
            if fold.new.issuperset(covered):
                fold.new.add(node.id)
            fold.made.append((node, covered))
            fold.tactical.append(node)
            if len(fold.tactical) == self._policy.block:
                block = strategic(fold.tactical, None, now, self._policy)
                fold.made.append((block, [one.id for one in fold.tactical]))
                fold.tactical = []
        return [node.id for node, _ in fold.made[begun:]]

    def _asked(self, fold: _Fold, old: Mapping[NodeId, Node], setting: Setting) -> list[Task]:
        """The tasks for a model; those of blocks whose parts it has written already are there at once."""
        current = {node.id: renewed(node, old.get(node.id)) for node, _ in fold.made}
        tasks = wished(list(current.values()), setting, self._policy)
        if setting.model is None:
            return tasks
        written = {own for own, node in current.items() if not node.body["extractive"]} | fold.carried
        return tasks + [
            better(current[node.id])
            for node, covered in fold.made
            if node.key == L2 and current[node.id].body["extractive"] and written.issuperset(covered)
        ]


def _counting(view: View, ids: Sequence[NodeId]) -> list[Message]:
    return [message for message in view.get(Message, ids) if message.active and not message.deleted]


def _is_piled(view: View, now: datetime) -> bool:
    """Whether many conversations are still to be derived: in what order they come makes then no difference."""
    due = (task for task, _ in view.tasks("due", _MANY) if task.kind == CONVERSATION)
    return sum(task.due is None or task.due <= now for task in due) > _PILE
