"""What was forgotten is known again under any title, id or format: by keyed digests of what its messages said.

A tombstone is a node without words. It holds a digest of 32 bits for each message, sorted, so that they tell no order.
The key is random and the memory's own: without it a digest says nothing, and two memories have nothing in common. Who
holds the memory can test a guess, as it must be able to itself; what nobody guesses is not in it.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from unicodedata import normalize

from recollect.record import NOTHING, Kind, Message, Node, NodeId, NodeKind, Origin, Thread, stable_id
from recollect.store import View, Where
from recollect.store.transfer import every

#: The states of the nodes; no others have them.
FORGOTTEN, REVIVED = "forgotten", "revived"

_BYTES = 4  # of a digest
_MOST = 4_000  # digests that are kept of one conversation: the smallest, which are also looked at of what comes
_GREETING = 2  # messages that say little: "hi", "Hello! How can I help you today?"
_TELLING = 3  # messages of some length that say which conversation it is, however it has grown
_LENGTH = 24  # characters of such a one

_CHOSEN = Where(kinds=(NodeKind.REPORT.value,), states=(FORGOTTEN,))


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Of a conversation that was forgotten whole, or of which the messages `gone` were."""

    id: NodeId
    key: bytes
    digests: tuple[int, ...]
    gone: frozenset[int] | None = None  # None: all of it

    @classmethod
    def read(cls, node: Node) -> Tombstone:
        """From its node."""
        body = node.body
        gone = frozenset(body["gone"]) if body.get("gone") is not None else None
        return cls(node.id, bytes.fromhex(body["key"]), tuple(body["digests"]), gone)

    def node(self) -> Node:
        """As it is stored."""
        body = {"key": self.key.hex(), "digests": list(self.digests)}
        if self.gone is not None:
            body["gone"] = sorted(self.gone)
        return Node(self.id, NodeKind.REPORT, state=FORGOTTEN, origin=Origin.SAID, body=body)

    def revived(self) -> Node:
        """The node of one that was asked for again; no dump has it."""
        return Node(self.id, NodeKind.REPORT, state=REVIVED)

    def is_of(self, says: Sequence[tuple[int, bool]]) -> bool:
        """Whether a conversation is the forgotten one, cut or grown perhaps: most of what was forgotten is in it, and
        most of it was forgotten, or so much that it is told by that alone. `says`: the digest of each message, and
        whether it has some length.
        """
        if len(self.digests) == _MOST:
            says = [one for one in says if one[0] <= self.digests[-1]]
        left = Counter(self.digests)
        common, telling = 0, set[int]()
        for digest, is_long in says:
            if left[digest]:
                left[digest] -= 1
                common += 1
                if is_long:
                    telling.add(digest)
        if common == len(self.digests) == len(says):
            return common > 0
        if 2 * common <= len(self.digests) or common <= _GREETING:
            return False
        return 2 * common > len(says) or len(telling) >= _TELLING


def tombstones(view: View, whole: Iterable[NodeId], single: Iterable[Message]) -> list[Node]:
    """The nodes that are left of conversations that are forgotten whole, and of those that lose single messages."""
    lost: dict[NodeId, list[Message] | None] = dict.fromkeys(whole)
    for message in single:
        if (messages := lost.setdefault(message.conversation_id, [])) is not None:
            messages.append(message)
    ids = {conversation: stable_id(FORGOTTEN, conversation) for conversation in lost}
    before = {node.id: Tombstone.read(node) for node in view.get(Node, list(ids.values())) if node.state == FORGOTTEN}
    key = next((Tombstone.read(node).key for node in view.find(Node, _CHOSEN, limit=1).items), None)
    key = key or secrets.token_bytes(16)
    found: list[Node] = []
    for conversation, gone in lost.items():
        old = before.get(ids[conversation]) or Tombstone(ids[conversation], key, (), frozenset())
        living = [m for m in every(view, Message, Where(conversation=conversation)) if not m.erased]
        digests = sorted([*_erased(old), *_digests(living, old.key)])[:_MOST]
        if digests:
            now = None if gone is None else (old.gone or frozenset()) | set(_digests(gone, old.key))
            found.append(replace(old, digests=tuple(digests), gone=now).node())
    return found


def _erased(old: Tombstone) -> Iterable[int]:
    """What the messages said that were forgotten before."""
    return old.gone or ()


@dataclass(slots=True)
class Tombstones:
    """What was forgotten in a namespace, as one import learns of it when it begins."""

    _by_digest: dict[tuple[bytes, int], list[Tombstone]] = field(default_factory=dict)
    _keys: set[bytes] = field(default_factory=set)
    _is_read: bool = False

    def __call__(self, view: View, thread: Thread) -> list[Tombstone]:
        """Those that a conversation is of."""
        if not self._is_read:
            self._read(view)
        return list(self._of(thread))

    def _of(self, thread: Thread) -> Iterator[Tombstone]:
        for key in self._keys:
            says = [(_digest(text, key), len(text) >= _LENGTH) for text in map(_text, thread.messages) if text]
            near: dict[NodeId, Tombstone] = {}
            for digest, _ in says:
                near |= {one.id: one for one in self._by_digest.get((key, digest), ())}
            yield from (one for one in near.values() if one.is_of(says))

    def _read(self, view: View) -> None:
        self._is_read = True
        for node in every(view, Node, _CHOSEN):
            one = Tombstone.read(node)
            self._keys.add(one.key)
            for digest in set(one.digests):
                self._by_digest.setdefault((one.key, digest), []).append(one)


def without(thread: Thread, tombstones: Collection[Tombstone]) -> Thread:
    """A conversation in which the messages that were forgotten have no words."""
    gone = {
        message.id
        for message in thread.messages
        if (text := _text(message)) and any(_digest(text, one.key) in (one.gone or ()) for one in tombstones)
    }
    calls = tuple(call for call in thread.tool_calls if call.message_id not in gone)
    dropped = gone | {call.id for call in thread.tool_calls} - {call.id for call in calls}
    title = _plain(thread.conversation.title)
    told = bool(title) and any(_text(m).startswith(title) for m in thread.messages if m.id in gone)
    return replace(
        thread,
        conversation=replace(thread.conversation, title="") if told else thread.conversation,
        messages=tuple(_stripped(message) if message.id in gone else message for message in thread.messages),
        tool_calls=calls,
        chunks=tuple(chunk for chunk in thread.chunks if chunk.parent_id not in dropped),
    )


def _stripped(message: Message) -> Message:
    return replace(
        message,
        content="",
        speaker=None,
        timestamp=None,
        model=None,
        tokens=0,
        parts=(),
        metadata=NOTHING,
        versions=(),
        deleted=True,
        erased=True,
    )


def _digests(messages: Iterable[Message], key: bytes) -> list[int]:
    return [_digest(text, key) for text in map(_text, messages) if text]


def _digest(text: str, key: bytes) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=_BYTES).digest(), "big")


def _text(message: Message) -> str:
    """What a message says in any format: its letters and digits. Nothing where nobody said it."""
    return _plain(message.content) if message.kind is Kind.SAID else ""


def _plain(text: str) -> str:
    return "".join(c for c in normalize("NFKC", text).casefold() if c.isalnum())
