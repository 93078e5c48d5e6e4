"""What was taken out of the record stays out: the secrets that were, known by digests alone.

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
from recollect.text.secret_values import is_word

R = TypeVar("R")

#: The node that knows what was taken out, in a state of its own, and in every dump.
WITHHELD = stable_id("secrets", "withheld")
_WITHHELD = "withheld"
_SIZE = 16  # bytes of a digest
_ALONE = re.compile(r"""[^\s"'`<>,;()\[\]{}]{6,200}""")  # what may be a password without the words around it


class Withheld:
    """What was taken out, as a view tells it: digests by key, the store's own first, then those of other memories that
    were imported.
    """

    def __init__(self, books: Mapping[bytes, Mapping[str, str]]) -> None:
        self._books = books

    @classmethod
    def read(cls, view: View) -> Withheld:
        """What the store keeps; nothing, at first."""
        node = next(iter(view.get(Node, [WITHHELD])), None)
        return cls({secrets.token_bytes(_SIZE): {}}) if node is None or node.erased else cls(_books_of(node))

    def __bool__(self) -> bool:
        return any(self._books.values())

    def node(self) -> Node:
        """As it is stored."""
        own, *others = (
            {"key": key.hex(), "digests": dict(sorted(digests.items()))} for key, digests in self._books.items()
        )
        return Node(WITHHELD, NodeKind.REPORT, state=_WITHHELD, origin=Origin.SAID, body={**own, "others": others})

    def and_these(self, known: Collection[tuple[str, str]]) -> Withheld:
        """With more secrets."""
        own = next(iter(self._books))
        return self._with({own: {_digest(own, value): kind for value, kind in known}})

    def and_of(self, node: Node) -> Withheld:
        """With what another memory had taken out."""
        return self._with(_books_of(node))

    def without(self, known: Collection[tuple[str, str]]) -> Withheld:
        """Without those that may be told again."""
        again = {_digest(key, value) for key in self._books for value, _ in known}
        return Withheld(
            {
                key: {digest: kind for digest, kind in digests.items() if digest not in again}
                for key, digests in self._books.items()
            }
        )

    def _with(self, books: Mapping[bytes, Mapping[str, str]]) -> Withheld:
        return Withheld({**self._books, **{key: {**self._books.get(key, {}), **one} for key, one in books.items()}})

    def held_in(self, record: object) -> set[tuple[str, str]]:
        """The secrets of a record that were taken out of the memory before, each with its kind of then."""
        if not self:
            return set()
        values = {value for value, _ in secrets_of(record)}
        for text in texts_of(record):
            for word in _ALONE.findall(text):
                parts = {word, word.rstrip(".,:!?"), *re.split("[=:@/]", word)}
                values |= {part for part in parts if not is_word(part)}
        found = (
            (value, digests.get(_digest(key, value)))
            for key, digests in self._books.items()
            if digests
            for value in values
            if value
        )
        return {(value, kind) for value, kind in found if kind is not None}

    def out_of(self, record: R) -> R:
        """The record as it was left when these secrets were taken out."""
        held = self.held_in(record)
        return Mask.of(held, finds=False).all(record) if held else record

    def of_thread(self, thread: Thread, count_tokens: Callable[[str], int]) -> Thread:
        """The same of a conversation."""
        held = self.held_in(thread)
        return redacted(thread, Mask.of(held, finds=False), count_tokens) if held else thread


def _books_of(node: Node) -> dict[bytes, dict[str, str]]:
    books = [node.body, *node.body.get("others", ())]
    return {bytes.fromhex(book["key"]): dict(book["digests"]) for book in books}


def _digest(key: bytes, value: str) -> str:
    return blake2b(value.encode("utf-8", "replace"), key=key, digest_size=_SIZE).hexdigest()


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
