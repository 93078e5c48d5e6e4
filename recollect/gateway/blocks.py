"""What requests were given, kept for as long as a provider may keep its cache of their prompts.

A block stands right before the words that it was made for. A client sends those words again without it, in the next
step of a tool or the next turn; put back to the byte, the prompt begins as it did, and the cache holds. What is kept is
never sent again once something of it was reworded, deleted or forgotten.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recollect.context import Context
from recollect.memory import Memory
from recollect.record import NodeId

_MOST = 2_000  # blocks
_LASTS = 3_600.0  # seconds: no provider keeps a prompt for longer
TIMES = 4  # so many budgets of blocks may stand in a request, before all but the newest go
_TELLING = frozenset({"summaries", "facts", "recent", "knowledge", "relevant"})


@dataclass(frozen=True, slots=True)
class Block:
    """What stood before some words. An empty one: there was nothing to tell."""

    text: str
    tokens: int
    ids: frozenset[NodeId]
    fingerprint: str
    made: float


@dataclass(slots=True)
class Blocks:
    """Thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[tuple[str, NodeId], Block] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, memory: Memory, key: NodeId) -> Block | None:
        """What was put there, if it still holds."""
        name = (str(memory.namespace), key)
        with self._lock:
            block = self._kept.get(name)
        if block is None:
            return None
        if self.clock() - block.made > _LASTS or block.fingerprint != memory.fingerprint(block.ids):
            with self._lock:
                self._kept.pop(name, None)
            return None
        return block

    def make(self, memory: Memory, key: NodeId, context: Context) -> Block:
        """Keeps what is put there."""
        is_telling = any(part.name in _TELLING for part in context.parts)
        ids = frozenset(context.named_ids()) if is_telling else frozenset[NodeId]()
        tokens = context.tokens if is_telling else 0
        block = Block(context.text if is_telling else "", tokens, ids, memory.fingerprint(ids), self.clock())
        with self._lock:
            self._kept[str(memory.namespace), key] = block
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return block


def affordable(blocks: Mapping[int, Block], most: int) -> dict[int, Block]:
    """Blocks by their places, or only the newest where together they have become more than `most` tokens: seldom, and
    then at once.
    """
    if sum(block.tokens for block in blocks.values()) <= most or len(blocks) < 2:
        return dict(blocks)
    last = max(blocks)
    return {last: blocks[last]}
