"""One run of the command line: its settings, its output, and the memory, opened when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import NotFound
from recollect.faces.cli.output import Output
from recollect.settings import Places, Settings, load_settings, own_places

if TYPE_CHECKING:
    from recollect.faces.cli.state import State
    from recollect.memory import Memory


class Session:
    """What a command works with. `json` says that one JSON document is wanted instead of text."""

    def __init__(self, settings: Settings, places: Places, out: Output, *, json: bool) -> None:
        self.settings, self.places, self.out, self.json = settings, places, out, json
        self._opened: Memory | None = None

    def memory(self) -> Memory:
        """The memory, made where there is none: for commands that write."""
        if self._opened is None:
            import recollect

            s = self.settings
            self._opened = recollect.open(
                s.store,
                namespace=s.namespace,
                embedder=s.embedder,
                durable=s.durable,
                on_wait=lambda: self.out.note("Waiting: another process is writing. Ctrl-C to stop."),
            )
        return self._opened

    def existing_memory(self) -> Memory:
        """The memory, for commands that only read. Raises NotFound where there is none yet."""
        if not self.has_memory():
            raise NotFound(
                f"There is no memory {self._whose()}at {self.settings.store} yet.",
                hint="Begin one: recollect import PATH. Or look around first: recollect demo",
            )
        return self.memory()

    def has_memory(self) -> bool:
        """Whether there is a memory: its file, or on a server anything that was ever written to the namespace."""
        if isinstance(self.settings.store, Path):
            return self._opened is not None or self.settings.store.exists()
        memory = self.memory()
        return memory.stored_embedder() is not None or memory.namespace in memory.namespaces()

    def _whose(self) -> str:
        """Of which namespace, where others are there."""
        return f"of {self.settings.namespace} " if self._opened and self._opened.namespaces() else ""

    @cached_property
    def state(self) -> State:
        """What is remembered from run to run for this store and namespace."""
        from recollect.faces.cli.state import State

        return State.of(self.places.state, self.settings.store, self.settings.namespace)

    def close(self) -> None:
        """Closes the memory."""
        if self._opened is not None:
            self._opened.close()


@contextmanager
def open_session(flags: Mapping[str, Any]) -> Iterator[Session]:
    """A session with the settings in force under these flags (None: not given). Raises InvalidInput."""
    places = own_places()
    given = {name: value for name, value in flags.items() if name != "json"}
    settings = load_settings(given, where=places)
    session = Session(settings, places, Output.standard(settings.color), json=bool(flags.get("json")))
    try:
        yield session
    finally:
        session.close()
