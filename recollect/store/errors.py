"""What the port of the stores raises, beside the errors of the package: for its callers within Recollect."""

from __future__ import annotations

from collections.abc import Collection

from recollect.errors import StoreError
from recollect.record import NodeId
from recollect.store.change import Lease


class Stale(Exception):
    """These nodes were written by somebody else since the change was planned: read again, plan again."""

    def __init__(self, ids: Collection[NodeId]) -> None:
        super().__init__(", ".join(ids))
        self.ids = tuple(ids)


class Fenced(Exception):
    """The lease has run out and the task may be somebody else's by now: drop the work."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(f"Task {lease.task.id} is no longer held by this lease.")


class WrongEmbedder(StoreError):
    """The vectors of a change were made by another embedder than those of the generation that they are for."""

    code = "wrong_embedder"


class IndexDamaged(StoreError):
    """What is derived for search cannot be read; the record can (`View.scan`), and it is made anew from that."""

    code = "index_damaged"
