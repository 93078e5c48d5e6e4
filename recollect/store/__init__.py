"""Where the graph is kept: one port, an engine a folder."""

from recollect.store.base import (
    Batch,
    ConversationFilter,
    ConversationRow,
    Counts,
    End,
    Outline,
    Placement,
    Span,
    StaleChange,
    Stand,
    Store,
    ThreadChange,
    Violation,
)

__all__ = [
    "Batch",
    "ConversationFilter",
    "ConversationRow",
    "Counts",
    "End",
    "Outline",
    "Placement",
    "Span",
    "StaleChange",
    "Stand",
    "Store",
    "ThreadChange",
    "Violation",
]
