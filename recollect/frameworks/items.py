"""A conversation as a list of a framework's own items: each is a message whose metadata holds the item as it was given.

The words of an item are what searches find it by; the item itself is kept as JSON text, so that nothing of it changes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recollect.frameworks.records import SESSION, USER, place, synced
from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory
from recollect.memory.removal import Removal
from recollect.record import Message, NodeId, Part, PartKind, stable_id
from recollect.text.clean import clean_text, cut_recall

_ITEM = "item"
_WORDS = ("content", "text", "output", "refusal")  # where items of all frameworks have them
_AT_ONCE = 100  # messages that are read in one go, from the end


@dataclass(frozen=True, slots=True)
class Worded:
    """An item with who said it, its words, and whose words they are (`recollect.record.Kind`)."""

    item: Any
    role: str
    text: str = ""
    kind: str = "said"
    name: str = "item"  # for what has no words: "image"


class Items:
    """The items of one conversation, in order, in the namespace of its user, or in one of its own. Thread-safe."""

    def __init__(self, memory: Memory | AsyncMemory, framework: str, name: str, user: str | None = None) -> None:
        self._base, self._framework, self._name, self._user = synced(memory), framework, name, user
        self._lock = threading.RLock()
        self.conversation_id = stable_id("conversation", framework, name)

    @cached_property
    def memory(self) -> Memory:
        """The memory that the conversation is kept in. One that 0.2.0 kept beside those of others is moved there
        first. One that was kept apart, without a user, stays there: the next to use its name may be anybody.
        """
        names = (USER, self._user) if self._user else (SESSION, self._framework, self._name)
        own = self._base.beside(place(self._base, *names))
        with self._lock:
            Removal(self._base.handle).move([self.conversation_id], to=own.namespace)
        return own

    def add(self, items: Sequence[Worded]) -> None:
        """Appends items, all of them or none. Raises TypeError for what JSON cannot hold."""
        messages = [
            {
                "content": one.text,
                "role": one.role,
                "kind": one.kind,
                "parts": () if cut_recall(one.text).strip() else (Part(PartKind.ASSET, one.name),),
                "metadata": {_ITEM: json.dumps(one.item), "framework": self._framework},
            }
            for one in items
        ]
        with self._lock:
            self.memory.store_messages(messages, conversation_id=self.conversation_id, title=self._name)

    def latest(self, limit: int | None = None) -> list[Any]:
        """The items, or the last `limit` of them, oldest first."""
        found: list[Any] = []
        for message in self._newest_first():
            if limit is not None and len(found) >= limit:
                break
            found.append(_item(message))
        return found[::-1]

    def pop(self) -> Any:
        """Takes the last item out and returns it; None where there is none."""
        with self._lock:
            while (last := next(self._newest_first(), None)) is not None:
                if self.memory.delete(last.id):  # else somebody else has taken it
                    return _item(last)
            return None

    def clear(self) -> None:
        """Takes all items out."""
        with self._lock:
            ids = [message.id for message in self._newest_first()]
            if ids:
                self.memory.delete(*ids)

    def _newest_first(self) -> Iterator[Message]:
        """The messages that are not deleted, from the end, so that reading a few of many costs little."""
        with self.memory.handle.space.view() as view:
            end = view.end(NodeId(self.conversation_id))
            last = end.message_count - 1 if end is not None else -1
            while last >= 0:
                first = max(0, last - _AT_ONCE + 1)
                for message in reversed(view.around([(NodeId(self.conversation_id), first, last)])):
                    if not message.deleted and _ITEM in message.metadata:
                        yield message
                last = first - 1


def _item(message: Message) -> Any:
    """The item of a message, in the words that the message has now."""
    item = json.loads(message.metadata[_ITEM])
    if not message.versions:
        return item
    given, new = message.versions[0].content, iter([message.content])

    def reword(text: str) -> str:
        """The new words in the place of the first of those that it was given with, and nothing in that of others."""
        words = clean_text(text).strip()
        return next(new, "") if words and words in given else text

    return _reworded(item, reword)


def _reworded(value: Any, reword: Callable[[str], str], *, is_text: bool = False) -> Any:
    """A JSON value with its texts in other words."""
    if isinstance(value, str):
        return reword(value) if is_text else value
    if isinstance(value, list):
        return [_reworded(one, reword, is_text=is_text) for one in value]
    if isinstance(value, dict):
        return {key: _reworded(one, reword, is_text=key in _WORDS) for key, one in value.items()}
    return value
