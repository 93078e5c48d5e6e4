"""Work on the blocks of a large snapshot, on two cores: numpy lets others run while it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from recollect.processes import cores

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
R = TypeVar("R")


def each(work: Callable[[T], R], items: Iterable[T], *, together: bool) -> list[R]:
    """What the work makes of each item, in order; `together` where it is worth the trouble of threads."""
    pool = _pool() if together else None
    return [work(item) for item in items] if pool is None else list(pool.map(work, items))


@cache
def _pool() -> ThreadPoolExecutor | None:
    from concurrent.futures import ThreadPoolExecutor

    many = min(cores(), 4)
    return ThreadPoolExecutor(many, thread_name_prefix="recollect-index") if many > 1 else None
