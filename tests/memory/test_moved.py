"""The façade is small, and the names that were calls of it lead to where they are now, with a warning."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path

import pytest

import recollect
from recollect import AsyncMemory, Memory
from recollect.memory.memory import MOVED


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_what_nearly_every_program_uses_is_all_that_memory_offers() -> None:
    assert len(public(Memory)) <= 40
    assert public(AsyncMemory) - public(Memory) == {"open"}
    assert not public(Memory) & set(MOVED)


@pytest.mark.parametrize("name", sorted(MOVED))
def test_a_name_that_moved_is_the_call_that_its_warning_names(tmp_path: Path, name: str) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        with pytest.warns(DeprecationWarning, match=re.escape(f"use memory.{MOVED[name]}")) as told:
            found = getattr(memory, name)
        assert told[0].filename == __file__
        assert found == memory.upkeep.embedder_name if name == "embedder_name" else inspect.ismethod(found)


def test_an_async_memory_has_them_too(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(tmp_path / "memory.db", background=False) as memory:
            stored = await memory.store_message("The spare key is with Ana.")
            with pytest.warns(DeprecationWarning, match="use memory.upkeep.stats"):
                assert (await memory.stats()).messages == 1  # type: ignore[attr-defined]
            with pytest.warns(DeprecationWarning, match=r"use memory.toolbox\(\).get_message_by_id"):
                assert await memory.get_message_by_id(stored.id) == stored  # type: ignore[attr-defined]

    asyncio.run(use())


def test_a_name_that_never_was_is_an_attribute_error(tmp_path: Path) -> None:
    with (
        recollect.open(tmp_path / "memory.db", background=False) as memory,
        pytest.raises(AttributeError, match="'Memory' object has no attribute 'serach'"),
    ):
        memory.serach  # type: ignore[attr-defined]
