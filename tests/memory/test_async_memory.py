"""The async face is the sync one, awaited: every call, its types, its results, its errors; and the loop goes on."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

import recollect
from recollect.answer.tools import Toolbox
from recollect.compat.infinite_chat import InfiniteChat, InfiniteChatStorage
from recollect.memory import Memory
from recollect.memory.async_derive import Derived, public_members, yields
from recollect.memory.async_memory import AsyncMemory, AsyncToolbox
from tools.write_async_stub import stubs


def test_the_types_are_those_of_the_sync_faces() -> None:
    for place, text in stubs().items():
        assert place.read_text(encoding="utf-8") == text, "python -m tools.write_async_stub writes them anew"


@pytest.mark.parametrize(
    ("sync", "face"), [(Memory, AsyncMemory), (Toolbox, AsyncToolbox), (InfiniteChat, InfiniteChatStorage)]
)
def test_every_call_is_there_with_the_same_arguments(sync: type, face: type) -> None:
    for name, member in public_members(sync):
        other = inspect.getattr_static(face, name)
        if inspect.isfunction(member):
            assert inspect.signature(other) == inspect.signature(member)
            assert other.__doc__ == member.__doc__
            awaited = inspect.iscoroutinefunction(other)
            assert awaited == (name not in ("beside", "toolbox", "schemas") and not yields(member)), name
        else:
            assert isinstance(other, property)


def test_a_conversation_is_written_searched_and_read(tmp_path: Path) -> None:
    async def talk() -> None:
        async with AsyncMemory.open(tmp_path / "memory.db") as memory:
            asked = await memory.store_message("Where is the spare key?", title="House")
            stored = await asyncio.gather(
                *(memory.store_message(f"Hint {i}", conversation_id=asked.conversation_id) for i in range(20))
            )
            assert len({message.position for message in stored}) == 20
            found = await memory.search("spare key")
            assert found[0].best.message == asked
            answer = await memory.toolbox().call("vector_search", {"query": "spare key"})
            assert asked.id in answer.text
            assert memory.toolbox().schemas("openai")
            assert (memory.namespace, memory.location) == ("default", str(tmp_path / "memory.db"))
            with pytest.raises(recollect.NotFound, match="nowhere"):
                await memory.conversation("nowhere")
            assert await memory.upkeep.check() == []
        with pytest.raises(recollect.StoreError):
            await memory.upkeep.stats()

    asyncio.run(talk())


def test_it_is_awaited_or_used_in_an_async_with(tmp_path: Path) -> None:
    async def both() -> None:
        memory = await AsyncMemory.open(tmp_path / "memory.db", namespace="acme/rex")
        async with memory:
            assert memory.namespace == "acme/rex"
        face = AsyncMemory(recollect.open(tmp_path / "memory.db"))
        assert isinstance(face.sync, Memory)
        await face.close()

    asyncio.run(both())


def test_the_loop_goes_on_while_a_call_takes_its_time() -> None:
    class Slow:
        def __init__(self) -> None:
            self.gate = threading.Event()

        def wait(self) -> str:
            assert self.gate.wait(20)
            return threading.current_thread().name

    class AsyncSlow(Derived[Slow], of=Slow):
        """A call that waits for the loop."""

    async def waited() -> str:
        slow = Slow()
        task = asyncio.ensure_future(AsyncSlow(slow).wait())  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        slow.gate.set()
        return str(await task)

    assert asyncio.run(waited()) != threading.main_thread().name


class Counting:
    """An iterator that tells where it runs, and that it is closed there."""

    def __init__(self) -> None:
        self.threads: set[str] = set()
        self.closed = threading.Event()

    def numbers(self, most: int) -> Generator[int, None, None]:
        try:
            for number in range(most):
                self.threads.add(threading.current_thread().name)
                yield number
        finally:
            self.threads.add(threading.current_thread().name)
            self.closed.set()

    def broken(self) -> Generator[int, None, None]:
        yield 1
        raise recollect.NotFound("gone")


class AsyncCounting(Derived[Counting], of=Counting):
    """Its async face."""


def test_what_yields_is_an_async_iterator_that_runs_and_ends_in_one_thread() -> None:
    async def counted() -> None:
        counting = Counting()
        face = AsyncCounting(counting)
        assert [number async for number in face.numbers(5)] == [0, 1, 2, 3, 4]  # type: ignore[attr-defined]
        stopped = face.numbers(1_000_000)  # type: ignore[attr-defined]
        async for number in stopped:
            if number == 3:
                break
        await stopped.aclose()
        assert counting.closed.wait(20)
        with pytest.raises(recollect.NotFound):
            [number async for number in face.broken()]  # type: ignore[attr-defined]
        for threads in (counting.threads,):
            assert threading.main_thread().name not in threads

    asyncio.run(counted())


def test_an_iterator_that_is_cancelled_in_the_middle_is_closed_when_its_step_is_done() -> None:
    class Gated(Counting):
        gate = threading.Event()

        def numbers(self, most: int) -> Generator[int, None, None]:
            try:
                yield 0
                assert self.gate.wait(20)
                yield 1
            finally:
                self.closed.set()

    class AsyncGated(Derived[Gated], of=Gated):
        """Its async face."""

    async def cancelled() -> None:
        gated = Gated()

        async def read() -> None:
            async for _ in AsyncGated(gated).numbers(2):  # type: ignore[attr-defined]
                pass

        task = asyncio.ensure_future(read())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not gated.closed.is_set()
        gated.gate.set()
        assert await asyncio.to_thread(gated.closed.wait, 20)

    asyncio.run(cancelled())


def test_importing_recollect_does_not_load_it() -> None:
    from tests.test_import_time import loaded_by

    assert "recollect.memory.async_memory" not in loaded_by("import recollect")
    assert "recollect.memory.async_memory" in loaded_by("import recollect; recollect.AsyncMemory")
