"""What requests were given, kept for as long as a provider may keep its cache of their prompts.

A block stands right before the words that it was made for. A client sends those words again without it, in the next
step of a tool or the next turn; put back to the byte, the prompt begins as it did, and the cache holds. So blocks
gather, each with what those before it do not tell, until together they are too many; then all go at once, stay gone,
and gather again. What is kept is never sent again once something of it was reworded, deleted or forgotten.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from recollect.context import Context
from recollect.context.result import tokens_in
from recollect.memory import Memory
from recollect.record import NodeId

_MOST = 2_000  # blocks
_LASTS = 3_600.0  # seconds since it was last sent: no provider keeps a prompt for longer
TIMES = 6  # so many budgets of blocks may stand in a request, before all but the newest go
_GATHER = 20  # so many turns they gather at least, where nothing else shortens them
_LEAST = 200  # tokens of a block
_DERIVED = frozenset({"rules", "summaries", "facts", "knowledge"})
_TELLING = _DERIVED | {"recent", "relevant"}


@dataclass(slots=True)
class GivenBlock:
    """What stood before some words. An empty one: there was nothing to tell. `told` need no telling again while it
    stands there: messages that are in it word for word, rules, facts and summaries.
    """

    text: str
    tokens: int
    ids: frozenset[NodeId]
    told: frozenset[NodeId]
    fingerprint: str
    used: float


@dataclass(slots=True)
class Blocks:
    """Thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[tuple[str, NodeId], GivenBlock] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, memory: Memory, key: NodeId) -> GivenBlock | None:
        """What was put there, if it still holds."""
        name = (str(memory.namespace), key)
        with self._lock:
            block = self._kept.get(name)
        if block is None:
            return None
        if self.clock() - block.used > _LASTS or block.fingerprint != memory.integration.fingerprint(block.ids):
            self.drop(memory, [key])
            return None
        block.used = self.clock()
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
        return block

    def make(self, memory: Memory, key: NodeId, context: Context) -> GivenBlock:
        """Keeps what is put there."""
        is_telling = any(part.name in _TELLING for part in context.parts)
        text = context.text if is_telling else ""
        ids = frozenset(context.named_ids()) if is_telling else frozenset[NodeId]()
        derived = {own for part in context.parts if part.name in _DERIVED for own in part.ids}
        told = frozenset(context.whole_ids() | derived) if is_telling else frozenset[NodeId]()
        block = GivenBlock(text, tokens_in(text), ids, told, memory.integration.fingerprint(ids), self.clock())
        with self._lock:
            self._kept[str(memory.namespace), key] = block
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return block

    def drop(self, memory: Memory, keys: Iterable[NodeId]) -> None:
        """Keeps them no longer."""
        with self._lock:
            for key in keys:
                self._kept.pop((str(memory.namespace), key), None)


def share(budget: int, most: int, told: int) -> int:
    """How many tokens a block may have where `told` of `most` are told already: the first of a run a whole budget, the
    others so few that many of them gather.
    """
    first = min(budget, max(most // 4, _LEAST))
    return min(max((most - first) // _GATHER, _LEAST), budget) if told else first
