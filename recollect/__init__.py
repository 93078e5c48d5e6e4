"""Memory for LLM conversations: every chat kept as one graph, and the exact message found again.

>>> import recollect
>>> with recollect.open("memory.db") as memory:  # doctest: +SKIP
...     memory.import_file("chatgpt-export.zip")
...     memory.search("nginx reverse proxy")
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import (
    ImportProblem,
    InvalidInput,
    ModelError,
    NotFound,
    RecollectError,
    StoreBusy,
    StoreError,
)
from recollect.opening import open  # noqa: A004

if TYPE_CHECKING:
    from recollect.asynchronous.memory import AsyncMemory
    from recollect.compat.hierarchical import HierarchicalMemory
    from recollect.compat.infinite_chat import InfiniteChatStorage
    from recollect.endless.clients import wrap
    from recollect.memory import Memory

__all__ = [
    "AsyncMemory",
    "HierarchicalMemory",
    "ImportProblem",
    "InfiniteChatStorage",
    "InvalidInput",
    "Memory",
    "ModelError",
    "NotFound",
    "RecollectError",
    "StoreBusy",
    "StoreError",
    "open",
    "restore",
    "wrap",
]


def restore(backup: str | Path, path: str | Path | None = None, *, replace: bool = False) -> Path:
    """Puts a backup (`Memory.backup`) in its place, verified, and returns the place; a memory there is kept unless
    `replace`.

    Without a path it is the memory that the command line uses. Raises NotFound, InvalidInput, StoreError.
    """
    from recollect.errors import InvalidInput
    from recollect.place import Address, read_place
    from recollect.settings import load_settings
    from recollect.store.sqlite.backup import restore_backup

    place = load_settings().store if path is None else read_place(str(path))
    if isinstance(place, Address):
        raise InvalidInput(
            f"A backup can only be restored to a file, and {place} is a server.", hint="Import an export there instead."
        )
    target = place.expanduser()
    if replace:
        from recollect.background.process import stop

        stop(target)
    restore_backup(Path(backup).expanduser(), target, replace=replace)
    return target


def __getattr__(name: str) -> object:
    """The classes and `wrap` are there on first use: importing them takes longer than importing all the rest."""
    if name == "Memory":
        from recollect.memory import Memory

        return Memory
    if name == "AsyncMemory":
        from recollect.asynchronous.memory import AsyncMemory

        return AsyncMemory
    if name == "InfiniteChatStorage":
        from recollect.compat.infinite_chat import InfiniteChatStorage

        return InfiniteChatStorage
    if name == "HierarchicalMemory":
        from recollect.compat.hierarchical import HierarchicalMemory

        return HierarchicalMemory
    if name == "wrap":
        from recollect.endless.clients import wrap

        return wrap
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
