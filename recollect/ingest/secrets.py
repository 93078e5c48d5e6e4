"""Secrets in the record: listed, and taken out of everything that is stored."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import TypeVar

from recollect.derive.tasks import queue
from recollect.importers.records.assemble import chunks_of, message_chunks
from recollect.ingest.writer import Writer
from recollect.record import (
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    NodeKind,
    Origin,
    Thread,
    ToolCall,
    Turn,
    stable_id,
)
from recollect.search.secrets import Mask, secrets_of, texts_of
from recollect.store import Change, Record, View, Where
from recollect.store.transfer import every
from recollect.store.update import insist
from recollect.text.secret_formats import is_word
from recollect.text.secrets import ESCAPED

R = TypeVar("R")

#: The node that knows what was taken out, in a state of its own, and in every dump.
WITHHELD = stable_id("secrets", "withheld")
TAKEN_OUT = "withheld"  #: Its state.
TITLE = "title"  #: The kind of what is no secret, and compared with titles alone.
_TITLES = "(titles)"  # stands for a source, where titles are told apart from secrets
_SIZE = 16  # bytes of a digest, and of a key
_KEY = re.compile("[0-9a-f]{32}")
_SHORTEST, _LONGEST = 6, 400  # of what is known without the words around it
_SIGNS = re.compile(rf"[!-~]{{{_SHORTEST},}}")
_TOGETHER = re.compile(rf"[!-~\x1b]{{{_SHORTEST},}}")
_APART = re.compile(r"""["'`<>,;()\[\]{}\\]+""")  # where what has no blanks for long is looked at by parts
_PARTS = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")  # a string begins and ends with one
_BEFORE = re.compile(ESCAPED)


class Withheld:
    """What was taken out, as a view tells it: of everything, and of the source that it is asked for."""

    def __init__(
        self, digests: Mapping[str, Mapping[str, str]], source: str = "", lengths: Set[int] = frozenset()
    ) -> None:
        self._digests, self._source = digests, source  # with their kinds, by key
        self._lengths = lengths  # of those that may stand alone
        kinds = {kind for of_key in digests.values() for kind in of_key.values()}
        self._holds_secrets = not kinds <= {TITLE}

    @classmethod
    def read(cls, view: View) -> Withheld:
        """What the store keeps; nothing, at first."""
        node = next(iter(view.get(Node, [WITHHELD])), None)
        return cls({}) if node is None or node.erased else cls.of_node(node)

    @classmethod
    def of_node(cls, node: Node) -> Withheld:
        """From its node; what another hand has changed in a dump is left out."""
        keys = node.body.get("keys")
        found: dict[str, Mapping[str, str]] = {}
        for key, digests in (keys if isinstance(keys, Mapping) else {}).items():
            is_whole = isinstance(digests, Mapping) and all(isinstance(kind, str) for kind in digests.values())
            if is_whole and _KEY.fullmatch(key):
                found[key] = dict(digests)
        lengths = node.body.get("lengths")
        known = lengths if isinstance(lengths, list) else []
        return cls(found, lengths={n for n in known if isinstance(n, int) and _SHORTEST <= n <= _LONGEST})

    def __bool__(self) -> bool:
        return any(self._digests.values())

    def node(self) -> Node:
        """As it is stored."""
        keys = {key: dict(sorted(digests.items())) for key, digests in sorted(self._digests.items())}
        body = {"keys": keys, "lengths": sorted(self._lengths)}
        return Node(WITHHELD, NodeKind.REPORT, state=TAKEN_OUT, origin=Origin.SAID, body=body)

    def of(self, source: str) -> Withheld:
        """The same, asked for what comes from a source."""
        return Withheld(self._digests, source, self._lengths)

    def joined(self, other: Withheld) -> Withheld:
        """What either knows."""
        keys = self._digests.keys() | other._digests.keys()
        both = {key: {**other._digests.get(key, {}), **self._digests.get(key, {})} for key in keys}
        return Withheld(both, self._source, self._lengths | other._lengths)

    def and_these(self, known: Collection[tuple[str, str]], sources: Collection[str] = ()) -> Withheld:
        """With more secrets: of some sources, or of everything."""
        return self._and({(value, source): kind for value, kind in known for source in sources or ("",)})

    def and_title(self, title: str) -> Withheld:
        """With a title that a conversation had; only titles are compared with it."""
        return self._and({(title, _TITLES): TITLE})

    def _and(self, kinds: Mapping[tuple[str, str], str]) -> Withheld:
        key = next(iter(self._digests), None) or secrets.token_hex(_SIZE)
        lengths = {len(value) for (value, _), kind in kinds.items() if kind != TITLE and _stands_alone(value)}
        return self.joined(Withheld({key: {_digest(*told, key): kind for told, kind in kinds.items()}}, "", lengths))

    def without(self, known: Collection[tuple[str, str]], sources: Collection[str]) -> Withheld:
        """Without those that may be told again."""
        told = [(value, source) for value, _ in known for source in ("", _TITLES, *sources)]
        again = {_digest(*one, key) for key in self._digests for one in told}
        return Withheld(
            {
                key: {digest: kind for digest, kind in digests.items() if digest not in again}
                for key, digests in self._digests.items()
            },
            lengths=self._lengths,
        )

    def holds_title(self, title: str) -> bool:
        """Whether a title was taken away."""
        return bool(title) and any(_digest(title, _TITLES, key) in known for key, known in self._digests.items())

    def held_in(self, record: object) -> set[tuple[str, str]]:
        """The secrets of a record that were taken out of the memory before, each with its kind of then."""
        if not self._holds_secrets:
            return set()
        values = {value for value, _ in secrets_of(record)}
        for text in texts_of(record) if self._lengths else ():
            values.update(self._alone_in(text))
        asked = [(value, source) for value in values if value for source in dict.fromkeys(("", self._source))]
        return {
            (told[0], digests[digest])
            for key, digests in self._digests.items()
            for told in asked
            if (digest := _digest(*told, key)) in digests
        }

    def _alone_in(self, text: str) -> Iterator[str]:
        """What in a text is as long as one of them, and begins and ends as one may, whatever signs stand around it."""
        together = _TOGETHER.findall(text)
        for signs in (some for one in together for some in ([one] if len(one) <= _LONGEST else _APART.split(one))):
            parts = list(_PARTS.finditer(signs))
            ends = {part.end() for part in parts}
            for start in {*(part.start() for part in parts), *(sign.end() for sign in _BEFORE.finditer(signs))}:
                for length in self._lengths:
                    if start + length in ends and _stands_alone(value := signs[start : start + length]):
                        yield value

    def out_of(self, record: R) -> R:
        """The record as it was left when these secrets were taken out."""
        held = self.held_in(record)
        return Mask.of(held, finds=False).all(record) if held else record

    def of_thread(self, thread: Thread, count_tokens: Callable[[str], int]) -> Thread:
        """The same of a conversation."""
        if self.holds_title(thread.conversation.title):
            thread = replace(thread, conversation=replace(thread.conversation, title=""))
        held = self.of(thread.conversation.source).held_in(thread)
        return redacted(thread, Mask.of(held, finds=False), count_tokens) if held else thread


def _stands_alone(value: str) -> bool:
    """Whether a string is known without the words around it: not where it may be a word of any text."""
    return bool(_SIGNS.fullmatch(value)) and len(value) <= _LONGEST and not is_word(value)


def _digest(value: str, source: str, key: str) -> str:
    told = f"{source}\0{value}" if source else value
    return blake2b(told.encode("utf-8", "replace"), key=bytes.fromhex(key), digest_size=_SIZE).hexdigest()


def redacted(thread: Thread, mask: Mask, count_tokens: Callable[[str], int]) -> Thread:
    """A conversation as a mask leaves it: what is changed is counted and cut anew."""
    messages = tuple(recounted(message, mask.all(message), count_tokens) for message in thread.messages)
    calls = tuple(mask.all(call) for call in thread.tool_calls)
    changed = {new.id: new for old, new in zip(thread.messages, messages, strict=True) if new is not old}
    changed_calls = {new.id: new for old, new in zip(thread.tool_calls, calls, strict=True) if new is not old}
    chunks = [one for one in thread.chunks if one.parent_id not in changed and one.parent_id not in changed_calls]
    for message in changed.values():
        chunks += message_chunks(message, count_tokens=count_tokens)
    for call in changed_calls.values():
        chunks += chunks_of(call.id, call.result, count_tokens=count_tokens)
    turns = tuple(mask.all(turn) for turn in thread.turns)
    return Thread(mask.all(thread.conversation), messages, calls, turns, tuple(chunks))


def recounted(old: Message, new: Message, count_tokens: Callable[[str], int]) -> Message:
    """The new one of two wordings, with its tokens."""
    return new if new.content == old.content else replace(new, tokens=count_tokens(new.content))


N = TypeVar("N")


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


def _changed(before: Sequence[N], after: Sequence[N]) -> list[N]:
    return [new for old, new in zip(before, after, strict=True) if new is not old and new != old]


def _of_edge(mask: Mask, edge: Edge) -> Edge:
    return replace(edge, properties=mask.all(edge.properties), name=mask.all(edge.name)) if _holds(mask, edge) else edge


def _holds(mask: Mask, edge: Edge) -> bool:
    return mask.all(edge.properties) is not edge.properties or mask.all(edge.name) is not edge.name
