"""What was taken out of the record stays out: secrets, and titles that named somebody, known by digests alone.

The digests have a random key, and those that came in a dump the key that they had there; a memory that has one already
makes no other. No store holds the strings, and an export that still has them brings them back no more: what comes in is
left as the record was left. How long the strings were is kept too, for they stand in other texts in any signs.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import replace
from hashlib import blake2b
from typing import TypeVar

from recollect.importers.records.assemble import chunks_of, message_chunks
from recollect.record import Message, Node, NodeKind, Origin, Thread, stable_id
from recollect.search.secrets import Mask, secrets_of, texts_of
from recollect.store import View
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
