"""A store that lets somebody else act in the middle: between any two calls that are made of it.

What a test does with a memory is done as often as it makes calls, each time interrupted before another of them. So
every interleaving of two writers is looked at, not only the one that somebody thought of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recollect.memory import Memory
from recollect.store.sqlite.engine import SQLiteStore
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


def opened(path: Path, moment: Moment | None = None) -> Memory:
    """The memory in this file, as a process of its own would open it."""
    store: Any = SQLiteStore(path, durable=False)
    return Memory(store if moment is None else Interrupted(store, moment), embedder())


def at_every_moment(
    folder: Path,
    prepare: Callable[[Memory], object],
    action: Callable[[Memory], object],
    intrusion: Callable[[Memory], object],
) -> Iterator[Memory]:
    """Memories that were prepared and in which `action` was interrupted by `intrusion`, each time one call later."""
    for at in range(10_000):
        path = folder / f"{at}" / "memory.db"
        path.parent.mkdir(parents=True)
        with opened(path) as other:
            prepare(other)
            moment = Moment(at, lambda other=other: intrusion(other))  # type: ignore[misc]
            with opened(path, moment) as memory:
                action(memory)
            if not moment.came:
                return
            yield other
