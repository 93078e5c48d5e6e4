"""Which state of which file is in the memory already, kept between runs so that only what has changed is read.

It is a convenience: lost, everything is looked at once more, and importing again changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.runtime.files import Place
from recollect.watching.looking import Stamp


class ImportedFiles:
    """The states of files as they were imported into one namespace of one store."""

    def __init__(self, folder: Path, store: Place, namespace: str) -> None:
        digest = hashlib.blake2b(f"{store}\0{namespace}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        self._path, self._store = folder / f"watched-{digest}.json", store
        self._files = self._read()
        self._new: dict[str, Stamp] = {}
        self._gone: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._files)

    def knows(self, file: Path, stamp: Stamp) -> bool:
        """Whether the file is in as it is now."""
        return self._files.get(str(file)) == stamp

    def take(self, files: Mapping[Path, Stamp]) -> None:
        """These are in."""
        taken = {str(file): stamp for file, stamp in files.items()}
        self._files |= taken
        self._new |= taken

    def drop(self, folder: Path, there: Iterable[Path]) -> None:
        """Forgets the files of a folder that are no longer there."""
        names, within = {str(file) for file in there}, f"{folder}{os.sep}"
        gone = {name for name in self._files if name not in names and name.startswith(within)}
        self._gone |= gone
        for name in gone:
            del self._files[name]

    def clear(self) -> None:
        """The memory holds nothing: nothing is known."""
        self._files.clear()
        self._new.clear()

    def save(self) -> None:
        """Writes what is new, beside what another run may have written meanwhile."""
        if not self._new and not self._gone:
            return
        files = {name: stamp for name, stamp in self._read().items() if name not in self._gone} | self._new
        rows = {name: [stamp.size, stamp.written, stamp.number] for name, stamp in files.items()}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self._path.with_suffix(".part")
            partial.touch(mode=0o600)
            partial.write_text(json.dumps({"store": self._identity(), "files": rows}), encoding="utf-8")
            partial.replace(self._path)
            self._new.clear()
            self._gone.clear()

    def _read(self) -> dict[str, Stamp]:
        """What was kept, if it was for the store as it is: one that was restored or made anew is another."""
        found: Any = None
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or found.get("store") != self._identity():
            return {}
        with suppress(TypeError, ValueError, AttributeError):
            return {str(name): Stamp(*map(int, row)) for name, row in found["files"].items()}
        return {}

    def _identity(self) -> list[int]:
        if not isinstance(self._store, Path):
            return []
        try:
            status = self._store.stat()
        except OSError:
            return [0]
        return [status.st_dev, status.st_ino]
