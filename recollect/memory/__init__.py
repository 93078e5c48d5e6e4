"""`Memory` and `AsyncMemory`, how they are opened, and the settings: what the faces call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.memory.memory import (
        LIVE_SOURCE,
        Background,
        ConversationPage,
        ConversationRow,
        DeletedRow,
        Memory,
        Probe,
    )

__all__ = ["LIVE_SOURCE", "Background", "ConversationPage", "ConversationRow", "DeletedRow", "Memory", "Probe"]


def __getattr__(name: str) -> object:
    """The façade is imported on first use: `import recollect` needs only `open` and the settings."""
    if name in __all__:
        from recollect.memory import memory

        return getattr(memory, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
