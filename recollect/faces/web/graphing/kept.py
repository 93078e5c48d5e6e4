"""The places that names had, so that a picture looks the same tomorrow. Beside the memory, as ids and numbers alone.

One file a memory and namespace. It is a convenience: damaged or gone, names are placed anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from recollect.errors import RecollectError
from recollect.faces.web.graphing.layout import Point
from recollect.runtime.files import whole_file

_MOST = 300  # pictures; the one that was seen least recently goes first
_LOCK = threading.Lock()


class SavedPositions:
    """Reads and writes the file."""

    def __init__(self, folder: Path, memory: str, namespace: str) -> None:
        digest = hashlib.sha256(f"{memory}\0{namespace}".encode()).hexdigest()[:24]
        self._path = folder / f"graph-{digest}.json"

    def of(self, center: str) -> dict[str, Point]:
        """The places around a name."""
        found = self._read().get(center, {})
        return {name: (float(x), float(y)) for name, (x, y) in found.items()}

    def keep(self, center: str, places: Mapping[str, Point]) -> None:
        """Keeps places, beside those that are kept. What cannot be written is not kept."""
        with _LOCK:
            every = self._read()
            before = every.pop(center, {})
            after = {**before, **{name: [x, y] for name, (x, y) in places.items()}}
            if after == before:
                return
            every[center] = after
            for old in list(every)[: max(0, len(every) - _MOST)]:
                del every[old]
            with suppress(RecollectError, OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with whole_file(self._path, overwrite=True) as stream:
                    stream.write(json.dumps(every, separators=(",", ":")).encode())

    def _read(self) -> dict[str, dict[str, list[float]]]:
        try:
            read = json.loads(self._path.read_bytes())
            return {
                str(center): {str(i): [float(x), float(y)] for i, (x, y) in places.items()}
                for center, places in read.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
