"""Whose memory an adapter reads and writes: a namespace for each user, so that nobody is told another's facts.

They lie below the namespace of the memory that the adapter was given: `default/user/alice`, where all adapters find
what alice said; `default/session/…` where no user is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory
from recollect.record import namespace_part

USER, SESSION = "user", "session"


def synced(memory: Memory | AsyncMemory) -> Memory:
    """The memory itself, whichever face of it a program holds."""
    return memory.sync if isinstance(memory, AsyncMemory) else memory


def place(memory: Memory, *names: str) -> str:
    """The namespace below a memory's own that these names make; other names make another one."""
    return "/".join([str(memory.namespace), *map(namespace_part, names)])


def below(memory: Memory, *kinds: str) -> Iterator[Memory]:
    """The memories below a memory's own whose first name is one of these."""
    heads = tuple(f"{place(memory, kind)}/" for kind in kinds)
    for name in memory.upkeep.namespaces():
        if name.startswith(heads):
            yield memory.beside(name)
