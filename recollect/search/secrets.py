"""Masks for what a model is given: every secret that a text holds, whole or in part, becomes `[secret: …]`.

A secret is found in the text itself, or known from where it was said: a snippet may begin in the middle of a key, a
fact may tell a password without the words around it. What is known is kept nowhere. Passages that hold a secret are
flagged when they are made (`Flag.SECRET`), and their owners are read once a process.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from recollect.record import Conversation, Document, Message, Node, NodeId, ToolCall
from recollect.store import IndexDamaged, View
from recollect.store.passages import Owner
from recollect.text.language import Flag
from recollect.text.secret_formats import changes, is_word
from recollect.text.secrets import AUTHORIZATION, KEY, PASSWORD, PRIVATE_KEY, Secret, begins, find_secrets, replaced

T = TypeVar("T")

#: So many characters in a row of a key are a part of it.
_PART = 8
#: So many of them, or so many changes between capitals, small letters and digits, are no word or date of another text.
_LONG_PART, _CHANGES = 20, 3
# What stands before and behind where a text was cut off.
_CUT_BEFORE, _CUT_BEHIND = ("…", "...", "[…] "), ("…", "...", " […]")
#: A password shorter than this may be a word of other texts: it is masked only where it is found by its place.
_SHORTEST_PASSWORD = 6
_RECORDS: Mapping[Owner, type[Any]] = {
    Owner.MESSAGE: Message,
    Owner.TOOL_CALL: ToolCall,
    Owner.DOCUMENT: Document,
    Owner.CONVERSATION: Conversation,
    Owner.NODE: Node,
}


@dataclass(frozen=True, slots=True)
class Mask:
    """Masks texts. `parts` are of keys: in small letters, as topics tell them, each with its kind and as the key spells
    it; of a password they tell where a text was cut off. `words` are whole secrets, and `placed` those that are words
    of other texts too: where a text tells by itself that it is one. Unless it `finds` more, that is all.
    """

    parts: Mapping[str, tuple[str, str]]
    words: Mapping[str, str]
    placed: Set[str] = frozenset()
    finds: bool = True

    @classmethod
    def of(cls, known: Collection[tuple[str, str]], *, finds: bool = True) -> Mask:
        """Of secrets, each with its kind. Unless it `finds` more by itself, only these are masked."""
        parts: dict[str, tuple[str, str]] = {}
        words: dict[str, str] = {}
        placed: set[str] = set()
        for value, kind in known:
            is_password = kind.startswith(PASSWORD)
            if is_password and (is_word(value) or (finds and len(value) < _SHORTEST_PASSWORD)):
                placed.add(value)
                continue
            if is_password or not finds or kind in (KEY, AUTHORIZATION):
                words[value] = kind
            if finds or not is_password:
                parts |= {part.lower(): (kind, part) for part in _parts(value, kind)}
        return cls(parts, words, placed, finds)

    @classmethod
    def joined(cls, masks: Iterable[Mask]) -> Mask:
        """One that masks what any of these does."""
        parts: dict[str, tuple[str, str]] = {}
        words: dict[str, str] = {}
        for mask in masks:
            parts.update(mask.parts)
            words.update(mask.words)
        return cls(parts, words)

    def __call__(self, text: str, spoken: str = "") -> str:
        """The text with its secrets masked, but for those that were just `spoken`: who asks may tell a key."""
        found = [one for one in self.find(text) if not spoken or text[one.start : one.end] not in spoken]
        return replaced(text, found) if found else text

    def find(self, text: str) -> list[Secret]:
        """The secrets of a text, whole or in part, in order and apart."""
        if len(text) < _SHORTEST_PASSWORD:
            return []
        found = find_secrets(text) if self.finds or self.placed else []
        if not self.finds:
            found = [one for one in found if text[one.start : one.end] in self.placed]
        return _apart([*found, *self._parts_in(text), *self._words_in(text)])

    def all(self, value: T, spoken: str = "") -> T:
        """A record, map or list with the texts in it masked. What has no secret is returned as it is."""
        return self._all(value, spoken)  # type: ignore[no-any-return]

    def _all(self, value: Any, spoken: str) -> Any:
        if isinstance(value, str):
            plain = self(value, spoken)
            return value if plain == value else plain
        if isinstance(value, Mapping):
            made: dict[Any, Any] = {}
            for key, one in value.items():
                made[_apart_from(made, self._all(key, spoken))] = self._all(one, spoken)
            return value if made == value else made
        if isinstance(value, list | tuple):
            items = [self._all(one, spoken) for one in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if is_dataclass(value) and not isinstance(value, type):
            changed = {
                field.name: new
                for field in fields(value)
                if field.init
                and (self.finds or not _is_id(field.name))
                and (new := self._all(old := getattr(value, field.name), spoken)) is not old
            }
            return replace(value, **changed) if changed else value
        return value

    def _parts_in(self, text: str) -> Iterator[Secret]:
        if not self.parts:
            return
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = text
        start, end, kind, spelled = -1, -1, "", ""
        for at in range(len(lowered) - _PART + 1):
            part = self.parts.get(lowered[at : at + _PART])
            if part is None:
                continue
            if at > end:
                if start >= 0 and self._is_told(text, start, end, spelled, kind):
                    yield Secret(start, end, kind)
                start, end, (kind, spelled) = at, at + _PART, part
            else:
                spelled, end = spelled + part[1][end - at :], at + _PART
        if start >= 0 and self._is_told(text, start, end, spelled, kind):
            yield Secret(start, end, kind)

    def _is_told(self, text: str, start: int, end: int, spelled: str, kind: str) -> bool:
        """Whether letters that a key has too tell it: they are many, change as no word does, or were cut off. Of a
        record nothing is cut off, and a word there that is in a key as well is a word.
        """
        if not kind.startswith(PASSWORD) and (end - start >= _LONG_PART or changes(spelled) >= _CHANGES):
            return True
        is_cut = text.endswith(_CUT_BEFORE, 0, start) or text.startswith(_CUT_BEHIND, end)
        return self.finds and (is_cut or (start == 0) != (end == len(text)))

    def _words_in(self, text: str) -> Iterator[Secret]:
        for word, kind in self.words.items():
            at = text.find(word)
            while at >= 0:
                end = at + len(word)
                after = text[end : end + 1]
                within = not begins(text, at) or (after.isascii() and after.isalnum())
                if not (within and kind.startswith(PASSWORD)):
                    yield Secret(at, end, kind)
                at = text.find(word, end)


class Masking:
    """The masks of one space, as it is read. Thread-safe."""

    def __init__(self) -> None:
        self._read: dict[int, Mask] = {}
        self._mask = Mask({}, {})
        self._lock = threading.Lock()

    def of(self, view: View) -> Mask:
        """The mask as of a view. Without a readable index only what a text itself tells is masked."""
        try:
            numbers = view.flagged(Flag.SECRET)
        except IndexDamaged:
            return self._mask
        with self._lock:
            if self._read.keys() != set(numbers):
                fresh = _read(view, [number for number in numbers if number not in self._read])
                self._read = {number: fresh.get(number) or self._read[number] for number in numbers}
                self._mask = Mask.joined(self._read.values())
            return self._mask


def texts_of(record: object) -> Iterator[str]:
    """All texts of a record, those inside maps and lists too. Its ids are none: they stay as long as it does."""
    if isinstance(record, str):
        yield record
    elif isinstance(record, Mapping):
        for key, value in record.items():
            yield from texts_of(key)
            yield from texts_of(value)
    elif isinstance(record, list | tuple):
        for value in record:
            yield from texts_of(value)
    elif is_dataclass(record) and not isinstance(record, type):
        for field in fields(record):
            if not _is_id(field.name):
                yield from texts_of(getattr(record, field.name))


def _is_id(field: str) -> bool:
    return field == "id" or field.endswith(("_id", "_ids"))


def _apart_from(known: Collection[Any], name: Any) -> Any:
    """A name that is not yet known: two keys that are masked are two still."""
    fresh, number = name, 2
    while fresh in known:
        fresh, number = f"{name} {number}", number + 1
    return fresh


def secrets_of(record: object) -> Iterator[tuple[str, str]]:
    """The secrets of all texts of a record, each with its kind."""
    for text in texts_of(record):
        for one in find_secrets(text):
            yield text[one.start : one.end], one.kind


def _read(view: View, numbers: Sequence[int]) -> dict[int, Mask]:
    """Masks of the secrets of what passages belong to, by the number of the passage."""
    passages = view.passages(numbers)
    found: dict[NodeId, Mask] = {}
    for owner, kind in _RECORDS.items():
        ids = list(dict.fromkeys(one.owner_id for one in passages if one.owner == owner))
        for record in view.get(kind, ids):
            found[record.id] = Mask.of(set(secrets_of(record)))
    masks = {one.number: found.get(one.owner_id) or Mask.of(set(secrets_of(one.text))) for one in passages}
    return dict.fromkeys(numbers, Mask({}, {})) | masks


def _parts(value: str, kind: str) -> Iterator[str]:
    """The runs of a key by which a part of it is known: not what all keys of its kind begin with."""
    if value.startswith("eyJ"):
        value = value.partition(".")[2]
    lines = re.findall(r"[A-Za-z0-9+/=]{24,}", value) if kind == PRIVATE_KEY else [value]
    for line in lines:
        for at in range(len(line) - _PART + 1):
            run = line[at : at + _PART]
            if len(set(run)) > _PART // 2 and (any(map(str.isdigit, run)) or not (run.islower() or run.isupper())):
                yield run


def _apart(found: list[Secret]) -> list[Secret]:
    """In order, those that overlap as one, which is called as the longer one is."""
    kept: list[Secret] = []
    for one in sorted(found):
        if kept and one.start < kept[-1].end:
            last = kept[-1]
            kind = last.kind if last.end - last.start >= one.end - one.start else one.kind
            kept[-1] = Secret(last.start, max(last.end, one.end), kind)
        else:
            kept.append(one)
    return kept
