"""Runs of messages that a model is asked about once, for facts and for entities: twenty in a row, known by their words.

A run is closed when it is full, or when its conversation has been quiet for a while. What was asked about is noted by a
node without words, so that deriving a conversation anew asks nothing twice. What a model answers may hold words of the
whole run and of what stands above it: where any of these change, all of it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import orjson

from recollect.derive.tasks.base import Portion, Setting
from recollect.derive.tasks.cursor import Cursor, cursor_id
from recollect.models.language.transcript import Material, transcript
from recollect.record import Conversation, Message, Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import Task, View

#: How many messages are read together.
RUN = 20

_QUIET = timedelta(minutes=30)
_ABOVE = 2  # messages of context
_ASKED, _PENDING, _OVER = "asked", "pending", "above"


@dataclass(frozen=True, slots=True)
class Run:
    """The messages that are asked about, and the few that stand above them, to understand them by."""

    messages: tuple[Message, ...]
    above: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs that one kind of task is about. `kind` is also the name of the prompt, and of the deriver that puts the
    tasks; a run without a message that is `worth` asking about is left out.
    """

    kind: str
    worth: Callable[[Message], bool] = lambda _: True

    def id(self, run: Run) -> NodeId:
        """The same for the same messages in the same words below the same words, under the same prompt."""
        from recollect.models.language.prompts import prompt

        words = (part for m in (*run.above, *run.messages) for part in (m.id, m.content))
        return stable_id(f"{self.kind} run", prompt(self.kind).version, len(run.above), *words)

    def prefixes(self, messages: Sequence[Message]) -> Iterator[NodeId]:
        """The ids of all runs of a conversation, and of what they were while they grew."""
        for start in range(0, len(messages), RUN):
            run, above = tuple(messages[start : start + RUN]), tuple(messages[max(0, start - _ABOVE) : start])
            yield from (self.id(Run(run[: length + 1], above)) for length in range(len(run)))

    def wished(self, view: View, portion: Portion, setting: Setting) -> tuple[list[Task], Metadata]:
        """The tasks for the runs of a portion, and what the deriver has to find in the state of the next one: the
        messages of the run that is still open, and those above it.
        """
        waiting = [NodeId(i) for i in portion.state.get(_PENDING, ())]
        above = [NodeId(i) for i in portion.state.get(_OVER, ())]
        ids = [*above, *waiting, *(message.id for message in portion.messages)]
        first, end = len(above), len(ids)
        last = end - (end - first) % RUN
        pending = {_PENDING: ids[last:], _OVER: ids[max(0, last - _ABOVE) : last]}
        if setting.model is None:
            return [], pending
        known = {message.id: message for message in (*view.get(Message, [*above, *waiting]), *portion.messages)}
        cut = [
            Run(_those(known, ids[at : at + RUN]), _those(known, ids[max(0, at - _ABOVE) : at]))
            for at in range(first, end, RUN)
        ]
        runs = {self.id(run): run for run in cut if any(map(self.worth, run.messages))}
        asked = {node.id for node in view.get(Node, list(runs)) if node.state == _ASKED}
        return [self._task(own, run) for own, run in runs.items() if own not in asked], pending

    def wanted(self, view: View, task: Task) -> Run | None:
        """The run; None where it is not as it was when the task was put, or where it was open and grew on."""
        payload = orjson.loads(task.payload)
        ids, above = ([NodeId(i) for i in payload.get(name, ())] for name in ("messages", "above"))
        living = [m for m in view.get(Message, [*above, *ids]) if not m.deleted and not m.erased and m.active]
        run = Run(tuple(living[len(above) :]), tuple(living[: len(above)]))
        if len(living) != len(above) + len(ids) or stable_id("task", self.id(run)) != task.id:
            return None
        if payload["open"]:
            nodes = view.get(Node, [cursor_id(run.messages[0].conversation_id)])
            cursor = Cursor.read(nodes[0]) if nodes else None
            if cursor is None or list(cursor.states.get(self.kind, {}).get(_PENDING, ())) != ids:
                return None
        return run

    def asked(self, run: Run) -> Node:
        """The note that this run was asked about."""
        return Node(self.id(run), NodeKind.REPORT, state=_ASKED, conversation_id=run.messages[0].conversation_id)

    def _task(self, own: NodeId, run: Run) -> Task:
        """Due at once where the run is full, else when the conversation has been quiet."""
        is_open = len(run.messages) < RUN
        last = max((m.timestamp for m in run.messages if m.timestamp), default=None)
        ids = {"messages": [m.id for m in run.messages], "above": [m.id for m in run.above]}
        return Task(
            id=stable_id("task", own),
            kind=self.kind,
            subject=run.messages[0].conversation_id,
            payload=orjson.dumps({**ids, "open": is_open}),
            due=last + _QUIET if is_open and last else None,
        )


def material(view: View, run: Run) -> Material:
    """A run as a model is given it, with what stands above it."""
    conversations = view.get(Conversation, [run.messages[0].conversation_id])
    return transcript(run.messages, before=run.above, title=conversations[0].title if conversations else "")


def _those(known: Mapping[NodeId, Message], ids: Sequence[NodeId]) -> tuple[Message, ...]:
    return tuple(known[i] for i in ids if i in known)
