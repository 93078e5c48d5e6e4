"""What consolidation is made of: derivers, which derive nodes and edges from messages, and works, which ask a model.

A deriver is a fold over the messages of a conversation: from its own state and what is new it says what is to be
written. All derivers' effects on a conversation are one `Change`, planned on the revision of the conversation and of
the head (cursor.py), so that everything derived is as of one moment, and two workers never derive the same twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from recollect.models.language.base import Completion, Request
from recollect.record import NOTHING, Conversation, Edge, Message, Metadata, Node, NodeId, stable_id
from recollect.store import Task, View
from recollect.store.change import EdgeKey

#: States of derived nodes. What is stale is never shown, and made anew or retired when the worker comes to it.
LIVE, STALE = "live", "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """What of a conversation is to be derived now.

    `messages` are said, living, on the active path and in its order. Either they were appended since the deriver was
    last here, with the `state` that it left then; or `whole`: they are all there are (something was edited, deleted,
    regenerated, imported again, or nothing was derived yet), the state is empty, and whatever this deriver derived from
    this conversation before and does not derive again must go (it is found by `conversation_id`, or by the edges that
    enter `messages` and `gone`). `gone` are messages of the conversation that do not count any more. `before` are at
    most four messages that stand right before the first of `messages`: context to understand them by.
    """

    conversation: Conversation
    messages: tuple[Message, ...]
    before: tuple[Message, ...] = ()
    gone: tuple[NodeId, ...] = ()
    whole: bool = True
    state: Metadata = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a deriver wants written. `states`: what it wants to find in `Portion.state` next time, by conversation id;
    small, of JSON's types, its size independent of the length of the conversation. `expect`: revisions of nodes that it
    was planned on, where the head is not enough.
    """

    put: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    cut: Sequence[EdgeKey] = ()
    tasks: Sequence[Task] = ()
    expect: Mapping[NodeId, int] = field(default_factory=dict)
    states: Mapping[NodeId, Metadata] = field(default_factory=dict)


def merged(all_effects: Iterable[Effects]) -> Effects:
    """Several effects as one, each node and task once; without states."""
    put: dict[NodeId, Node] = {}
    tasks: dict[NodeId, Task] = {}
    edges: list[Edge] = []
    cut: list[EdgeKey] = []
    expect: dict[NodeId, int] = {}
    for effects in all_effects:
        put |= {node.id: node for node in effects.put}
        tasks |= {task.id: task for task in effects.tasks}
        edges += effects.edges
        cut += effects.cut
        expect |= effects.expect
    return Effects(put=list(put.values()), edges=edges, cut=cut, tasks=list(tasks.values()), expect=expect)


#: What is added to effects of any kind before they are written.
Finish = Callable[[View, Effects], Effects]


def as_they_are(view: View, effects: Effects) -> Effects:
    """Nothing is added."""
    return effects


def topic_summary_id(topic: NodeId) -> NodeId:
    """The id of the summary of a topic: of its most typical messages, and by the terms of all."""
    return stable_id("summary", "topic", topic)


def retired(node: Node) -> Node:
    """A derived node that is no longer true of the messages: nothing of their words is left in it."""
    return replace(node, state=STALE, key="", text="", body=NOTHING, score=0.0, valid_from=None, valid_to=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a deriver may know beside the messages: the time, and the model that is set for background work, if any
    (its name: then tasks for it are put, and what rules make is marked as made without one).
    """

    now: datetime
    model: str | None = None


class Deriver(Protocol):
    """Derives something from messages. Pure: the same messages give the same effects, in whatever portions."""

    name: str
    version: int  # raised when it would derive something else from the same messages: then all is derived anew

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """The effects of these portions (of different conversations), planned on what the view shows."""
        ...


class Work(Protocol):
    """A kind of task. Idempotent: done twice is done once."""

    kind: str  # of the tasks

    def group(self, task: Task) -> str:
        """Tasks of one group touch nothing that another of them reads or writes, and are written in one change; "" for
        a task that is written by itself.
        """
        ...

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """What is to be written. Written with the task's lease and the head's revision as of the view, else again."""
        ...


class ModelWork(Protocol):
    """A kind of task for a language model. The id of its tasks says what they are about (the messages, their wording,
    the version of the prompt), so that the same is never asked twice; the subject is the node that it makes or betters.
    """

    kind: str

    def request(self, view: View, task: Task) -> Request | None:
        """What to ask. None: it is no longer wanted (the messages have changed since)."""
        ...

    def is_early(self, view: View, task: Task) -> bool:
        """Whether it is about what other tasks of this kind still have to write: the last of them puts it again."""
        return False

    def go_without(self, view: View, task: Task, setting: Setting) -> Effects:
        """What is to be written once the task was given up: what waited for its answer waits no more."""
        return Effects()

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """What is to be written of the answer. Nothing, where it is no longer wanted."""
        ...
