"""One worker a store: who holds the lock of a small file is it. The lock ends with its process, however that ends."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from recollect.runtime.files import Place

try:
    import fcntl
except ImportError:  # Windows, where there is no background worker
    fcntl = None  # type: ignore[assignment]

#: Whether there can be background workers on this machine.
AVAILABLE = fcntl is not None


_TRIES, _MOMENT = 5, 0.02  # seconds


class Taken(Exception):
    """Another process has it."""


class Lock:
    """Holds the lock for as long as the `with` lasts; the file names the process. Raises Taken, OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def __enter__(self) -> Lock:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _take(handle)
        except BaseException:
            os.close(handle)
            raise
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _take(handle: int) -> None:
    """Who only looks whether somebody has it, has it for a moment himself: so it is tried some times."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_MOMENT)
    raise Taken


def ring(path: Path) -> None:
    """Tells who holds the lock that there is something new."""
    now = time.time_ns()
    with suppress(OSError):
        os.utime(path, ns=(now, now))


def rung(path: Path) -> int:
    """When it was rung last, as a number that changes."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def holder(path: Path) -> int | None:
    """The process that holds the lock, 0 where it has not said its number yet; None where nobody does."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.pread(handle, 32, 0).strip()
        return int(said) if said.isdigit() else 0
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def is_working(place: Place, state: Path) -> bool:
    """Whether a worker of this machine is at work on this store."""
    return holder(lock_file(place, state)) is not None


def lock_file(place: Place, state: Path) -> Path:
    """Beside the file of a store; for a server in the state folder of this machine."""
    if isinstance(place, Path):
        return place.with_name(place.name + "-worker")
    return state / f"worker-{hashlib.blake2b(str(place).encode(), digest_size=8).hexdigest()}"
