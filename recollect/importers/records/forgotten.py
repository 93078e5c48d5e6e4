"""What was forgotten is known again under any title, id or format: by keyed digests of what its messages said.

A tombstone is a node without words. It holds a digest of 30 bits for each message, and in two more about how long it
was, sorted, so that they tell no order; that of a document holds digests of pieces of its text, and is known by all.
The key is random and the memory's own: without it a digest says nothing, and two memories have nothing in common. Who
holds the memory can test a guess, as it must be able to itself; what nobody guesses is not in it.
"""

from __future__ import annotations

import re
import secrets
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from unicodedata import normalize

from recollect.record import NOTHING, Document, Kind, Message, Node, NodeId, NodeKind, Origin, Thread, stable_id
from recollect.store import View, Where
from recollect.store.transfer import every

#: The states of the nodes; no others have them.
FORGOTTEN, REVIVED = "forgotten", "revived"

_KEY = re.compile("[0-9a-f]{32}")
_BYTES = 4  # of a digest
_MOST = 4_000  # digests that are kept of one conversation: the smallest, which are also looked at of what comes
_PIECE = 200  # letters and digits of a document that make a digest
_GREETING = 2  # messages that may begin any conversation: "hi", "Hello! How can I help you today?"
# How much messages tell which conversation they are of. "thanks" tells little, an answer of some sentences much.
_LENGTHS = (16, 32, 100)  # letters and digits
_WEIGHTS = (1, 3, 6, 9)  # of messages shorter than these, and of all others
_SAID_ONCE = 2  # the length, as a digest has it, of what nobody says twice with the same words
_TELLING = 12  # weight that tells it, however the conversation has grown

_CHOSEN = Where(kinds=(NodeKind.REPORT.value,), states=(FORGOTTEN,))

#: A node that is written with tombstones: its revision tells who imports that something was forgotten meanwhile.
COUNT = stable_id("count of tombstones")


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Of a conversation that was forgotten whole, or of which the messages `gone` were."""

    id: NodeId
    key: bytes
    digests: tuple[int, ...]
    gone: frozenset[int] | None = None  # None: all of it

    @classmethod
    def read(cls, node: Node) -> Tombstone | None:
        """From its node; None for one that another hand has changed in a dump."""
        match node.body:
            case {"key": str(key), "digests": list(digests), **rest} if _KEY.fullmatch(key) and _numbers(digests):
                gone = rest.get("gone")
                if gone is None or (isinstance(gone, list) and _numbers(gone)):
                    return cls(node.id, bytes.fromhex(key), tuple(digests), None if gone is None else frozenset(gone))
        return None

    def node(self) -> Node:
        """As it is stored."""
        body = {"key": self.key.hex(), "digests": list(self.digests)}
        if self.gone is not None:
            body["gone"] = sorted(self.gone)
        return Node(self.id, NodeKind.REPORT, state=FORGOTTEN, origin=Origin.SAID, body=body)

    def joined(self, other: Tombstone | None) -> Tombstone:
        """What either knows, of two that one memory made of the same conversation; of others it is this."""
        if other is None or other.key != self.key:
            return self
        gone = None if self.gone is None or other.gone is None else self.gone | other.gone
        digests = (Counter(self.digests) | Counter(other.digests)).elements()
        return replace(self, digests=tuple(sorted(digests)[:_MOST]), gone=gone)

    def revived(self) -> Node:
        """The node of one that was asked for again; no dump has it."""
        return Node(self.id, NodeKind.REPORT, state=REVIVED)

    def is_of(self, says: Collection[int]) -> bool:
        """Whether a conversation is the forgotten one, cut or grown perhaps: most of what was forgotten is in it, by
        count and by weight, and enough to tell it; or a part of it: most of what it says was forgotten. Where they have
        little in common, as of short messages, it must be nearly all of either. `says`: the digest of each message.
        """
        if len(self.digests) == _MOST:
            says = [digest for digest in says if digest <= self.digests[-1]]
        common = list((Counter(self.digests) & Counter(says)).elements())
        if len(common) == len(self.digests) == len(says):
            return bool(common)
        weight, whole = _weight(common), _weight(self.digests)
        if weight >= _TELLING and 4 * weight > 3 * _weight(says):
            return True
        if 2 * len(common) <= len(self.digests) or 2 * weight <= whole:
            return False
        return weight >= _TELLING or (len(common) > _GREETING and 4 * weight > 3 * max(whole, _weight(says)))

    def is_text_of(self, says: Sequence[int]) -> bool:
        """Whether a document says what the forgotten one did, no more and no less. `says`: its digests, sorted."""
        return self.digests == tuple(says[:_MOST])

    def rarest(self, times: Mapping[int, int]) -> Iterator[int]:
        """Digests of which each conversation that this is of has one, a part of it too: those that are met seldom."""
        count, whole = Counter(self.digests), _weight(self.digests)
        left = whole
        for digest in sorted(count, key=lambda digest: times[digest]):
            if 2 * left <= whole and left < _TELLING:
                return
            yield digest
            left -= count[digest] * _weight([digest])


def tombstones(
    view: View, whole: Iterable[NodeId], single: Iterable[Message], documents: Iterable[Document]
) -> list[Node]:
    """The nodes that are left of conversations that are forgotten whole, of those that lose single messages, and of
    documents.
    """
    lost: dict[NodeId, list[Message] | None] = dict.fromkeys(whole)
    for message in single:
        if (messages := lost.setdefault(message.conversation_id, [])) is not None:
            messages.append(message)
    first = next((one for one in map(Tombstone.read, every(view, Node, _CHOSEN)) if one is not None), None)
    key = first.key if first is not None else secrets.token_bytes(16)
    made: list[Tombstone] = []
    for conversation, gone in lost.items():
        living = [m for m in every(view, Message, Where(conversation=conversation)) if not m.erased]
        digests = tuple(sorted(_digests(living, key))[:_MOST])
        now = None if gone is None else frozenset(_digests(gone, key, said=False))
        made.append(Tombstone(stable_id(FORGOTTEN, key.hex(), conversation), key, digests, now))
    for document in documents:
        for text in (document.content, *(version.content for version in document.versions)):
            pieces = tuple(_digests_of_text(text, key)[:_MOST])
            # by what it says: the same document may be forgotten with another text later
            made.append(Tombstone(stable_id(FORGOTTEN, key.hex(), document.id, *map(str, pieces)), key, pieces))
    before = _stored(view, [one.id for one in made])
    left = [one.node() for new in made if (one := new.joined(before.get(new.id))).digests]
    return [*left, _COUNTED] if left else []


def of_dump(view: View, nodes: Collection[Node]) -> list[Node]:
    """The nodes of a dump, of which the tombstones take nothing back of what was forgotten here."""
    came = {node.id: Tombstone.read(node) for node in nodes if _is_tombstone(node)}
    before = _stored(view, came)
    found: list[Node] = []
    for node in nodes:
        if node.id not in came:
            found.append(node)
        elif (one := came[node.id]) is not None:
            found.append((before[node.id].joined(one) if node.id in before else one).node())
    return [*found, _COUNTED] if came else found


_COUNTED = Node(COUNT, NodeKind.REPORT, state=FORGOTTEN)


def _is_tombstone(node: Node) -> bool:
    """A fact may be forgotten too, and can be called back."""
    return node.kind is NodeKind.REPORT and node.state == FORGOTTEN


def _stored(view: View, ids: Iterable[NodeId]) -> dict[NodeId, Tombstone]:
    nodes = [node for node in view.get(Node, list(ids)) if _is_tombstone(node)]
    return {one.id: one for one in map(Tombstone.read, nodes) if one is not None}


@dataclass(slots=True)
class Tombstones:
    """What was forgotten in a namespace, as an import knows it; what is forgotten meanwhile it learns."""

    _by_digest: dict[tuple[bytes, int], list[Tombstone]] = field(default_factory=dict)
    _keys: set[bytes] = field(default_factory=set)
    _as_of: int | None = None

    def as_of(self, view: View) -> int:
        """Reads what was forgotten since the last time. Returns the revision of `COUNT`, for a change to expect."""
        revision = view.revisions([COUNT]).get(COUNT)
        count = revision.number if revision is not None else 0
        if count != self._as_of:
            self._read(view)
            self._as_of = count
        return count

    def __call__(self, thread: Thread) -> list[Tombstone]:
        """Those that a conversation is of."""
        said = {key: _digests(thread.messages, key) for key in self._keys}
        return [one for key, says in said.items() for one in self._near(key, says) if one.is_of(says)]

    def of_document(self, document: Document) -> list[Tombstone]:
        """Those that a document is of: its text was forgotten, whatever it was called."""
        said = {key: _digests_of_text(document.content, key) for key in self._keys}
        return [one for key, says in said.items() for one in self._near(key, says) if one.is_text_of(says)]

    def told_again(self, view: View, texts: Sequence[str]) -> set[int]:
        """The places of texts that a part of a conversation says and that were forgotten. Short ones prove nothing, and
        are meant beside another, or behind what they were said behind.
        """
        told: set[int] = set()
        plain = [_plain(text) for text in texts]
        for one in (one for node in every(view, Node, _CHOSEN) if (one := Tombstone.read(node)) is not None):
            gone = one.gone if one.gone is not None else frozenset(one.digests)
            digests = {n: _digest(text, one.key) for n, text in enumerate(plain) if text}
            common = [n for n, digest in digests.items() if digest in gone]
            told.update(n for n in common if digests[n] & 3 or digests.get(n - 1) in one.digests)
            for some in (common, reversed(common)):
                told.update(n for n in some if told & {n - 1, n + 1})
        return told

    def _near(self, key: bytes, says: Iterable[int]) -> Collection[Tombstone]:
        near: dict[NodeId, Tombstone] = {}
        for digest in set(says):
            near |= {one.id: one for one in self._by_digest.get((key, digest), ())}
        return near.values()

    def _read(self, view: View) -> None:
        found = [one for node in every(view, Node, _CHOSEN) if (one := Tombstone.read(node)) is not None]
        times = Counter(digest for one in found for digest in set(one.digests))
        self._keys, self._by_digest = {one.key for one in found}, {}
        for one in found:
            for digest in one.rarest(times):
                self._by_digest.setdefault((one.key, digest), []).append(one)


def without(thread: Thread, tombstones: Collection[Tombstone], stored: Thread | None = None) -> Thread:
    """A conversation in which the messages that were forgotten have no words. Where it is `stored`, what is there stays
    as it is, and so does what is short enough to be said again.
    """
    there = {message.id: message for message in stored.messages} if stored is not None else {}

    def is_gone(message: Message, one: Tombstone) -> bool:
        told = _digests([message], one.key, said=False)
        return any(digest in (one.gone or ()) and (stored is None or digest & 3 >= _SAID_ONCE) for digest in told)

    gone = {message.id for message in thread.messages if any(is_gone(message, one) for one in tombstones)}
    calls = tuple(call for call in thread.tool_calls if call.message_id not in gone or call.message_id in there)
    dropped = gone | {call.id for call in thread.tool_calls} - {call.id for call in calls}
    title = _plain(thread.conversation.title)
    told = bool(title) and any(
        _plain(m.content).startswith(title) for m in thread.messages if m.id in gone - there.keys()
    )
    kept = tuple(chunk for chunk in thread.chunks if chunk.parent_id not in dropped)
    chunks = stored.chunks if stored is not None else ()
    return replace(
        thread,
        conversation=replace(thread.conversation, title="") if told else thread.conversation,
        messages=tuple(
            there.get(message.id, _stripped(message)) if message.id in gone else message for message in thread.messages
        ),
        tool_calls=calls,
        chunks=(*kept, *(chunk for chunk in chunks if chunk.parent_id in gone)),
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


def _digests(messages: Iterable[Message], key: bytes, *, said: bool = True) -> list[int]:
    """Of what messages say in any format, and said before they were edited; `said`: not of what nobody said."""
    told = [message for message in messages if message.kind is Kind.SAID or not said]
    texts = (text for m in told for text in (m.content, *(version.content for version in m.versions)))
    return [_digest(plain, key) for text in texts if (plain := _plain(text))]


def _digests_of_text(text: str, key: bytes) -> list[int]:
    """Of all pieces of a document, sorted: no message has the same, and lines and blanks make no difference."""
    plain = _plain(text)
    pieces = (plain[at : at + _PIECE] for at in range(0, len(plain), _PIECE))
    return sorted(_digest(f"document\0{piece}", key) for piece in pieces)


def _digest(text: str, key: bytes) -> int:
    made = blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=_BYTES).digest()
    return int.from_bytes(made, "big") & ~3 | bisect_right(_LENGTHS, len(text))


def _numbers(values: Iterable[object]) -> bool:
    return all(isinstance(value, int) for value in values)


def _weight(digests: Iterable[int]) -> int:
    return sum(_WEIGHTS[digest & 3] for digest in digests)


def _plain(text: str) -> str:
    """The letters and digits."""
    return "".join(c for c in normalize("NFKC", text).casefold() if c.isalnum())
