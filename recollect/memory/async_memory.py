"""`AsyncMemory`. Its types stand in async_memory.pyi, which `python -m tools.write_async_stub` writes from `Memory`."""

from __future__ import annotations

from functools import partial
from typing import Any

from recollect.answer.tools import Toolbox
from recollect.memory.async_derive import AsyncContext, Derived, Opening
from recollect.memory.integration import Integration
from recollect.memory.knowledge import Knowledge
from recollect.memory.memory import MOVED, Memory, moved
from recollect.memory.opening import open as open_memory
from recollect.memory.upkeep import Upkeep


class AsyncMemory(AsyncContext, Derived[Memory], of=Memory, at_once=("beside", "toolbox")):
    """`Memory` for asyncio: the same calls, awaited. Open one with `AsyncMemory.open()`; `sync` is the `Memory` itself.

    Each call runs in a thread, `progress=` and other functions that are handed over are called there.

    >>> import asyncio, tempfile
    >>> async def remember():
    ...     async with AsyncMemory.open(tempfile.mkdtemp() + "/memory.db") as memory:
    ...         await memory.store_message("The spare key is with Ana.")
    ...         return (await memory.search("spare key"))[0].best.message.content
    >>> asyncio.run(remember())
    'The spare key is with Ana.'
    """

    @classmethod
    def open(cls, *arguments: Any, **named: Any) -> Opening[AsyncMemory]:
        """Opens a memory as `recollect.open` does: `await` it, or use it in an `async with`."""
        return Opening(partial(_opened, cls, *arguments, **named))

    def __getattr__(self, name: str) -> Any:
        """What the other holds, and calls of earlier versions, which warn."""
        return moved(self, name) if name in MOVED else super().__getattr__(name)


class AsyncKnowledge(Derived[Knowledge], of=Knowledge):
    """`Memory.knowledge` for asyncio."""


class AsyncUpkeep(Derived[Upkeep], of=Upkeep):
    """`Memory.upkeep` for asyncio."""


class AsyncIntegration(Derived[Integration], of=Integration):
    """`Memory.integration` for asyncio."""


class AsyncToolbox(Derived[Toolbox], of=Toolbox, at_once=("schemas",)):
    """`Toolbox` for asyncio: `await tools.call(name, arguments)`."""


def _opened(cls: type[AsyncMemory], *arguments: Any, **named: Any) -> AsyncMemory:
    return cls(open_memory(*arguments, **named))
