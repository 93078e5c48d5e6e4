"""What consolidation is made of: derivers, which derive nodes and edges from messages, and works, which ask a model.

A deriver is a fold over the messages of a conversation: from its own state and what is new it says what is to be
written. All derivers' effects on a conversation are one `Change`, planned on the revision of the conversation and of
the head (cursor.py), so that everything derived is as of one moment, and two workers never derive the same twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from types import TracebackType
from typing import Protocol

from recollect.errors import StoreError
from recollect.models.language.base import Completion, Request
from recollect.record import NOTHING, Conversation, Edge, Message, Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import End, Lease, Space, Task, View
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


# When a task that failed is tried again, and when not: exponential backoff with full jitter.

_MOST_DOUBLINGS = 30
_LONGEST_ASKED = 2 * 86400.0  # seconds: whoever asks for more cannot mean it


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The pause before the next attempt is random up to a bound that doubles with each one, so that workers which
    failed together do not come back together.
    """

    attempts: int = 10  # after so many a task is dead
    first: timedelta = timedelta(seconds=5)
    longest: timedelta = timedelta(hours=1)

    def pause(self, attempt: int, random: Random, retry_after: float | None = None) -> timedelta:
        """How long to wait after this attempt, the first being 1. `retry_after`: seconds that a server asked for, at
        the least.
        """
        doublings = min(max(attempt - 1, 0), _MOST_DOUBLINGS)
        bound = min(self.longest, self.first * 2**doublings)
        jitter = random.uniform(0, bound.total_seconds())
        if retry_after is None:
            return timedelta(seconds=jitter)
        asked = min(max(0.0, retry_after), _LONGEST_ASKED)
        return timedelta(seconds=asked + min(jitter, 1 + asked / 10))


# How far consolidation has come in a conversation, and the head, for which those who consolidate take turns.

#: Put by every change that consolidates, on the revision that it was planned on: of two workers one plans again.
HEAD = stable_id("consolidation", "head")

#: The state of a cursor that holds.
CURSOR = "cursor"
_HEAD = "head"


def head() -> Node:
    """The head. Only its revision counts."""
    return Node(HEAD, NodeKind.REPORT, state=_HEAD)


def cursor_id(conversation_id: NodeId) -> NodeId:
    """The id of a conversation's cursor."""
    return stable_id("cursor", conversation_id)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Up to which message a conversation was derived, by which versions of the derivers, with what they left behind.

    `revision` and `count` are those of the conversation then: an append raises both by one, so that they tell whether
    anything else was changed since.
    """

    conversation_id: NodeId
    revision: int
    count: int
    versions: Mapping[str, int]
    states: Mapping[str, Metadata]

    @classmethod
    def read(cls, node: Node) -> Cursor | None:
        """None where it is stale: then the conversation is derived whole."""
        if node.state != CURSOR or node.erased or node.conversation_id is None:
            return None
        body = node.body
        return cls(node.conversation_id, body["revision"], body["count"], body["versions"], body["states"])

    def node(self) -> Node:
        """As it is stored."""
        body = {
            "revision": self.revision,
            "count": self.count,
            "versions": dict(self.versions),
            "states": {name: dict(state) for name, state in self.states.items()},
        }
        return Node(
            cursor_id(self.conversation_id),
            NodeKind.REPORT,
            state=CURSOR,
            conversation_id=self.conversation_id,
            body=body,
        )

    def only_appended(self, end: End, versions: Mapping[str, int]) -> bool:
        """Whether nothing but appending has happened since, and the same derivers are at work."""
        return self.versions == versions and end.revision - self.revision == end.message_count - self.count


# Leases that are held for as long as their work goes on, however long a model takes to answer.

_log = logging.getLogger("recollect.worker")


class Heartbeat:
    """Renews leases from a thread of its own, until its `with` ends. Killed with its process, it renews no more, and
    others take the tasks over.
    """

    def __init__(self, length: timedelta) -> None:
        self._length = length
        self._held: dict[int, tuple[Space, Sequence[Lease]]] = {}
        self._lock, self._end = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._last = 0

    def __enter__(self) -> Heartbeat:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def holding(self, space: Space, leases: Sequence[Lease]) -> Iterator[None]:
        """Renews these leases for as long as the block runs. What was lost meanwhile is found out when it is used."""
        with self._lock:
            self._last += 1
            own = self._last
            self._held[own] = (space, leases)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="recollect-leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(own, None)

    def _beat(self) -> None:
        while not self._end.wait(self._length.total_seconds() / 3):
            with self._lock:
                held = list(self._held.values())
            for space, leases in held:
                try:
                    space.renew(leases, self._length)
                except StoreError as problem:
                    _log.warning("Leases could not be renewed: %s", problem.message)
