"""The port of the stores: `Store`, `Space`, `View`, `Change`. An engine implements base.py."""

from recollect.store.base import Space, Store, View, Vocabulary
from recollect.store.change import Change, EdgeKey, IndexChange, Lease, Mark, Record, Task
from recollect.store.errors import Fenced, IndexDamaged, Stale, WrongEmbedder
from recollect.store.invariants import Invariant
from recollect.store.results import (
    Counts,
    End,
    Erased,
    IndexInfo,
    Lost,
    Page,
    Revision,
    Span,
    StoreInfo,
    Violation,
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
    "Lost",
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
