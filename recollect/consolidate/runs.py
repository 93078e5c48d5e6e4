"""Runs of messages that a model is asked about once, for facts and for entities: twenty in a row, known by their words.

A run is closed when it is full, or when its conversation has been quiet for a while. What was asked about is noted by a
node without words, so that deriving a conversation anew asks nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import orjson

from recollect.consolidate.base import Portion, Setting
from recollect.consolidate.cursor import Cursor, cursor_id
from recollect.model.transcript import Material, transcript
from recollect.record import Conversation, Message, Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import Task, View

#: How many messages are read together.
RUN = 20

_QUIET = timedelta(minutes=30)
_ABOVE = 2  # messages of context
_ASKED, _PENDING = "asked", "pending"


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs that one kind of task is about. `kind` is also the name of the prompt, and of the deriver that puts the
    tasks; a run without a message that is `worth` asking about is left out.
    """

    kind: str
    worth: Callable[[Message], bool] = lambda _: True

    def id(self, messages: Sequence[Message]) -> NodeId:
        """The same for the same messages in the same words, under the same prompt."""
        from recollect.model.prompts import prompt

        words = (part for m in messages for part in (m.id, m.content))
        return stable_id(f"{self.kind} run", prompt(self.kind).version, *words)

    def prefixes(self, messages: Sequence[Message]) -> Iterator[NodeId]:
        """The ids of all runs of a conversation, and of what they were while they grew."""
        for start in range(0, len(messages), RUN):
            run = messages[start : start + RUN]
            yield from (self.id(run[: length + 1]) for length in range(len(run)))

    def wished(self, view: View, portion: Portion, setting: Setting) -> tuple[list[Task], Metadata]:
        """The tasks for the runs of a portion, and what the deriver has to find in the state of the next one: the
        messages of the run that is still open.
        """
        waiting = [NodeId(i) for i in portion.state.get(_PENDING, ())]
        ids = [*waiting, *(message.id for message in portion.messages)]
        pending = {_PENDING: ids[len(ids) - len(ids) % RUN :]}
        if setting.model is None:
            return [], pending
        known = {message.id: message for message in (*view.get(Message, waiting), *portion.messages)}
        cut = [[known[i] for i in ids[at : at + RUN] if i in known] for at in range(0, len(ids), RUN)]
        runs = {self.id(run): run for run in cut if any(map(self.worth, run))}
        asked = {node.id for node in view.get(Node, list(runs)) if node.state == _ASKED}
        return [self._task(own, run) for own, run in runs.items() if own not in asked], pending

    def wanted(self, view: View, task: Task) -> list[Message]:
        """The messages of a run; none where they are not as they were when the task was put, or an open run grew on."""
        payload = orjson.loads(task.payload)
        ids = [NodeId(i) for i in payload["messages"]]
        messages = [m for m in view.get(Message, ids) if not m.deleted and not m.erased and m.active]
        if len(messages) != len(ids) or stable_id("task", self.id(messages)) != task.id:
            return []
        if payload["open"]:
            nodes = view.get(Node, [cursor_id(messages[0].conversation_id)])
            cursor = Cursor.read(nodes[0]) if nodes else None
            if cursor is None or list(cursor.states.get(self.kind, {}).get(_PENDING, ())) != ids:
                return []
        return messages

    def asked(self, messages: Sequence[Message]) -> Node:
        """The note that this run was asked about."""
        return Node(self.id(messages), NodeKind.REPORT, state=_ASKED, conversation_id=messages[0].conversation_id)

    def _task(self, own: NodeId, run: Sequence[Message]) -> Task:
        """Due at once where the run is full, else when the conversation has been quiet."""
        is_open = len(run) < RUN
        last = max((m.timestamp for m in run if m.timestamp), default=None)
        return Task(
            id=stable_id("task", own),
            kind=self.kind,
            subject=run[0].conversation_id,
            payload=orjson.dumps({"messages": [m.id for m in run], "open": is_open}),
            due=last + _QUIET if is_open and last else None,
        )


def material(view: View, messages: Sequence[Message]) -> Material:
    """A run as a model is given it, with what stands above it."""
    above = view.above(messages[0].id, _ABOVE)
    conversations = view.get(Conversation, [messages[0].conversation_id])
    return transcript(messages, before=list(reversed(above)), title=conversations[0].title if conversations else "")
