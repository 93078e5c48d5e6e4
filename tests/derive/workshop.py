"""A small workshop: derivers, works and a model that leave behind what can be counted, on real stores."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from random import Random
from typing import Any

from recollect.derive.tasks import queue
from recollect.derive.tasks.base import Effects, ModelWork, Portion, Setting, Work
from recollect.derive.tasks.worker import Handlers
from recollect.derive.worker import Worker
from recollect.models.language.base import Completion, LanguageModel, LanguageModelError, Prompt, Request
from recollect.record import Edge, Namespace, Node, NodeId, NodeKind, Thread, stable_id
from recollect.store import Space, Store, Task, View, Where
from tests.store.builders import DEFAULT, change_of, embedder

PROMPT = Prompt(name="say", version=1, system="Say it again.", schema={})


class Counting:
    """A node for each message, and a task each for a work and for a model."""

    name, version = "counting", 1

    def __init__(self) -> None:
        self.breaks_on = ""

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        put, edges, tasks = [], [], []
        for portion in portions:
            for message in portion.messages:
                if self.breaks_on and self.breaks_on in message.content:
                    raise ValueError(message.content)
                own = stable_id("seen", message.id)
                known = view.get(Node, [own])
                times = known[0].score + 1 if known else 1.0
                put.append(Node(own, NodeKind.FACT, text=message.content, score=times))
                edges.append(Edge(own, "DERIVES_FROM", message.id))
                tasks.append(Task(id=stable_id("task", "length", message.id), kind="length", subject=own))
                if setting.model:
                    tasks.append(Task(id=stable_id("task", "say", message.id), kind="say", subject=own))
        return Effects(put=put, edges=edges, tasks=tasks)


def add_one(view: View, id: NodeId, kind: NodeKind, text: str) -> Effects:
    """Writes a node that says how many times it was written."""
    known = view.get(Node, [id])
    return Effects(put=[Node(id, kind, text=text, score=(known[0].score if known else 0) + 1)])


class Length:
    """A work: a node that says how long a message is."""

    kind = "length"

    def group(self, task: Task) -> str:
        return self.kind

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        assert task.subject is not None
        words = view.get(Node, [task.subject])[0].text
        return add_one(view, stable_id("length", task.subject), NodeKind.TOPIC, str(len(words)))


class Saying(ModelWork):
    """A work for a model: a node with what it answers."""

    kind = "say"

    def __init__(self) -> None:
        self.applied: Callable[[], None] = lambda: None

    def request(self, view: View, task: Task) -> Request | None:
        assert task.subject is not None
        found = view.get(Node, [task.subject])
        return Request(prompt=PROMPT, text=found[0].text) if found and not found[0].erased else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        assert task.subject is not None
        self.applied()
        return add_one(view, stable_id("said", task.subject), NodeKind.SUMMARY, answer.data["text"])


class Parrot:
    """A language model that says everything twice. `fails` is raised, once for each of them, before it answers."""

    name = "parrot:1"

    def __init__(self, *fails: Exception) -> None:
        self.asked: Counter[str] = Counter()
        self.fails = list(fails)
        self.at_once = self.most_at_once = 0
        self.answering: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Completion:
        with self._lock:
            self.asked[request.text] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            problem = self.fails.pop(0) if self.fails else None
        try:
            self.answering()
            if problem is not None:
                raise problem
        finally:
            with self._lock:
                self.at_once -= 1
        return Completion(data={"text": f"{request.text} & {request.text}"}, model=self.name, input_tokens=3, cost=0.5)


class Failing(LanguageModelError):
    """A model error as those of `recollect.models.language` are."""

    def __init__(
        self, message: str, *, again: bool = True, retry_after: float | None = None, outage: bool = False
    ) -> None:
        super().__init__(message)
        self.again, self.retry_after, self.outage = again, retry_after, outage


def handlers(deriver: Counting | None = None, saying: Saying | None = None, work: Work | None = None) -> Handlers:
    return Handlers(derivers=[deriver or Counting()], works=[work or Length()], model_works=[saying or Saying()])


def worker(store: Store, clock: Callable[[], datetime], model: LanguageModel | None = None, **more: Any) -> Worker:
    more.setdefault("handlers", handlers())
    return Worker(store, embedder(), model=lambda namespace: model, clock=clock, random=Random(1), **more)


def write(space: Space, *threads: Thread) -> None:
    """Conversations with their tasks, as `Ingest` writes them."""
    for thread in threads:
        space.write(change_of(thread, tasks=queue.due([thread.conversation.id])))


def nodes(store: Store, kind: NodeKind, namespace: Namespace = DEFAULT) -> dict[str, float]:
    """How often each was written, by its text."""
    with store.space(namespace).view() as view:
        found = view.find(Node, Where(kinds=(kind.value,)), limit=10_000).items
    return {node.text: node.score for node in found}


def tasks(store: Store, state: Any = "due", namespace: Namespace = DEFAULT) -> list[tuple[str, str]]:
    """The kinds of tasks in a state, with the reasons."""
    with store.space(namespace).view() as view:
        return [(task.kind, why) for task, why in view.tasks(state)]
