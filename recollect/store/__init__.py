"""The port of the stores: `Store`, `Space`, `View`, `Change`. An engine implements base.py."""

from recollect.store.base import Fenced, IndexDamaged, Space, Stale, Store, View, WrongEmbedder
from recollect.store.change import Change, EdgeKey, IndexChange, Lease, Mark, Record, Task
from recollect.store.invariants import Invariant
from recollect.store.results import (
    Counts,
    End,
    Erased,
    IndexInfo,
    Page,
    Revision,
    Span,
    StoreInfo,
    Violation,
    Vocabulary,
    Where,
)

__all__ = [
    "Change",
    "Counts",
    "EdgeKey",
    "End",
    "Erased",
    "Fenced",
    "IndexChange",
    "IndexDamaged",
    "IndexInfo",
    "Invariant",
    "Lease",
    "Mark",
    "Page",
    "Record",
    "Revision",
    "Space",
    "Span",
    "Stale",
    "Store",
    "StoreInfo",
    "Task",
    "View",
    "Violation",
    "Vocabulary",
    "Where",
    "WrongEmbedder",
]
