"""Secrets in the record: listed, and taken out of everything that is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from recollect.derive.tasks import queue
from recollect.ingest.withheld import WITHHELD, Withheld, redacted
from recollect.ingest.writer import Writer
from recollect.record import (
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    Thread,
    ToolCall,
    Turn,
)
from recollect.search.secrets import Mask, secrets_of
from recollect.store import Change, Record, View, Where
from recollect.store.transfer import every
from recollect.store.update import insist

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A secret of the record, told without its words: what it is, how often it stands in what, and where that is.

    `where` is title, message, tool_call, turn, document or the kind of a node (fact, summary …). `id` is that of it; of
    a tool call or a turn that of its message.
    """

    kind: str
    source: str
    where: str
    id: NodeId
    conversation_id: NodeId | None
    title: str
    timestamp: datetime | None
    count: int


@dataclass(frozen=True, slots=True)
class TakenOut:
    """What was taken out, or would be: different secrets, by kind, and the messages and other records that had them."""

    secrets: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    messages: int = 0
    others: int = 0


def stored_secrets(view: View, sources: Sequence[str], mask: Mask) -> Iterator[StoredSecret]:
    """The secrets of everything that is stored, or of some sources, by reading all of it: deleted messages, earlier
    wordings and metadata too. Titles are told through the `mask`.
    """
    where = Where(sources=tuple(sources))
    for conversation in every(view, Conversation, where):
        thread = None if conversation.erased else view.thread(conversation.id)
        if thread is None:
            continue
        title = mask(conversation.title)
        for kind, own, record in _records_of(thread):
            moment = getattr(record, "timestamp", None)
            for name, count in _kinds_in(record).items():
                yield StoredSecret(name, conversation.source, kind, own, conversation.id, title, moment, count)
    for document in every(view, Document, where):
        title = mask(document.title)
        for name, count in _kinds_in(document).items():
            yield StoredSecret(name, document.source, "document", document.id, None, title, document.created, count)
    if not sources:
        for node in every(view, Node):
            for name, count in _kinds_in(node).items():
                yield StoredSecret(
                    name, "recollect", node.kind.value, node.id, node.conversation_id, "", node.valid_from, count
                )


def _records_of(thread: Thread) -> Iterator[tuple[str, NodeId, Conversation | Message | ToolCall | Turn]]:
    yield "title", thread.conversation.id, thread.conversation
    yield from (("message", message.id, message) for message in thread.messages)
    yield from (("tool_call", call.message_id, call) for call in thread.tool_calls)
    yield from (("turn", turn.query_id, turn) for turn in thread.turns)


def _kinds_in(record: object) -> Counter[str]:
    return Counter(kind for _, kind in secrets_of(record))


class Secrets(Writer):
    """Takes secrets out of the record."""

    def take_out(self, sources: Sequence[str] = (), *, dry_run: bool = False) -> TakenOut:
        """Takes the secrets of all records out of everything in the namespace, or those of some sources out of what
        came from there: a mask stands in their place. What was derived of them is masked, and due to be derived anew.

        Interrupted, what is done is done, and the next call goes on.
        """
        with self._space.view() as view:
            withheld = Withheld.read(view)
            all_of = _All.read(view, sources, withheld)
        if dry_run or not (all_of.known or withheld):
            return all_of.found
        if all_of.known:
            self._space.write(Change(put=[withheld.and_these(all_of.known, sources).node()], revive=True))
            self._mask_all(Mask.of(all_of.known, finds=False), all_of.holders, sources)
        self._space.purge()
        return all_of.found

    def _mask_all(self, mask: Mask, holders: Set[NodeId], sources: Sequence[str]) -> None:
        """First what only repeats a secret, or a part of one; the `holders`, by which it is known, last: whoever goes
        on after an interruption still knows it.
        """
        where = Where(sources=tuple(sources))
        with self._space.view() as view:
            conversations = [one.id for one in every(view, Conversation, where) if not one.erased]
            documents = [one.id for one in every(view, Document, where) if not one.erased]
            derived = _derived_of(view, conversations) if sources else [one.id for one in every(view, Node)]
            nodes = [one.id for one in view.get(Node, derived) if not one.erased and one.id != WITHHELD]
            beside = view.edges(nodes if sources else None)
            edges = [edge for edge in beside if _of_edge(mask, edge) is not edge]
        if edges:
            masked = [_of_edge(mask, edge) for edge in edges]
            self._space.write(
                Change(edges=masked, cut=sorted({*(edge.key for edge in edges)} - {*(edge.key for edge in masked)}))
            )
        for is_holder in (False, True):
            some = [own for own in nodes if (own in holders) is is_holder]
            for at in range(0, len(some), _AT_ONCE):
                insist(partial(self._mask_nodes, some[at : at + _AT_ONCE], mask), "These notes are")
            for own in (own for own in documents if (own in holders) is is_holder):
                insist(partial(self._mask_document, own, mask), f"Document {own} is")
            for own in (own for own in conversations if (own in holders) is is_holder):
                insist(partial(self._mask_thread, own, mask), f"Conversation {own} is")

    def _mask_thread(self, own: NodeId, mask: Mask) -> None:
        with self._space.view() as view:
            before = view.thread(own)
            if before is None or before.conversation.erased:
                return
            after = redacted(before, mask, self._count_tokens)
            if after == before:
                return
            messages = _changed(before.messages, after.messages)
            calls = _changed(before.tool_calls, after.tool_calls)
            touched = [message.id for message in messages] + [call.message_id for call in calls]
            fresh = [one.id for one in after.messages if one.id in touched and not one.deleted]
            revision = view.revisions([own])[own].number
            stale = queue.stale(view, [own], touched)
        titled = after.conversation.title != before.conversation.title and not after.conversation.deleted
        cut = {message.id for message in messages} | {call.id for call in calls}
        self._space.write(
            Change(
                expect={own: revision},
                put=[
                    after.conversation,
                    *messages,
                    *calls,
                    *_changed(before.turns, after.turns),
                    *(chunk for chunk in after.chunks if chunk.parent_id in cut),
                ],
                mark=stale,
                index=self._index_change(self.thread_passages(after, fresh, titled=titled)),
                tasks=queue.due([own]),
            )
        )

    def _mask_document(self, own: NodeId, mask: Mask) -> None:
        with self._space.view() as view:
            before = next(iter(view.get(Document, [own])), None)
            after = None if before is None or before.erased else mask.all(before)
            if before is None or after is None or after is before:
                return
            revision = view.revisions([own])[own].number
        put: list[Record] = [after, *self._pieces(after)]
        passages = {own: self.document_passages(after)}
        self._space.write(Change(expect={own: revision}, put=put, index=self._index_change(passages)))

    def _mask_nodes(self, ids: Sequence[NodeId], mask: Mask) -> None:
        with self._space.view() as view:
            before = view.get(Node, list(ids))
            changed = _changed(before, [one if one.erased else mask.all(one) for one in before])
            if not changed:
                return
            revisions = view.revisions([one.id for one in changed])
        self._space.write(
            Change(
                expect={own: revision.number for own, revision in revisions.items()},
                put=changed,
                index=self._index_change({one.id: self.node_passages(one) for one in changed}),
            )
        )


_AT_ONCE = 500


def _derived_of(view: View, conversations: Sequence[NodeId]) -> list[NodeId]:
    """What was made of some conversations."""
    own = set(conversations)
    messages = [message.id for one in conversations for message in every(view, Message, Where(conversation=one))]
    beside = [node.id for node in every(view, Node) if node.conversation_id in own]
    return list(dict.fromkeys([*queue.made_of(view, messages), *beside]))


@dataclass(slots=True)
class _All:
    """All secrets, and what holds any: the `holders` are conversations, documents and nodes."""

    known: set[tuple[str, str]] = field(default_factory=set)
    holders: set[NodeId] = field(default_factory=set)
    messages: int = 0
    others: int = 0

    @classmethod
    def read(cls, view: View, sources: Sequence[str], withheld: Withheld) -> _All:
        """What can be found, and what was taken out before and is there all the same: somebody was interrupted."""
        found, where = cls(), Where(sources=tuple(sources))
        for conversation in every(view, Conversation, where):
            thread = None if conversation.erased else view.thread(conversation.id)
            for *_, record in () if thread is None else _records_of(thread):
                found._add(conversation.id, record, withheld.of(conversation.source))
        for document in every(view, Document, where):
            found._add(document.id, document, withheld.of(document.source))
        if not sources:
            for node in every(view, Node):
                found._add(node.id, node, withheld)
            for edge in view.edges(None):
                found._add(edge.source_id, edge, withheld)
        # One string may be known by several kinds: it gets one mask.
        found.known = set(dict(sorted(found.known, reverse=True)).items())
        return found

    def _add(self, holder: NodeId, record: object, withheld: Withheld) -> None:
        own = {*secrets_of(record), *withheld.held_in(record)}
        if own and holder != WITHHELD:
            self.known |= own
            self.holders.add(holder)
            self.messages += isinstance(record, Message)
            self.others += not isinstance(record, Message)

    @property
    def found(self) -> TakenOut:
        return TakenOut(len(self.known), Counter(kind for _, kind in self.known), self.messages, self.others)


def _changed(before: Sequence[R], after: Sequence[R]) -> list[R]:
    return [new for old, new in zip(before, after, strict=True) if new is not old and new != old]


def _of_edge(mask: Mask, edge: Edge) -> Edge:
    return replace(edge, properties=mask.all(edge.properties), name=mask.all(edge.name)) if _holds(mask, edge) else edge


def _holds(mask: Mask, edge: Edge) -> bool:
    return mask.all(edge.properties) is not edge.properties or mask.all(edge.name) is not edge.name
