"""From a class whose calls take their time to one whose calls are awaited. Nothing is written twice.

A call that was begun is done, even where the task that waits for it is cancelled: what it writes is then written.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")

_END = object()


class Derived(Generic[T]):
    """The async face of another class: `class AsyncMemory(Derived[Memory], of=Memory)`.

    `at_once` names the calls that take no time and are not awaited. A result of a class that has an async face of its
    own is handed out as that.
    """

    def __init_subclass__(cls, *, of: type, at_once: Iterable[str] = ()) -> None:
        super().__init_subclass__()
        _FACES[of] = cls
        direct = frozenset(at_once)
        for name, member in public_members(of):
            if name not in vars(cls):
                setattr(cls, name, _face(name, member, name in direct))

    def __init__(self, sync: T) -> None:
        self.sync = sync

    def __getattr__(self, name: str) -> Any:
        """What the other holds, rather than does."""
        if name.startswith("_") or name == "sync":
            raise AttributeError(name)
        return getattr(self.sync, name)

    def __repr__(self) -> str:
        return f"<async {self.sync!r}>"


class Opening(Generic[T]):
    """What `open` gives: awaited it is the thing itself, in an `async with` the thing, which is closed at the end."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None

    def __await__(self) -> Generator[Any, None, T]:
        return asyncio.to_thread(self._make).__await__()

    async def __aenter__(self) -> T:
        self._made = await self
        return self._made

    async def __aexit__(self, *_: object) -> None:
        await self._made.close()  # type: ignore[union-attr]


class AsyncContext:
    """Closed at the end of an `async with`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()  # type: ignore[attr-defined]


def public_members(of: type) -> Iterator[tuple[str, Any]]:
    """The names that a class offers with what they are, its own and those of its bases, each once, sorted."""
    for name in sorted(dir(of)):
        if not name.startswith("_"):
            yield name, inspect.getattr_static(of, name)


def yields(function: Callable[..., Any]) -> bool:
    """Whether a call gives one thing after the other: its annotation says so."""
    told = str(inspect.unwrap(function).__annotations__.get("return", ""))
    return told.startswith("Generator[")


def _face(name: str, member: Any, direct: bool) -> Any:
    if not inspect.isfunction(member):
        return property(lambda self: _faced(getattr(self.sync, name)), doc=member.__doc__)
    if yields(member):
        return _iterating(member)
    return _direct(member) if direct else _awaited(member)


def _direct(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(self: Derived[Any], /, *arguments: Any, **named: Any) -> Any:
        return _faced(function(self.sync, *arguments, **named))

    return called


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def called(self: Derived[Any], /, *arguments: Any, **named: Any) -> Any:
        return _faced(await asyncio.to_thread(function, self.sync, *arguments, **named))

    return called


def _iterating(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(self: Derived[Any], /, *arguments: Any, **named: Any) -> AsyncGenerator[Any, None]:
        return _items(lambda: function(self.sync, *arguments, **named))

    return called


async def _items(begin: Callable[[], Generator[Any, None, None]]) -> AsyncGenerator[Any, None]:
    """The items of a generator, made in a thread of its own: it is begun, gone on with and closed in the same one."""
    context, loop = contextvars.copy_context(), asyncio.get_running_loop()
    thread = ThreadPoolExecutor(1, thread_name_prefix="recollect-iterator")
    items: list[Generator[Any, None, None]] = []

    def following() -> Any:
        if not items:
            items.append(begin())
        return next(items[0], _END)

    def close() -> None:
        if items:
            items[0].close()

    try:
        while (item := await loop.run_in_executor(thread, context.run, following)) is not _END:
            yield item
    finally:
        thread.submit(context.run, close)
        thread.shutdown(wait=False)


def _faced(result: Any) -> Any:
    face = _FACES.get(type(result))
    return result if face is None else face(result)


#: The async face of a class.
_FACES: dict[type, type[Derived[Any]]] = {}
