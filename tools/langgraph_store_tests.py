"""LangGraph's own tests of stores, where they lie, with our store in the place of its InMemoryStore.

python -m tools.langgraph_store_tests FOLDER [PYTEST ARGUMENTS...]

FOLDER is `libs/checkpoint` of LangGraph's repository, or its unpacked source distribution; langgraph-checkpoint,
pytest-mock and pytest-asyncio are needed. Four of the 117 tests of 4.3.2 cannot pass: they look at the embedder,
or rank nonsense words by the letters that they share.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import langgraph.store.memory
import pytest

import recollect
from recollect.frameworks.langgraph import RecollectStore


def main(folder: str, *arguments: str) -> int:
    """Runs them."""
    numbers = itertools.count()
    with TemporaryDirectory(prefix="recollect-") as memories:

        class Ours(RecollectStore):
            """Each in a memory of its own."""

            def __init__(self, *, index: Mapping[str, Any] | None = None) -> None:
                path = Path(memories) / f"{next(numbers)}.db"
                super().__init__(recollect.open(path, durable=False, background=False), index=index)

        langgraph.store.memory.InMemoryStore = Ours
        sys.path.insert(0, folder)
        sys.modules.pop("tests", None)
        options = ["-q", "-o", "asyncio_mode=auto", "-p", "no:cacheprovider", f"--rootdir={folder}"]
        return int(pytest.main([*options, *arguments, str(Path(folder) / "tests" / "test_store.py")]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
