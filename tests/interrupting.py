"""A store that lets somebody else act in the middle: between any two calls that are made of it.

What a test does with a memory is done as often as it makes calls, each time interrupted before another of them. So
every interleaving of two writers is looked at, not only the one that somebody thought of.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.worker import MadeUp
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.memory import Handle, Memory
from recollect.models.embedding.base import MAX_TOKENS, TokenVectors, Vectors
from tests.store.builders import embedder

#: What leads on to calls of the store: `Store.space()`, `Space.view()`.
_LEADS_ON = ("space", "view")


class Moment:
    """The call before which something else happens, counted from 0."""

    def __init__(self, at: int, action: Callable[[], object]) -> None:
        self._at, self._action, self._calls = at, action, 0
        self.came = False

    def pass_by(self) -> None:
        if self._calls == self._at and not self.came:
            self.came = True
            self._action()
        self._calls += 1


class Interrupted:
    """Stands before a store, a space or a view."""

    def __init__(self, inner: Any, moment: Moment) -> None:
        self._inner, self._moment = inner, moment

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return value

        def call(*arguments: Any, **named: Any) -> Any:
            if name not in ("space", "close"):
                self._moment.pass_by()
            result = value(*arguments, **named)
            return Interrupted(result, self._moment) if name in _LEADS_ON else result

        return call

    def __enter__(self) -> Interrupted:
        return Interrupted(self._inner.__enter__(), self._moment)

    def __exit__(self, *problem: Any) -> Any:
        return self._inner.__exit__(*problem)


class Quick(MadeUp):
    """Vectors for the quality mode without a model."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_with_tokens(texts, max_tokens=MAX_TOKENS)[0]

    def token_embed(self, texts: Sequence[str], *, max_tokens: int) -> list[TokenVectors]:
        return self.embed_with_tokens(texts, max_tokens=max_tokens)[1]


def opened(path: Path, moment: Moment | None = None) -> Memory:
    """The memory in this file, as a process of its own would open it."""
    store: Any = SQLiteStore(path, durable=False)
    return Memory(Handle(store if moment is None else Interrupted(store, moment), embedder(), quality=Quick))


def at_every_moment(
    folder: Path,
    prepare: Callable[[Memory], object],
    action: Callable[[Memory], object],
    intrusion: Callable[[Memory], object],
    first: int = 0,
    step: int = 1,
) -> Iterator[Memory]:
    """Memories that were prepared and in which `action` was interrupted by `intrusion`, each time some calls later."""
    (folder / "prepared").mkdir(parents=True)
    with opened(folder / "prepared" / "memory.db") as memory:
        prepare(memory)
    for at in range(first, 10_000, step):
        path = folder / f"{at}" / "memory.db"
        shutil.copytree(folder / "prepared", path.parent)
        with opened(path) as other:
            moment = Moment(at, lambda other=other: intrusion(other))  # type: ignore[misc]
            with opened(path, moment) as memory:
                action(memory)
            if not moment.came:
                return
            yield other
