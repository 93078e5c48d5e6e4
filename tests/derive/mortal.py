"""A store whose process ends at the n-th step that it takes: nothing that is asked of it after that happens."""

from __future__ import annotations

from typing import Any

from recollect.record import Namespace
from recollect.store import Space, Store

STEPS = ("write", "claim", "keep", "release", "renew")


class Killed(BaseException):
    """The process ends here."""


class Life:
    """How many steps are left. The last one is taken or not, but nobody hears of it either way."""

    def __init__(self, steps: int, *, last_is_taken: bool) -> None:
        self.steps, self.last_is_taken = steps, last_is_taken
        self.taken: list[str] = []
        self.kept: list[bytes] = []  # answers that reached the store

    @property
    def is_over(self) -> bool:
        return self.steps <= 0

    def take(self, name: str, step: Any, arguments: tuple[Any, ...]) -> Any:
        if self.is_over:
            raise Killed
        self.steps -= 1
        self.taken.append(name)
        done = None
        if not self.is_over or self.last_is_taken:
            done = step(*arguments)
            self.kept += [arguments[1]] if name == "keep" else []
        if self.is_over:
            raise Killed
        return done


class MortalSpace:
    """A space in such a process."""

    def __init__(self, space: Space, life: Life) -> None:
        self._space, self._life = space, life

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._space, name)
        return (lambda *arguments: self._life.take(name, found, arguments)) if name in STEPS else found


class MortalStore:
    """A store in such a process."""

    def __init__(self, store: Store, life: Life) -> None:
        self._store, self._life = store, life

    def space(self, namespace: Namespace) -> Any:
        return MortalSpace(self._store.space(namespace), self._life)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
