"""Work in stages that is waited for only so long: what a stage yields is used even where the next never ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class TooLong(Exception):
    """A stage was not done in time."""


class Staged(Generic[T]):
    """A generator that runs in a thread of its own; each thing that it yields is the end of a stage.

    A thread cannot be stopped. One that is not waited for any more ends by itself, at the end of the stage that it is
    in, and nobody gets what it does; it does not keep the program from ending.
    """

    def __init__(self, work: Callable[[], Generator[T, None, None]], name: str) -> None:
        self._done: SimpleQueue[tuple[bool, T | BaseException | None]] = SimpleQueue()
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)

    def __enter__(self) -> Staged[T]:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._given_up.set()

    def next(self, seconds: float | None = None) -> T:
        """The end of the next stage, at most so many seconds from now. Raises TooLong, and what the work raises."""
        try:
            failed, found = self._done.get(timeout=seconds)
        except Empty:
            raise TooLong from None
        if failed:
            assert isinstance(found, BaseException)
            raise found
        return found  # type: ignore[return-value]

    def _run(self, work: Callable[[], Generator[T, None, None]]) -> None:
        stages: Iterator[T] = iter(())
        try:
            stages = work()
            for found in stages:
                self._done.put((False, found))
                if self._given_up.is_set():
                    break
        except BaseException as problem:
            self._done.put((True, problem))
        finally:
            close = getattr(stages, "close", None)
            if close is not None:
                close()
