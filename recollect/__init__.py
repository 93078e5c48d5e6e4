"""Memory for LLM conversations: every chat kept as one graph, and the exact message found again.

>>> import recollect
>>> with recollect.open("memory.db") as memory:  # doctest: +SKIP
...     memory.import_file("chatgpt-export.zip")
...     memory.search("nginx reverse proxy")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import (
    ImportProblem,
    Incomplete,
    InvalidInput,
    ModelError,
    NotFound,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from recollect.memory.opening import open, recover, restore  # noqa: A004

if TYPE_CHECKING:
    from recollect.compat.hierarchical import HierarchicalMemory
    from recollect.compat.infinite_chat import InfiniteChatStorage
    from recollect.gateway.clients import wrap
    from recollect.memory import Memory
    from recollect.memory.async_memory import AsyncMemory

__all__ = [
    "AsyncMemory",
    "HierarchicalMemory",
    "ImportProblem",
    "Incomplete",
    "InfiniteChatStorage",
    "InvalidInput",
    "Memory",
    "ModelError",
    "NotFound",
    "RecollectError",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "open",
    "recover",
    "restore",
    "wrap",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """The classes and `wrap` are there on first use: importing them takes longer than importing all the rest."""
    if name == "Memory":
        from recollect.memory import Memory

        return Memory
    if name == "AsyncMemory":
        from recollect.memory.async_memory import AsyncMemory

        return AsyncMemory
    if name == "InfiniteChatStorage":
        from recollect.compat.infinite_chat import InfiniteChatStorage

        return InfiniteChatStorage
    if name == "HierarchicalMemory":
        from recollect.compat.hierarchical import HierarchicalMemory

        return HierarchicalMemory
    if name == "wrap":
        from recollect.gateway.clients import wrap

        return wrap
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
