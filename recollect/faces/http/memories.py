"""The memories of a server: one store, and a handle on each namespace that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from recollect.errors import NotAllowed
from recollect.memory import Memory
from recollect.record import is_within
from recollect.record import namespace as checked

_MOST = 256  # handles beside the first that are kept open


class Memories:
    """Thread-safe. `main` is the namespace of the server, for who names none."""

    def __init__(self, main: Memory) -> None:
        self.main = main
        self._lock = Lock()
        self._beside: dict[str, Memory] = {}

    def of(self, namespace: str | None = None) -> Memory:
        """The memory of a namespace, which need not hold anything yet. Raises InvalidInput."""
        if not namespace or namespace == self.main.namespace:
            return self.main
        name = checked(namespace)
        with self._lock:
            memory = self._beside.pop(name, None) or self.main.beside(name)
            self._beside[name] = memory  # the last is the one that was asked for last
            left = self._beside.pop(next(iter(self._beside))) if len(self._beside) > _MOST else None
        if left is not None:
            left.close()  # writes what is still to be written; who works with it goes on
        return memory

    def names(self) -> tuple[str, ...]:
        """The namespaces that hold anything, and the server's own."""
        there = [str(name) for name in self.main.upkeep.namespaces()]
        return tuple(dict.fromkeys([str(self.main.namespace), *there]))

    def within(self, namespaces: Sequence[str]) -> Memories:
        """The same, of which only these namespaces and those below them are reached; all, where none is named."""
        return _Within(self, namespaces) if namespaces else self

    def close(self) -> None:
        """Closes the store, once everything is written."""
        with self._lock:
            beside, self._beside = list(self._beside.values()), {}
        for memory in beside:
            memory.close()
        self.main.close()


class _Within(Memories):
    """What the token of some namespaces reaches. The first is that for who names none."""

    def __init__(self, all_: Memories, namespaces: Sequence[str]) -> None:
        self._all, self._namespaces = all_, namespaces
        self.main = all_.of(namespaces[0])

    def of(self, namespace: str | None = None) -> Memory:
        """The memory of a namespace. Raises InvalidInput, and NotAllowed for one that is not reached."""
        name = checked(namespace) if namespace else self.main.namespace
        if not is_within(name, self._namespaces):
            whose = ", ".join(self._namespaces)
            raise NotAllowed(f"This token is not one of the namespace {name}.", hint=f"It is of {whose}.")
        return self._all.of(name)

    def names(self) -> tuple[str, ...]:
        """The namespaces that are reached and hold anything, and those of the token."""
        there = (name for name in self._all.names() if is_within(name, self._namespaces))
        return tuple(dict.fromkeys([*self._namespaces, *there]))
