"""`Memory` and `AsyncMemory`, how they are opened, and the settings: what the faces call."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.memory.handle import LIVE_SOURCE, Background, ConversationRow, Handle
    from recollect.memory.memory import Memory

__all__ = ["LIVE_SOURCE", "Background", "ConversationRow", "Handle", "Memory"]


def __getattr__(name: str) -> object:
    """The façade is imported on first use: `import recollect` needs only `open` and the settings."""
    if name in __all__:
        return getattr(import_module(f"recollect.memory.{'memory' if name == 'Memory' else 'handle'}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
