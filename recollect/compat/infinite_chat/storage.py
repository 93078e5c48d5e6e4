"""`InfiniteChatStorage`: `InfiniteChat`, awaited. storage.pyi has its types (`python -m tools.write_async_stub`)."""

from __future__ import annotations

from typing import Any

from recollect.compat.infinite_chat.chat import InfiniteChat
from recollect.memory.async_derive import AsyncContext, Derived


class InfiniteChatStorage(AsyncContext, Derived[InfiniteChat], of=InfiniteChat):
    """A conversation that is kept for ever [4]: every call of the specification, awaited.

    It takes what `InfiniteChat` takes, which is its `sync`.

    >>> import asyncio, tempfile
    >>> async def talk():
    ...     async with InfiniteChatStorage(path=tempfile.mkdtemp() + "/memory.db") as chat:
    ...         id = await chat.store_message("What's our API authentication strategy?", "user")
    ...         return (await chat.get_message_with_chunks(id))[0].content
    >>> asyncio.run(talk())
    "What's our API authentication strategy?"
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(InfiniteChat(*arguments, **named))
