"""Runs of messages that a model is asked about once, for facts and for entities: about twenty, known by their words.

A run ends where the talk pauses or, in a talk without pauses, before a message whose id says so; at the latest when it
is full. What follows a change stays as it was: counted from the front, one message less would move all of it. A run is
asked about when it has ended, or when its conversation has been quiet for a while. What was asked about is noted by a
node without words, so that deriving a conversation anew asks nothing twice. What a model answers may hold words of the
whole run and of what stands above it: where any of these change, all of it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from zlib import crc32

import orjson

from recollect.derive.tasks.base import Portion, Setting
from recollect.derive.tasks.cursor import Cursor, cursor_id
from recollect.models.language.transcript import Material, transcript
from recollect.record import Conversation, Message, Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import Task, View

#: About how many messages are read together.
RUN = 20

_SHORTEST, _LONGEST = 12, 28
_ENDS = 8  # one of so many ids ends a run

_QUIET = timedelta(minutes=30)
_ABOVE = 2  # messages of context
_ASKED, _PENDING, _OVER = "asked", "pending", "above"


@dataclass(frozen=True, slots=True)
class MessageRun:
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

    def id(self, run: MessageRun) -> NodeId:
        """The same for the same messages in the same words below the same words, under the same prompt."""
        from recollect.models.language.prompts import prompt

        words = (part for m in (*run.above, *run.messages) for part in (m.id, m.content))
        return stable_id(f"{self.kind} run", prompt(self.kind).version, len(run.above), *words)

    def prefixes(self, messages: Sequence[Message]) -> Iterator[NodeId]:
        """The ids of all runs of a conversation, and of what they were while they grew."""
        for start, end in _cut(messages):
            run, above = tuple(messages[start:end]), tuple(messages[max(0, start - _ABOVE) : start])
            yield from (self.id(MessageRun(run[: length + 1], above)) for length in range(len(run)))

    def wished(self, view: View, portion: Portion, setting: Setting) -> tuple[list[Task], Metadata]:
        """The tasks for the runs of a portion, and what the deriver has to find in the state of the next one: the
        messages of the run that is still open, and those above it.
        """
        waiting = [NodeId(i) for i in portion.state.get(_PENDING, ())]
        above = [NodeId(i) for i in portion.state.get(_OVER, ())]
        over = view.get(Message, above)
        messages = [*view.get(Message, waiting), *portion.messages]
        told, first = [*over, *messages], len(over)
        cut = [
            MessageRun(tuple(messages[start:end]), tuple(told[max(0, first + start - _ABOVE) : first + start]))
            for start, end in _cut(messages)
        ]
        last = cut[-1] if cut and len(cut[-1].messages) < _LONGEST else MessageRun((), tuple(told[-_ABOVE:]))
        pending = {_PENDING: [m.id for m in last.messages], _OVER: [m.id for m in last.above]}
        if setting.model is None:
            return [], pending
        runs = {self.id(run): run for run in cut if any(map(self.worth, run.messages))}
        asked = {node.id for node in view.get(Node, list(runs)) if node.state == _ASKED}
        return [self._task(own, run, run is last) for own, run in runs.items() if own not in asked], pending

    def wanted(self, view: View, task: Task) -> MessageRun | None:
        """The run; None where it is not as it was when the task was put, or where it was open and grew on."""
        payload = orjson.loads(task.payload)
        ids, above = ([NodeId(i) for i in payload.get(name, ())] for name in ("messages", "above"))
        living = [m for m in view.get(Message, [*above, *ids]) if not m.deleted and not m.erased and m.active]
        run = MessageRun(tuple(living[len(above) :]), tuple(living[: len(above)]))
        if len(living) != len(above) + len(ids) or stable_id("task", self.id(run)) != task.id:
            return None
        if payload["open"]:
            nodes = view.get(Node, [cursor_id(run.messages[0].conversation_id)])
            cursor = Cursor.read(nodes[0]) if nodes else None
            if cursor is None or list(cursor.states.get(self.kind, {}).get(_PENDING, ())) != ids:
                return None
        return run

    def asked(self, run: MessageRun) -> Node:
        """The note that this run was asked about."""
        return Node(self.id(run), NodeKind.REPORT, state=_ASKED, conversation_id=run.messages[0].conversation_id)

    def _task(self, own: NodeId, run: MessageRun, is_open: bool) -> Task:
        """Due at once where the run has ended, else when the conversation has been quiet."""
        last = max((m.timestamp for m in run.messages if m.timestamp), default=None)
        ids = {"messages": [m.id for m in run.messages], "above": [m.id for m in run.above]}
        return Task(
            id=stable_id("task", own),
            kind=self.kind,
            subject=run.messages[0].conversation_id,
            payload=orjson.dumps({**ids, "open": is_open}),
            due=last + _QUIET if is_open and last else None,
        )


def material(view: View, run: MessageRun) -> Material:
    """A run as a model is given it, with what stands above it."""
    conversations = view.get(Conversation, [run.messages[0].conversation_id])
    return transcript(run.messages, before=run.above, title=conversations[0].title if conversations else "")


def _cut(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Where runs begin and end. The last one may go on."""
    start = 0
    for at in range(1, len(messages)):
        length = at - start
        if length == _LONGEST or (length >= _SHORTEST and _ends(messages[at - 1], messages[at])):
            yield start, at
            start = at
    if messages:
        yield start, len(messages)


def _ends(before: Message, after: Message) -> bool:
    """Whether a run may end between two messages: what they alone tell."""
    if before.timestamp and after.timestamp and after.timestamp - before.timestamp >= _QUIET:
        return True
    return crc32(after.id.encode()) % _ENDS == 0
