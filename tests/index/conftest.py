from __future__ import annotations

from collections.abc import Callable

import pytest

from recollect.index.corpus import Corpus
from recollect.index.files import BlockFiles

#: Blocks of so few rows have every shape that large ones have: full ones, smaller ones, the rest.
TINY = 64


@pytest.fixture
def corpus() -> Callable[..., Corpus]:
    """Makes a corpus of tiny blocks, in memory or in a directory."""
    return lambda directory=None, rows=TINY: Corpus(BlockFiles(directory, "a store", 1, 0), rows)
