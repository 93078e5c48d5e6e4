"""Derives the summaries of conversations from their messages: tactical ones (L1), blocks of them (L2), and the whole.
What waits in those that are too short for any is left to be summarised together (sessions.py, together.py).

What has been cut is not looked at again: the state holds the messages that still wait and the tactical summaries that
no block has yet. The summary of a long conversation is folded from the tactical ones and from what waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.derive.summaries.conversations import Closed, branch_summaries, conversation_summary, strategic, tactical
from recollect.derive.summaries.extract import DEFAULT, Policy
from recollect.derive.summaries.nodes import (
    PERIOD,
    conversation_summary_id,
    covering,
    gone,
    no_more,
    put,
    renewed,
    spanned,
    worded,
)
from recollect.derive.summaries.periods import days_of, not_asked, wished
from recollect.derive.summaries.sessions import Sessions, segment
from recollect.derive.tasks.base import Effects, Portion, Setting
from recollect.models.embedding.base import Embedder
from recollect.record import Edge, Message, Metadata, Node, NodeId, NodeKind, from_microseconds, to_microseconds
from recollect.store import EdgeKey, Task, View, Where
from recollect.store.transfer import every


@dataclass(slots=True)
class _State:
    """What is left for the next time: ids and numbers, no words."""

    waiting: list[NodeId] = field(default_factory=list)
    tactical: list[NodeId] = field(default_factory=list)  # that no block has yet
    l1: int = 0
    l2: int = 0
    messages: int = 0
    characters: int = 0
    digest: str = ""
    first: int | None = None
    last: int | None = None

    @classmethod
    def read(cls, state: Metadata) -> _State:
        lists = {name: list(state.get(name, ())) for name in ("waiting", "tactical")}
        return cls(**{**state, **lists})

    def wire(self) -> Metadata:
        return {name: getattr(self, name) for name in self.__slots__}

    def span(self) -> tuple[datetime | None, datetime | None]:
        return from_microseconds(self.first), from_microseconds(self.last)


@dataclass(slots=True)
class _MadeSummaries:
    fresh: list[Node] = field(default_factory=list)
    old: dict[NodeId, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


class Summaries:
    """The deriver. `embedder` makes cheap vectors: the packaged one, whatever search uses."""

    name = "summaries"
    version = 3

    def __init__(self, embedder: Embedder, policy: Policy = DEFAULT) -> None:
        self._embedder, self._policy = embedder, policy

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """The summaries of these conversations."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        cut: list[EdgeKey] = []
        tasks: dict[NodeId, Task] = {}
        states: dict[NodeId, Metadata] = {}
        kept: list[Node] = []
        sessions = Sessions(view, self._policy)
        for portion in portions:
            made, state, waiting = self._conversation(view, portion, setting)
            if portion.whole or not portion.state.get("l1"):
                kept += sessions.of(portion, () if state.l1 else waiting)
            if portion.whole:  # a branch is opened and left by what is no appending
                branches, covering_them = branch_summaries(view, portion, setting.now, self._policy, self._embedder)
                made.fresh += branches
                made.edges += covering_them
            written = put(made.fresh, made.old)
            leaving = gone(made.old.values(), [node.id for node in made.fresh]) if portion.whole else []
            if portion.whole:
                leaving += _stale_periods(view, portion)
                cut += no_more(view, [*made.old, *(node.id for node in leaving)], made.edges)
            nodes += [*written, *leaving]
            edges += made.edges
            asked = wished([renewed(node, made.old.get(node.id)) for node in made.fresh], setting, self._policy)
            tasks |= {task.id: task for task in [*asked, *_periods(view, portion)]}
            states[portion.conversation.id] = state.wire()
        if left := sessions.left:
            nodes += gone(view.get(Node, left), ())
            cut += no_more(view, left)
        tasks |= {task.id: task for task in sessions.tasks(setting.now)}
        kept += sessions.note()
        if nodes and setting.model is None:
            nodes += not_asked(view)
        return Effects(put=[*nodes, *kept], edges=edges, cut=cut, tasks=list(tasks.values()), states=states)

    def _conversation(
        self, view: View, portion: Portion, setting: Setting
    ) -> tuple[_MadeSummaries, _State, tuple[Message, ...]]:
        state, made, policy = _State.read(portion.state), _MadeSummaries(), self._policy
        conversation = portion.conversation.id
        if portion.whole:
            where = Where(kinds=(NodeKind.SUMMARY,), conversation=conversation)
            made.old = {node.id: node for node in every(view, Node, where)}
        waited = view.get(Message, state.waiting)
        runs, waiting = segment([*waited, *portion.messages], policy, self._embedder)
        closed = self._closed(view, conversation, state)
        tactical_ones = {node.id: node for node in view.get(Node, state.tactical)} if runs else {}
        for run in runs:
            node = tactical(run, conversation, state.l1, setting.now, policy, self._embedder)
            tactical_ones[node.id] = node
            made.fresh.append(node)
            made.edges += covering(node.id, [message.id for exchange in run for message in exchange])
            closed = closed.with_summary(node, policy)
            state.l1 += 1
            state.tactical.append(node.id)
            if len(state.tactical) == policy.block:
                block = strategic([tactical_ones[i] for i in state.tactical], state.l2, setting.now, policy)
                made.fresh.append(block)
                made.edges += covering(block.id, state.tactical)
                state.l2 += 1
                state.tactical = []
        self._count(state, portion.messages)
        state.waiting = [message.id for message in waiting]
        if state.messages > policy.more_than:
            node = conversation_summary(
                conversation, closed, waiting, characters=state.characters, messages=state.messages,
                digest=state.digest, span=state.span(), now=setting.now, policy=policy, embedder=self._embedder,
            )  # fmt: skip
            made.fresh.append(node)
            if not portion.whole:
                made.old |= {known.id: known for known in view.get(Node, [node.id])}
            before = state.messages - len(portion.messages)
            new = portion.messages if before > policy.more_than else (*waited, *portion.messages)
            made.edges += covering(node.id, [message.id for message in new], state.messages - len(new))
        return made, state, waiting

    def _closed(self, view: View, conversation: NodeId, state: _State) -> Closed:
        """What the conversation's summary holds of what was cut before."""
        if not state.l1:
            return Closed()
        for node in view.get(Node, [conversation_summary_id(conversation)]):
            if "closed" in node.body and node.body["closed"]["summaries"] == state.l1:
                return Closed.read(node.body["closed"])
        where = Where(kinds=(NodeKind.SUMMARY,), keys=("l1",), states=("live",), conversation=conversation)
        closed = Closed()
        for node in sorted(every(view, Node, where), key=lambda node: int(node.body["block"])):
            closed = closed.with_summary(node, self._policy)
        return closed

    def _count(self, state: _State, messages: Sequence[Message]) -> None:
        first, last = spanned([*state.span(), *(message.timestamp for message in messages)])
        state.first, state.last = to_microseconds(first), to_microseconds(last)
        state.messages += len(messages)
        state.characters += sum(len(message.content) for message in messages)
        state.digest = worded(messages, state.digest)


def _periods(view: View, portion: Portion) -> list[Task]:
    """The tasks for the days on which something was said, or is not said any more."""
    return [day.task() for day in days_of(message.timestamp for message in _all(view, portion))]


def _stale_periods(view: View, portion: Portion) -> list[Node]:
    """Summaries of periods that hold what is not so any more, emptied until they are made anew."""
    days = days_of(message.timestamp for message in _all(view, portion))
    ids = dict.fromkeys(period.node_id for day in days for period in (day, *day.around()))
    stale = [node for node in view.get(Node, list(ids)) if node.key == PERIOD and node.state != "live"]
    return gone(stale, ())


def _all(view: View, portion: Portion) -> list[Message]:
    return [*portion.messages, *(view.get(Message, portion.gone) if portion.gone else ())]
