"""Whose memory an adapter reads and writes: a namespace for each user, so that nobody is told another's facts.

They lie below the namespace of the memory that the adapter was given: `default/user/alice`, where all adapters find
what alice said; `default/session/…` where no user is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory
from recollect.record import stable_id

USER, SESSION = "user", "session"
_UNFIT = re.compile(r"[^\w.@+-]+")
_LONGEST = 40  # characters of a name
_HASH = 12  # characters of what tells names apart that had to be changed
_HASHED = re.compile(rf"-[0-9A-Z]{{{_HASH}}}\Z")  # as such a name ends: nobody may choose the place of another


def synced(memory: Memory | AsyncMemory) -> Memory:
    """The memory itself, whichever face of it a program holds."""
    return memory.sync if isinstance(memory, AsyncMemory) else memory


def place(memory: Memory, *names: str) -> str:
    """The namespace below a memory's own that these names make; other names make another one."""
    return "/".join([str(memory.namespace), *map(_part, names)])


def below(memory: Memory, *kinds: str) -> Iterator[Memory]:
    """The memories below a memory's own whose first name is one of these."""
    heads = tuple(f"{place(memory, kind)}/" for kind in kinds)
    for name in memory.namespaces():
        if name.startswith(heads):
            yield memory.beside(name)


def _part(name: str) -> str:
    """A name as a part of a namespace; what has to be changed for that is told apart by a hash."""
    fit = _UNFIT.sub("-", name)[:_LONGEST]
    if fit == name and name and not _HASHED.search(name):
        return fit
    return f"{fit or 'one'}-{stable_id('name', name)[-_HASH:]}"
