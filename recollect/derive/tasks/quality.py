"""The vectors of the quality mode: made in small batches, newest first, by one worker of a namespace at a time."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from recollect.derive.tasks.base import Heartbeat
from recollect.errors import StoreError
from recollect.models.embedding import QUALITY_TOKENS, TokenEmbedder
from recollect.record import stable_id
from recollect.store import Change, Fenced, IndexChange, Space, Task
from recollect.store.passages import QualityVectors

#: The kind of the task whose lease says who makes them.
QUALITY = "quality"

_BATCH, _SMALL = 64, 16  # passages; small ones in the background, which others wait for less
_LEASE = timedelta(seconds=30)
_TURN = Task(id=stable_id("task", QUALITY), kind=QUALITY)
_LOOK_AGAIN = 0.5  # seconds, while somebody else makes them
_PATIENCE = 180.0  # seconds without any progress of theirs

#: Makes the embedder; it is loaded when the first text comes.
Model = Callable[[], TokenEmbedder]


def is_wanted(space: Space) -> bool:
    """Whether anything that was said has no such vectors yet."""
    with space.view() as view:
        return bool(view.unembedded(1))


def embed_some(
    space: Space, model: Model, clock: Callable[[], datetime], until: Callable[[], bool] = lambda: False
) -> int:
    """Makes vectors until all are made or `until` says so; returns how many. None while others do."""
    if not is_wanted(space):
        return 0
    with _turn(space, clock) as own:
        return sum(_batches(space, model, None, until, _SMALL)) if own else 0


def embed_all(
    space: Space,
    model: Model,
    clock: Callable[[], datetime],
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Makes them all, or so many; returns how many it made. While somebody else makes them, it watches them do it.

    `progress` gets how many of those wanted at the beginning are made, and wanted.
    """
    wanted = _missing(space)
    wanted = wanted if limit is None else min(wanted, limit)
    made = watched = 0
    seen = time.monotonic()
    while made + watched < wanted:
        with _turn(space, clock) as own:
            if own or time.monotonic() - seen > _PATIENCE:
                for some in _batches(space, model, wanted - made - watched, lambda: False, _BATCH):
                    made += some
                    if progress is not None:
                        progress(made + watched, wanted)
                return made
        time.sleep(_LOOK_AGAIN)
        left = _missing(space)
        if (by_others := max(0, wanted - left)) != watched:
            watched, seen = by_others, time.monotonic()
            if progress is not None:
                progress(watched, wanted)
    return made


def _missing(space: Space) -> int:
    with space.view() as view:
        counts = view.counts()
    return counts.said_passages - counts.quality


@contextmanager
def _turn(space: Space, clock: Callable[[], datetime]) -> Iterator[bool]:
    """Whether it is ours to make them, for as long as the block runs."""
    space.write(Change(tasks=[_TURN], begins=False))
    leases = space.claim(f"{os.getpid()}-{secrets.token_hex(4)}", [QUALITY], 1, _LEASE)
    if not leases:
        yield False
        return
    with Heartbeat(_LEASE) as heartbeat, heartbeat.holding(space, leases):
        try:
            yield True
        except BaseException:
            with suppress(Fenced, StoreError):
                space.release(leases[0], "", clock())
            raise
    with suppress(Fenced):
        space.write(Change(leases=leases, begins=False))


def _batches(space: Space, model: Model, limit: int | None, until: Callable[[], bool], size: int) -> Iterator[int]:
    """Makes batch after batch; gives the size of each that is written."""
    made = 0
    while not until() and (limit is None or made < limit):
        with space.view() as view:
            texts = view.unembedded(size if limit is None else min(size, limit - made))
        if not texts:
            return
        vectors, tokens = model().embed_with_tokens([text.text for text in texts], max_tokens=QUALITY_TOKENS)
        rows = [
            QualityVectors(text.number, vector, token.ids, token.vectors)
            for text, vector, token in zip(texts, vectors, tokens, strict=True)
        ]
        space.write(Change(index=IndexChange(quality=rows), begins=False))
        made += len(rows)
        yield len(rows)
