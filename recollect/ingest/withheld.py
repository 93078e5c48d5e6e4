"""What was taken out of the record stays out: secrets, and titles that named somebody, known by digests alone.

The digests have a key of the store's own. No store holds the strings, and an export that still has them brings them
back no more: what comes in is left as the record was left.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import TypeVar

from recollect.importers.records.assemble import chunks_of, message_chunks
from recollect.record import Message, Node, NodeKind, Origin, Thread, stable_id
from recollect.search.secrets import Mask, secrets_of, texts_of
from recollect.store import View

R = TypeVar("R")

#: The node that knows what was taken out, in a state of its own, and in every dump.
WITHHELD = stable_id("secrets", "withheld")
_WITHHELD = "withheld"
_TITLES = "(titles)"  # stands for a source, where titles are told apart from secrets
_SIZE = 16  # bytes of a digest
_ALONE = re.compile(r"""[^\s"'`<>,;()\[\]{}]{6,200}""")  # what may be a password without the words around it


class Withheld:
    """What was taken out, as a view tells it: of everything, and of the source that it is asked for."""

    def __init__(self, key: bytes, digests: Mapping[str, str], source: str = "") -> None:
        self._key, self._digests, self._source = key, digests, source

    @classmethod
    def read(cls, view: View) -> Withheld:
        """What the store keeps; nothing, at first."""
        node = next(iter(view.get(Node, [WITHHELD])), None)
        if node is None or node.erased:
            return cls(secrets.token_bytes(_SIZE), {})
        return cls(bytes.fromhex(node.body["key"]), dict(node.body["digests"]))

    def __bool__(self) -> bool:
        return bool(self._digests)

    def node(self) -> Node:
        """As it is stored."""
        body = {"key": self._key.hex(), "digests": dict(sorted(self._digests.items()))}
        return Node(WITHHELD, NodeKind.REPORT, state=_WITHHELD, origin=Origin.SAID, body=body)

    def of(self, source: str) -> Withheld:
        """The same, asked for what comes from a source."""
        return Withheld(self._key, self._digests, source)

    def and_these(self, known: Collection[tuple[str, str]], sources: Collection[str] = ()) -> Withheld:
        """With more secrets: of some sources, or of everything."""
        more = {self._digest(value, source): kind for value, kind in known for source in sources or ("",)}
        return Withheld(self._key, {**self._digests, **more})

    def without(self, known: Collection[tuple[str, str]], sources: Collection[str]) -> Withheld:
        """Without those that may be told again."""
        again = {self._digest(value, source) for value, _ in known for source in ("", _TITLES, *sources)}
        return Withheld(self._key, {digest: kind for digest, kind in self._digests.items() if digest not in again})

    def and_title(self, title: str) -> Withheld:
        """With a title that a conversation had; only titles are compared with it."""
        return Withheld(self._key, {**self._digests, self._digest(title, _TITLES): "title"}, self._source)

    def holds_title(self, title: str) -> bool:
        """Whether a title was taken away."""
        return bool(title) and self._digest(title, _TITLES) in self._digests

    def held_in(self, record: object) -> set[tuple[str, str]]:
        """The secrets of a record that were taken out of the memory before, each with its kind of then."""
        if not self._digests:
            return set()
        values = {value for value, _ in secrets_of(record)}
        for text in texts_of(record):
            for word in _ALONE.findall(text):
                values |= {word, word.rstrip(".,:!?"), *re.split("[=:@/]", word)}
        asked = dict.fromkeys(("", self._source))
        found = ((value, self._digests.get(self._digest(value, one))) for value in values if value for one in asked)
        return {(value, kind) for value, kind in found if kind is not None}

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

    def _digest(self, value: str, source: str) -> str:
        told = f"{source}\0{value}" if source else value
        return blake2b(told.encode("utf-8", "replace"), key=self._key, digest_size=_SIZE).hexdigest()


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
