"""The task that every write leaves behind: what is new in a conversation goes through all derivers, in one change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from recollect.derive.tasks.base import Cursor, Deriver, Effects, Finish, Portion, Setting, as_they_are, cursor_id
from recollect.derive.tasks.queue import Publisher, head_revision
from recollect.models.embedding import Embedder
from recollect.record import (
    NOTHING,
    Conversation,
    Edge,
    Kind,
    Message,
    Metadata,
    Node,
    NodeId,
    reading_order,
)
from recollect.store import EdgeKey, End, Lease, Space, Task, View, Where
from recollect.store.transfer import every
from recollect.store.update import insist

_BEFORE = 4  # messages of context
_LOOKED_BACK = 12  # positions in which they are looked for
_AT_ONCE = 2_000  # messages in one change, unless a conversation alone has more
_WHAT = "What is to be consolidated is"


class ConversationWork:
    """Derives everything from conversations. Pure but for the store: the same messages give the same nodes."""

    def __init__(
        self, space: Space, derivers: Sequence[Deriver], embedder: Embedder, finish: Finish = as_they_are
    ) -> None:
        self._space, self._derivers, self._publisher, self._finish = space, derivers, Publisher(embedder), finish
        self._versions = {deriver.name: deriver.version for deriver in derivers}

    def run(self, leases: Sequence[Lease], setting: Setting) -> int:
        """Does tasks, several conversations in a change; returns the messages that were looked at. Raises Fenced."""
        looked_at = 0
        waiting = list(leases)
        while waiting:
            done, messages = insist(partial(self._once, waiting, setting), _WHAT)
            waiting = waiting[done:]
            looked_at += messages
        return looked_at

    def derive(self, conversation_ids: Sequence[NodeId], setting: Setting) -> None:
        """Derives conversations at once, without a task: what was deleted is then in nothing derived any more."""
        for conversation_id in conversation_ids:
            insist(partial(self._once, [conversation_id], setting), _WHAT)

    def _once(self, wanted: Sequence[Lease] | Sequence[NodeId], setting: Setting) -> tuple[int, int]:
        """As many as fit in one change: how many, and their messages."""
        with self._space.view() as view:
            revision = head_revision(view)
            fresh = list(_as_many_as_fit(self._fresh(view, wanted)))
            effects = _Merged()
            for deriver in self._derivers:
                made = deriver.derive(view, [one.portion(deriver.name) for one in fresh], setting)
                effects.add(deriver.name, made)
            written = self._finish(view, effects.all())
        cursors = [one.cursor(self._versions, effects.states.get(one.conversation.id, {})) for one in fresh if one.end]
        self._space.write(
            self._publisher.change(
                written,
                revision,
                expect={one.conversation.id: one.revision for one in fresh},
                leases=[one.lease for one in fresh if one.lease is not None],
                more=[cursor.node() for cursor in cursors],
            )
        )
        return len(fresh), sum(len(one.messages) for one in fresh)

    def _fresh(self, view: View, wanted: Sequence[Lease] | Sequence[NodeId]) -> Iterator[_Fresh]:
        ids = [_subject(one) for one in wanted]
        revisions = view.revisions(ids)
        for conversation_id, one in zip(ids, wanted, strict=True):
            lease = one if isinstance(one, Lease) else None
            revision = revisions[conversation_id].number if conversation_id in revisions else 0
            yield self._read(view, lease, conversation_id, revision)

    def _read(self, view: View, lease: Lease | None, conversation_id: NodeId, revision: int) -> _Fresh:
        nodes = view.get(Node, [cursor_id(conversation_id)])
        end = view.end(conversation_id)
        if end is None:
            return _Fresh(lease, Conversation(conversation_id, ""), revision)
        cursor = Cursor.read(nodes[0]) if nodes else None
        if cursor is not None and cursor.only_appended(end, self._versions):
            at = cursor.count
            appended = _counting(view.around([(conversation_id, at, end.message_count - 1)]))
            behind = _counting(view.around([(conversation_id, max(0, at - _LOOKED_BACK), at - 1)]))
            return _Fresh(
                lease, end.conversation, revision, end, appended, behind[-_BEFORE:], whole=False, states=cursor.states
            )
        messages = list(every(view, Message, Where(conversation=conversation_id)))
        counting = () if end.conversation.deleted else _counting(reading_order(messages))
        kept = {message.id for message in counting}
        gone = tuple(message.id for message in messages if message.id not in kept) if nodes else ()
        return _Fresh(lease, end.conversation, revision, end, counting, gone=gone)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """What is new in a conversation; `end` is None where there is none."""

    lease: Lease | None
    conversation: Conversation
    revision: int
    end: End | None = None
    messages: tuple[Message, ...] = ()
    before: tuple[Message, ...] = ()
    gone: tuple[NodeId, ...] = ()
    whole: bool = True
    states: Mapping[str, Metadata] = field(default_factory=dict)

    def portion(self, deriver: str) -> Portion:
        """As a deriver gets it."""
        return Portion(
            conversation=self.conversation,
            messages=self.messages,
            before=self.before,
            gone=self.gone,
            whole=self.whole,
            state=self.states.get(deriver, NOTHING),
        )

    def cursor(self, versions: Mapping[str, int], states: Mapping[str, Metadata]) -> Cursor:
        """Where the next portion begins. A deriver that leaves no state keeps what it had."""
        assert self.end is not None
        return Cursor(self.conversation.id, self.revision, self.end.message_count, versions, {**self.states, **states})


@dataclass(slots=True)
class _Merged:
    """The effects of all derivers, `states` by conversation and deriver."""

    put: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    cut: list[EdgeKey] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    expect: dict[NodeId, int] = field(default_factory=dict)
    states: dict[NodeId, dict[str, Metadata]] = field(default_factory=dict)

    def add(self, deriver: str, effects: Effects) -> None:
        """Takes the effects of a deriver in."""
        self.put += effects.put
        self.edges += effects.edges
        self.cut += effects.cut
        self.tasks += effects.tasks
        self.expect |= effects.expect
        for conversation_id, state in effects.states.items():
            self.states.setdefault(conversation_id, {})[deriver] = state

    def all(self) -> Effects:
        """What is written of them."""
        return Effects(put=self.put, edges=self.edges, cut=self.cut, tasks=self.tasks, expect=self.expect)


def _as_many_as_fit(fresh: Iterator[_Fresh]) -> Iterator[_Fresh]:
    messages = 0
    for one in fresh:
        yield one
        messages += len(one.messages)
        if messages >= _AT_ONCE:
            return


def _subject(wanted: Lease | NodeId) -> NodeId:
    if not isinstance(wanted, Lease):
        return wanted
    assert wanted.task.subject is not None
    return wanted.task.subject


def _counting(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Those that anything is derived from."""
    return tuple(m for m in messages if m.kind is Kind.SAID and m.active and not m.deleted)
