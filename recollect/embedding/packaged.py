"""Where the models that come with the package lie."""

from __future__ import annotations

from pathlib import Path

from recollect.errors import ModelError

_DATA = Path(__file__).parent / "data"


def packaged(name: str) -> Path:
    """The path of a packaged model file. Raises ModelError when the installation has lost it."""
    path = _DATA / name
    if not path.is_file():
        raise ModelError(f"The packaged model file {name} is missing.", hint="Reinstall recollect.")
    return path


def reads_latin_alone(embedder_name: str) -> bool:
    """Whether it is a packaged model: these have read hardly anything but Latin letters."""
    return embedder_name.startswith(("static-", "minilm-"))
