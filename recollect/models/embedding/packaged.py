"""The files of the models that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import ModelError

_DATA = Path(__file__).parent / "data"


def packaged(name: str) -> Path:
    """The path of a packaged model file. Raises ModelError when the installation has lost it."""
    path = _DATA / name
    if not path.is_file():
        raise ModelError(f"The packaged model file {name} is missing.", hint="Reinstall recollect.")
    return path


def packaged_array(name: str, *, mapped: bool = False) -> NDArray[Any]:
    """A packaged array; `mapped`, it is read where it is looked at. Raises ModelError."""
    path = packaged(name)
    try:
        return np.asarray(np.load(path, mmap_mode="r" if mapped else None))
    except (OSError, ValueError, EOFError) as error:
        raise damaged(path) from error


def damaged(path: Path) -> ModelError:
    """What is to be raised for a packaged file that cannot be read."""
    return ModelError(f"The packaged model file {path.name} is damaged.", hint="Reinstall recollect.")


def reads_latin_alone(embedder_name: str) -> bool:
    """Whether it is a packaged model: these have read hardly anything but Latin letters."""
    return embedder_name.startswith(("static-", "minilm-"))
